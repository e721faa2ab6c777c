import { createServiceCalls, type Refusals } from '../installation/services.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { retrying, type StepOutcome, stalled } from '../kube-runtime/steps.ts';

/** Conditions for the errors of services: what is wrong and what to do about it. */
const REFUSALS: Refusals = {
  OwnedByAnother: () =>
    stalled(
      'OwnedByAnother',
      'Another resource manages this tenant: delete that one with deletionPolicy Retain first, or remove tenantId',
      { conditions: [notProvisioned('OwnedByAnother', 'Another resource manages this tenant')] },
    ),
  AdoptionNotAllowed: () =>
    stalled('AdoptionNotAllowed', ADOPTION, { conditions: [notProvisioned('AdoptionNotAllowed', ADOPTION)] }),
  HostnameConflict: () =>
    stalled('HostnameConflict', HOSTNAME_TAKEN, {
      conditions: [{ type: 'Routed', status: 'False', reason: 'HostnameConflict', message: HOSTNAME_TAKEN }],
    }),
  OwnerUnverified: () =>
    stalled('OwnerUnverified', 'The address of owner.email is not verified: verify it, or name another owner'),
  InvalidRequestError: ({ message }) => stalled('InvalidSpec', message),
  TenantNotFoundError: () =>
    retrying('TenantMissing', 'The tenant does not exist any more: it is created again with the next attempt'),
  ConflictError: ({ message }) => retrying('Conflict', message),
};

const ADOPTION =
  'No Tenant of this namespace and name had tenantId: create it in a trusted namespace, or ask the administrator of the operator to trust this one';

const HOSTNAME_TAKEN =
  'routing.hostname belongs to another tenant: choose another one, or remove it from that tenant first';

/** Outcome while services do not answer or cannot reach their stores. */
export function unreachable(services: readonly string[]): StepOutcome<Record<string, unknown>> {
  const names = services.join(', ');
  const message = `No answer from ${names}: check that the Deployments run and reach their stores`;
  return retrying('StoreUnreachable', message, { conditions: [notProvisioned('StoreUnreachable', message)] });
}

export function notProvisioned(reason: string, message: string): ConditionDraft {
  return { type: 'StoresProvisioned', status: 'False', reason, message };
}

export const { askService, translateErrors } = createServiceCalls(REFUSALS, unreachable);

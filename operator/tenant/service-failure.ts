import { type EngramError, isEngramError } from '../../services/common/kernel/errors.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { retrying, StepFailure, type StepOutcome, stalled } from '../kube-runtime/steps.ts';

type Outcome = StepOutcome<Record<string, unknown>>;

/** What was refused may be free by then: a host name, a resource that stood for the same, a budget. */
const REFUSED_AGAIN_MS = 15_000;

/** What a person reads and does when a service refuses, by the name of its error. */
type Refusals = Readonly<Record<string, (error: EngramError) => Outcome>>;

const REFUSALS: Refusals = {
  OwnedByAnother: () =>
    stalled(
      'OwnedByAnother',
      'Another resource manages this tenant: delete that one with deletionPolicy Retain first, or leave tenantId out',
      { conditions: [notProvisioned('OwnedByAnother', 'Another resource manages this tenant')] },
    ),
  AdoptionNotAllowed: () =>
    stalled('AdoptionNotAllowed', ADOPTION, { conditions: [notProvisioned('AdoptionNotAllowed', ADOPTION)] }),
  HostnameConflict: () =>
    stalled('HostnameConflict', HOSTNAME_TAKEN, {
      conditions: [{ type: 'Routed', status: 'False', reason: 'HostnameConflict', message: HOSTNAME_TAKEN }],
    }),
  OwnerUnverified: () =>
    stalled(
      'OwnerUnverified',
      'The account of owner.email never proved that address: have it verified, or name another owner',
    ),
  InvalidRequestError: ({ message }) => stalled('InvalidSpec', message),
  TenantNotFoundError: () =>
    retrying('TenantMissing', 'The tenant is not there any more: it is made anew with the next attempt'),
  ConflictError: ({ message }) => retrying('Conflict', message),
};

const ADOPTION =
  'No Tenant of this namespace and name kept tenantId: make it in a trusted namespace, or ask who runs the operator to trust this one';

const HOSTNAME_TAKEN =
  'routing.hostname belongs to another tenant: choose another one, or take it from that tenant first';

/**
 * Runs calls of services and turns what they refuse into the outcome of a step. A service that is away is `StoreUnreachable`.
 * Other errors are thrown on. `ownRefusals` are those of this call, in place of the common ones.
 */
export async function askServices<Answer>(
  service: string,
  call: () => Promise<Answer>,
  ownRefusals: Refusals = {},
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!isEngramError(error)) throw error;
    const refusal = { ...REFUSALS, ...ownRefusals }[error.wireName]?.(error);
    if (refusal !== undefined) throw new StepFailure({ requeueAfterMs: REFUSED_AGAIN_MS, ...refusal }, error);
    if (!error.retryable && error.status < 500)
      throw new StepFailure(stalled('Refused', error.message, { requeueAfterMs: REFUSED_AGAIN_MS }), error);
    throw new StepFailure(unreachable([service]), error);
  }
}

/** Services that cannot do their work now. */
export function unreachable(services: readonly string[]): Outcome {
  const names = services.join(', ');
  const message = `No answer from ${names}: see that the Deployments run and reach their stores`;
  return retrying('StoreUnreachable', message, { conditions: [notProvisioned('StoreUnreachable', message)] });
}

export function notProvisioned(reason: string, message: string): ConditionDraft {
  return { type: 'StoresProvisioned', status: 'False', reason, message };
}

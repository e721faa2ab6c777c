import type { AnswerOf, RequestOf } from '../../../services/common/platform/messaging/messages.ts';
import { WAKE_AT } from '../../api/names.ts';
import { refusalOf } from '../../installation/services.ts';
import { keyOf } from '../../kube-runtime/kube-object.ts';
import { done, stalled } from '../../kube-runtime/steps.ts';
import { declaredState, effectiveState, isDedicated, isUnused } from '../effective-state.ts';
import {
  isNewGeneration,
  isWakeRequested,
  type TenantContext,
  type TenantDependencies,
  type TenantStep,
} from '../model.ts';
import { ownerPassword } from '../owner-password.ts';
import { askService, notProvisioned, unreachable } from '../service-failure.ts';

/** Delay before unused services are stopped, and interval at which auth is asked whether woken ones are used. */
const SLEEPY_MS = 5000;

/** Creates or adopts the tenant with its owner, host name and state, and checks the health of the services. */
export function ensureIdentity(deps: TenantDependencies): TenantStep {
  return {
    name: 'ensure-identity',
    async run(context) {
      const { object, status, now } = context;
      const password = await ownerPassword(deps, context);
      const answer = await ensureTenant(deps, context, password.text);
      const isIdle = isUnused(status, answer.isAsleep, now);
      emitIdentityEvent(context, answer);
      emitHibernationEvent(context, isIdle);
      const others = (status.secrets ?? []).filter(({ purpose }) => purpose !== 'OwnerPassword');
      const identity = {
        state: effectiveState(object, status, isIdle),
        // Kept until the tenant is used, or is unused for too long.
        waking: answer.isAsleep && !isIdle ? status.waking : undefined,
        lastHandledWakeAt: object.metadata.annotations?.[WAKE_AT],
        tenantId: answer.tenantId,
        ownerId: answer.ownerId,
        secrets: password.secret === undefined ? others : [password.secret, ...others],
      };
      const unhealthy = await deps.services.unhealthy();
      if (unhealthy.length > 0)
        return { ...unreachable(unhealthy), state: 'retrying', status: identity, continues: true };
      const message = `All services answer, the tenant is in ${deps.options.stores.length} stores`;
      return done({
        status: identity,
        conditions: [{ type: 'StoresProvisioned', status: 'True', reason: 'Provisioned', message }],
        ...(isDedicated(object) && answer.isAsleep ? { requeueAfterMs: SLEEPY_MS } : {}),
      });
    },
  };
}

/**
 * Sends the password only when auth needs it: an existing account keeps its own. Auth refuses the first request when there is
 * no account (any more), for example because it did not answer when the spec got another owner.
 */
async function ensureTenant(
  deps: TenantDependencies,
  context: TenantContext,
  password: string | undefined,
): Promise<AnswerOf<'auth.EnsureTenant'>> {
  const { object, status, signal } = context;
  const ask = (text: string | undefined) =>
    askService(deps.services, 'auth.EnsureTenant', {
      request: identityOf(deps, context, text),
      signal,
      ownRefusals: {
        TenantNotFoundError: () => {
          const message = `There is no tenant ${object.spec.tenantId}: create this resource again with the right tenantId`;
          return stalled('TenantNotFound', message, { conditions: [notProvisioned('TenantNotFound', message)] });
        },
      },
    });
  if (status.ownerId === undefined || isNewGeneration(context) || password === undefined) return ask(password);
  try {
    return await ask(undefined);
  } catch (error) {
    if (refusalOf(error) !== 'InvalidRequestError') throw error;
    return ask(password);
  }
}

/** Request to auth. The password is used for a new account only. */
function identityOf(
  { options }: TenantDependencies,
  context: TenantContext,
  password: string | undefined,
): RequestOf<'auth.EnsureTenant'> {
  const { object, status } = context;
  const { metadata, spec } = object;
  const { hostname } = spec.routing ?? {};
  return {
    crUid: metadata.uid ?? '',
    displayName: spec.displayName ?? metadata.name,
    ...(spec.tenantId === undefined ? {} : { tenantId: spec.tenantId }),
    resource: keyOf(metadata),
    ...(options.trustedNamespaces.includes(metadata.namespace ?? '') ? { adoptsAny: true } : {}),
    ownerEmail: spec.owner.email,
    ...(password === undefined ? {} : { ownerPassword: password }),
    hostNames: hostname === undefined ? [] : [hostname],
    ...declaredState(object, status),
    ...(isWakeRequested(context) || status.waking?.by === 'Declaration' ? { wake: true } : {}),
  };
}

function emitIdentityEvent(
  context: TenantContext,
  { created, corrected, tenantId, isAsleep }: AnswerOf<'auth.EnsureTenant'>,
): void {
  const { event, status } = context;
  if (created) {
    event({ type: 'Normal', reason: 'TenantCreated', message: `Tenant ${tenantId} was created` });
    return;
  }
  if (corrected.includes('adopted')) {
    const message = `Tenant ${tenantId} was adopted with its data`;
    event({ type: 'Normal', reason: 'TenantAdopted', message });
    return;
  }
  // A state that the operator itself changed is no drift.
  const isOurs = status.state !== undefined && status.state !== effectiveState(context.object, status, isAsleep);
  const drifted = corrected.filter((field) => field !== 'state' || !isOurs).toSorted();
  if (drifted.length === 0 || isNewGeneration(context)) return;
  const message = `Was changed elsewhere and corrected: ${drifted.join(', ')}`;
  event({ type: 'Warning', reason: 'DriftCorrected', message });
}

/** Records that the tenant was hibernated because it is unused, or was woken. */
function emitHibernationEvent({ object, status, event }: TenantContext, isAsleep: boolean): void {
  const { state, hibernation } = object.spec;
  if (state !== 'Active' || hibernation === undefined || status.state === undefined) return;
  if (isAsleep && status.state === 'Active') {
    const message = `The tenant was unused for ${hibernation.afterIdle}, so it was hibernated`;
    event({ type: 'Normal', reason: 'Hibernated', message });
  }
  if (!isAsleep && status.state === 'Hibernated') {
    event({ type: 'Normal', reason: 'Woken', message: 'The tenant was woken and serves' });
  }
}

import type { DeclaredTenantState, RequestOf } from '../../services/common/platform/messaging/messages.ts';
import type { Tenant, TenantStatus } from '../api/tenant.ts';
import { durationMs } from '../api/values.ts';
import { type ConditionState, findCondition } from '../kube-runtime/conditions.ts';

/** Whether the tenant has services and stores of its own. */
export function isDedicated({ spec }: Tenant): boolean {
  return spec.isolation === 'Dedicated';
}

/**
 * Whether the services of a Dedicated tenant are scaled to zero: by declaration, or because auth reported that the tenant is
 * unused. They run while the resource is being deleted.
 */
export function isHibernated(
  { metadata, spec }: Tenant,
  status: Pick<Partial<TenantStatus>, 'state'> | undefined,
): boolean {
  if (spec.isolation !== 'Dedicated' || metadata.deletionTimestamp !== undefined) return false;
  const mayIdle = spec.state === 'Active' && spec.hibernation !== undefined;
  return spec.state === 'Hibernated' || (mayIdle && status?.state === 'Hibernated');
}

/** State in which the tenant is: the declared one, unless it is fenced or unused. */
type EffectiveState = NonNullable<TenantStatus['state']>;

type Seen = Readonly<Partial<Pick<TenantStatus, 'conditions' | 'waking'>>>;

/** A Dedicated tenant that a request woke stays up this long without a valid credential, which only auth can check. */
const WAKING_MS = 300_000;

/** Whether the tenant is unused, as auth reports it. A woken tenant has time to be used, from when its services answer. */
export function isUnused({ waking, conditions }: Seen, isAsleep: boolean, now: Date): boolean {
  if (!isAsleep || waking === undefined) return isAsleep;
  const workloads = findCondition(conditions, 'WorkloadsReady');
  if (workloads?.status !== 'True') return false;
  const since = Math.max(Date.parse(waking.since), Date.parse(workloads.lastTransitionTime));
  return now.getTime() - since >= WAKING_MS;
}

/** Decides `status.state`, by which everything else starts, stops and routes. */
export function effectiveState({ spec }: Tenant, status: Seen, isAsleep: boolean): EffectiveState {
  if (isFenced(spec, status)) return 'Fenced';
  return spec.state === 'Active' && isAsleep ? 'Hibernated' : spec.state;
}

/** State that auth is given. A fenced tenant is hibernated to it. */
export function declaredState(
  { spec }: Tenant,
  status: Seen,
): Pick<RequestOf<'auth.EnsureTenant'>, 'state' | 'hibernation'> {
  const state: DeclaredTenantState = isFenced(spec, status) ? 'Hibernated' : spec.state;
  const { hibernation } = spec;
  if (state !== 'Active' || hibernation === undefined) return { state };
  const wakesOnRequest = hibernation.wake === 'OnRequest';
  return { state, hibernation: { afterIdleMs: durationMs(hibernation.afterIdle), wakesOnRequest } };
}

function isFenced({ state, isolationCheck }: Tenant['spec'], { conditions }: Seen): boolean {
  const isLeaking = findCondition(conditions, 'IsolationVerified')?.status === 'False';
  return state === 'Active' && isLeaking && isolationCheck?.onLeak === 'Fence';
}

const STATES: Readonly<Record<Tenant['spec']['state'], ConditionState>> = {
  Active: { status: 'True', reason: 'Available', message: 'The tenant serves' },
  Hibernated: {
    status: 'False',
    reason: 'Hibernated',
    message: 'Requests are answered with 503: set state to Active to wake the tenant',
  },
  Disabled: { status: 'False', reason: 'Disabled', message: 'Requests are refused: set state to Active to enable it' },
};

/** Ready condition when all steps are done. */
export function readyOf({ spec }: Tenant, { state }: Partial<TenantStatus>): ConditionState {
  const { hibernation } = spec;
  if (spec.state !== 'Active' || state !== 'Hibernated' || hibernation === undefined) return STATES[spec.state];
  const how =
    hibernation.wake === 'OnRequest'
      ? 'the next request wakes it'
      : 'requests are answered with 503 until the annotation engram.dev/wake-at has a new value';
  return { status: 'False', reason: 'Hibernated', message: `Unused for ${hibernation.afterIdle}: ${how}` };
}

import type { DeclaredTenantState } from '../../services/common/messaging/methods/auth-managed.ts';
import type { Tenant, TenantStatus } from '../api/tenant.ts';
import { findCondition } from '../runtime/conditions.ts';

/** What the tenant does: what its spec asks for, unless something is in the way. */
export type EffectiveState = Tenant['spec']['state'] | 'Fenced';

/** The one place that decides it; everything that starts, stops or routes goes by it. */
export function effectiveState(
  { spec }: Pick<Tenant, 'spec'>,
  status: Readonly<Partial<Pick<TenantStatus, 'conditions'>>>,
): EffectiveState {
  if (spec.state === 'Active' && spec.isolationCheck?.onLeak === 'Fence' && isLeaking(status)) return 'Fenced';
  return spec.state;
}

/** What the services are told: to them a fence is a sleep that somebody else ends. */
export function declaredState(state: EffectiveState): DeclaredTenantState {
  return state === 'Fenced' ? 'Hibernated' : state;
}

function isLeaking({ conditions }: Readonly<Partial<Pick<TenantStatus, 'conditions'>>>): boolean {
  return findCondition(conditions, 'IsolationVerified')?.status === 'False';
}

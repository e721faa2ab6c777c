import type { Trace } from '../../common/domain/span.ts';
import { isTenantKey, type Principal } from '../../common/kernel/principal.ts';
import { NO_TRACES } from '../../common/ports/tracer.ts';
import type { ActivityDependencies } from '../dependencies.ts';

type Dependencies = ActivityDependencies;

/** Traces of the caller and its agents in their tenant; superusers see everybody's. Oldest first. */
export async function visibleTraces(
  { traces = NO_TRACES, users }: Dependencies,
  principal: Principal,
): Promise<readonly Trace[]> {
  const { id, tenant, isSuperuser } = principal;
  if (isSuperuser && !isTenantKey(principal)) return traces.list(() => true);
  const accounts = new Set([id, ...(await users.childAgents(id))]);
  return traces.list((owner) => owner !== null && owner.tenant === tenant && accounts.has(owner.user));
}

import type { TenantId } from '../../common/kernel/brand.ts';
import { type AnyScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { ignoreConflict, ignoreWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Debounce } from '../../common/records/improve/improve-requests.ts';
import type { PlacedSession } from '../../common/records/sessions/sessions.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** Sessions that one pass reads, so that others need not wait. */
const SESSIONS_PER_PASS = 200;

/**
 * Entries are removed a time after the last use of their session, which its tenant's resource or else the server sets;
 * the row with its counts stays. Those of a session that is bound to a dataset wait until improve has brought them into
 * its memory.
 */
export function createSessionExpiry(dependencies: IngestDependencies) {
  const { sessions, clock, settings } = dependencies;
  /** Cursors of the tenants, or of all (''). */
  const cursors = new Map<TenantId | '', string | null>();
  const passOver = async (
    scope: AnyScope,
    ttlMs: number,
    { isTheirs, signal }: { isTheirs(placed: PlacedSession): boolean; readonly signal: AbortSignal | undefined },
  ) => {
    if (signal?.aborted) return 0;
    const place = 'tenant' in scope ? scope.tenant : '';
    const before = new Date(clock.now().getTime() - ttlMs).toISOString();
    const after = cursors.get(place) ?? null;
    const page = await sessions.unusedSince(scope, { before, after, limit: SESSIONS_PER_PASS });
    let changed = 0;
    for (const placed of page.sessions) {
      if (signal?.aborted) return changed;
      if (isTheirs(placed) && (await expire(dependencies, placed))) changed += 1;
    }
    cursors.set(place, page.next);
    return changed;
  };
  return {
    /**
     * Returns the number of sessions that lost entries. The next pass continues, and starts over at the end. Aborted, it
     * ends early.
     */
    async pass(signal?: AbortSignal) {
      const declared = await declaredTimes(dependencies);
      let changed = 0;
      for (const [tenant, ttlMs] of declared)
        changed += await passOver({ tenant }, ttlMs, { isTheirs: () => true, signal });
      const { ttlMs } = settings.sessions;
      const isTheirs = ({ scope }: PlacedSession) => !declared.has(scope.tenant);
      if (ttlMs > 0) changed += await passOver(SYSTEM_SCOPE, ttlMs, { isTheirs, signal });
      return changed;
    },
  };
}

/** Tenants whose resources set the retention of sessions. */
async function declaredTimes({ retentions }: IngestDependencies): Promise<ReadonlyMap<TenantId, number>> {
  const times = new Map<TenantId, number>();
  for await (const { owner, retention } of retentions.ofTenants.all()) {
    if (retention.sessionsMs !== null) times.set(owner.tenant, retention.sessionsMs);
  }
  return times;
}

async function expire(dependencies: IngestDependencies, { scope, session }: PlacedSession): Promise<boolean> {
  const { store, sessions, sessionEntries, sessionContexts } = dependencies;
  const oldest = await dispensable(dependencies, { scope, session });
  const isEmptied = oldest.qas === session.qaCount && oldest.traces === session.traceCount;
  if (!isEmptied) await requestImprove(dependencies, { scope, session });
  if (oldest.qas <= session.expired.qas && oldest.traces <= session.expired.traces) return false;
  // First: when the process dies here, the next one finds the session as it was.
  await sessionEntries.removeEntries(scope, session, oldest);
  const emptied = isEmptied ? [sessionContexts.removeOfSessionWrite(session)] : [];
  // Where it is used again, a later pass reads it.
  await ignoreConflict(store.commit(scope, [sessions.expireWrite(session, oldest), ...emptied]));
  return true;
}

/** Returns the number of oldest entries that are not needed any more. */
async function dispensable({ datasets, watermarks, settings }: IngestDependencies, { scope, session }: PlacedSession) {
  const all = { qas: session.qaCount, traces: session.traceCount };
  if (session.dataset === null || (await datasets.get(scope, session.dataset)) === null) return all;
  const [qas, traces] = await Promise.all([
    watermarks.get(scope, session, 'session_qa'),
    watermarks.get(scope, session, 'agent_traces'),
  ]);
  return {
    qas: Math.min(qas.done, all.qas),
    traces: settings.sessions.tracesAreBridged ? Math.min(traces.done, all.traces) : all.traces,
  };
}

/** Requests one improve: an agent that died never did, and its entries must not stay for ever. */
async function requestImprove(
  { store, improveRequests, clock, settings }: IngestDependencies,
  { scope, session: { user, session, dataset } }: PlacedSession,
): Promise<void> {
  if (settings.sessions.autoImprove === null || dataset === null) return;
  // Automatic: no request waits for it.
  const request = { user, session, dataset, keyId: null };
  if (await improveRequests.has(scope, request)) return;
  const writes = await improveRequests.requestWrites(scope, request, { at: clock.now(), debounce: AT_ONCE });
  // Another process may have just requested it.
  await ignoreWriteConflict(store.commit(scope, writes));
}

const AT_ONCE: Debounce = { entries: 1, ms: 0 };

import type { EntryCounts } from '../../common/domain/session.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { type AnyScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Debounce } from '../../common/records/improve/improve-requests.ts';
import type { PlacedSession } from '../../common/records/sessions/sessions.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';

type Dependencies = Pick<
  IngestDependencies,
  | 'sessions'
  | 'sessionEntries'
  | 'sessionContexts'
  | 'retentions'
  | 'watermarks'
  | 'improveRequests'
  | 'datasets'
  | 'store'
  | 'clock'
  | 'settings'
>;

/** Sessions that one pass looks at: it must not keep others waiting. */
const SESSIONS_PER_PASS = 200;

/** Looks at some of what nobody uses any more. */
export interface SessionExpiry {
  /** How many sessions lost entries. The next pass goes on where this one ended, and begins anew at the end. Aborted, it ends early. */
  pass(signal?: AbortSignal): Promise<number>;
}

/**
 * Entries go so long after the last use of their session, as its tenant's resource declares or else the server; the row with
 * its counts stays. Those of a session that is bound to a dataset wait until improve has brought them into its memory, so
 * that nothing is lost that was meant to be kept.
 */
export function createSessionExpiry(dependencies: Dependencies): SessionExpiry {
  const { sessions, clock, settings } = dependencies;
  /** Where the pages of a tenant, or of all ('') go on. */
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
    async pass(signal) {
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

/** Tenants whose resources say how long sessions are kept. */
async function declaredTimes({ retentions }: Dependencies): Promise<ReadonlyMap<TenantId, number>> {
  const times = new Map<TenantId, number>();
  for await (const { owner, retention } of retentions.ofTenants.all()) {
    if (retention.sessionsMs !== null) times.set(owner.tenant, retention.sessionsMs);
  }
  return times;
}

async function expire(dependencies: Dependencies, { scope, session }: PlacedSession): Promise<boolean> {
  const { store, sessions, sessionEntries, sessionContexts } = dependencies;
  const oldest = await dispensable(dependencies, { scope, session });
  const isEmptied = oldest.qas === session.qaCount && oldest.traces === session.traceCount;
  if (!isEmptied) await requestImprove(dependencies, { scope, session });
  if (oldest.qas <= session.expired.qas && oldest.traces <= session.expired.traces) return false;
  // First: a process that dies here is followed by one that finds the session as it was.
  await sessionEntries.removeEntries(scope, session, oldest);
  try {
    await store.commit(scope, [
      sessions.expireWrite(session, oldest),
      ...(isEmptied ? [sessionContexts.removeOfSessionWrite(session)] : []),
    ]);
  } catch (error) {
    // Somebody uses it again: it is looked at when that is over.
    if (!(error instanceof VersionConflictError)) throw error;
  }
  return true;
}

/** How many of the oldest entries nobody needs. */
async function dispensable(
  { datasets, watermarks, settings }: Dependencies,
  { scope, session }: PlacedSession,
): Promise<EntryCounts> {
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

/** Once: an agent that died never asked for it, and its entries must not stay for ever. */
async function requestImprove(
  { store, improveRequests, clock, settings }: Dependencies,
  { scope, session: { user, session, dataset } }: PlacedSession,
): Promise<void> {
  if (settings.sessions.autoImprove === null || dataset === null) return;
  // Of its own accord: it is nobody's request any more.
  const request = { user, session, dataset, keyId: null };
  if (await improveRequests.has(scope, request)) return;
  try {
    await store.commit(
      scope,
      await improveRequests.requestWrites(scope, request, { at: clock.now(), debounce: AT_ONCE }),
    );
  } catch (error) {
    // Another process has just requested it.
    if (!isWriteConflict(error)) throw error;
  }
}

const AT_ONCE: Debounce = { entries: 1, ms: 0 };

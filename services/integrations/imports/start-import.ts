import { parseCron } from '../../common/domain/cron.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { isQueuedAlready } from '../../common/platform/jobs/job-failure.ts';
import { type NewJob, UNLIMITED_ATTEMPTS } from '../../common/ports/work-queue.ts';
import type { ConnectionChange, SourceConnection } from '../../common/records/integrations/connections.ts';
import { VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { Connector } from '../providers/connector.ts';

export const IMPORT_JOB = 'source_import';
export const ERASE_SOURCE_JOB = 'source_erase';
export const SOURCE_ACCESS_JOB = 'source_access';

/** One import of a connection at a time. The worker counts its failures itself: the source may ask to wait any number of times. */
export function importJob({ id }: Pick<SourceConnection, 'id'>): NewJob {
  return {
    kind: IMPORT_JOB,
    payload: { connectionId: id },
    maxAttempts: UNLIMITED_ATTEMPTS,
    idempotencyKey: `source:${id}`,
    orderingKey: `source:${id}`,
  };
}

/** Erases the items of a connection, after an import that is under way. */
export function eraseJob({ id }: Pick<SourceConnection, 'id'>): NewJob {
  return { kind: ERASE_SOURCE_JOB, payload: { connectionId: id }, orderingKey: `source:${id}` };
}

/**
 * Has it asked at the source who sees what, without an import. One that is queued is enough for any number of changes; one that is
 * under way may have read already what has changed, so another one follows it.
 */
export async function startAccessCheck(
  { store, workQueue, logger }: Pick<SourceDependencies, 'store' | 'workQueue' | 'logger'>,
  { id, tenant }: Pick<SourceConnection, 'id' | 'tenant'>,
  writes: readonly Write[] = [],
): Promise<void> {
  for (const turn of ['one', 'next', null]) {
    const idempotencyKey = `access:${id}:${turn}`;
    const job = { kind: SOURCE_ACCESS_JOB, payload: { connectionId: id }, orderingKey: `source:${id}`, idempotencyKey };
    const queued = turn === null ? [] : workQueue.enqueueWrites({ tenant }, job).writes;
    try {
      await store.commit({ tenant }, [...writes, ...queued]);
      break;
    } catch (error) {
      if (!isQueuedAlready(error)) throw error;
    }
  }
  await workQueue.wake(SOURCE_ACCESS_JOB).catch((error: unknown) => logger.warn('import.wake.failed', { error }));
}

/** When the import starts that nothing asks for: as declared, else as often as the connector says. `isOk`: of the last one. */
export function nextImportAt(
  { declared }: Pick<SourceConnection, 'declared'>,
  { capabilities }: Pick<Connector, 'capabilities'>,
  now: Date,
  { isOk } = { isOk: true },
): string | null {
  const cron = declared?.cron ? parseCron(declared.cron) : { fault: 'there is none' };
  if (!('fault' in cron)) return cron.nextAfter(now)?.toISOString() ?? null;
  const { everyMs, retryMs = everyMs } = capabilities;
  return new Date(now.getTime() + (declared?.everyMs ?? (isOk ? everyMs : retryMs))).toISOString();
}

/** State of a connection whose import is queued. */
export const QUEUED: ConnectionChange = {
  syncing: true,
  again: false,
  done: 0,
  total: null,
  waitingUntil: null,
  nextSyncAt: null,
};

/** Writes that queue an import with the state that asks for it; their commit conflicts while one is queued or under way. */
export function startWrites(
  { connections, workQueue }: Pick<SourceDependencies, 'connections' | 'workQueue'>,
  connection: SourceConnection,
): readonly Write[] {
  return [
    ...workQueue.enqueueWrites({ tenant: connection.tenant }, importJob(connection)).writes,
    connections.changeWrite(connection.id, QUEUED, { status: 'active', syncing: false }),
  ];
}

/**
 * Starts an import with the other writes in the same commit. False: one is under way or the connection has ended; with `again`
 * another import follows the one under way.
 */
export async function startImport(
  dependencies: Pick<SourceDependencies, 'connections' | 'workQueue' | 'store' | 'logger'>,
  connection: SourceConnection,
  { again = false, writes = [] }: { readonly again?: boolean; readonly writes?: readonly Write[] } = {},
): Promise<boolean> {
  const { store, connections } = dependencies;
  const scope = { tenant: connection.tenant };
  const attempt = async (): Promise<boolean> => {
    try {
      await store.commit(scope, [...writes, ...startWrites(dependencies, connection)]);
      wakeImports(dependencies);
      return true;
    } catch (error) {
      if (!isQueuedAlready(error) && !(error instanceof VersionConflictError)) throw error;
      if (!again || (await connections.get(connection.id))?.status !== 'active') return false;
      // The one under way may have ended since: then this conflicts, and the next attempt starts one.
      const change = connections.changeWrite(connection.id, { again: true }, { status: 'active', syncing: true });
      await store.commit(scope, [...writes, change]);
      return false;
    }
  };
  return retryOnConflict(attempt, { isRetryable: (error) => error instanceof VersionConflictError });
}

export function wakeImports({ workQueue, logger }: Pick<SourceDependencies, 'workQueue' | 'logger'>): void {
  void workQueue.wake(IMPORT_JOB).catch((error: unknown) => logger.warn('import.wake.failed', { error }));
}

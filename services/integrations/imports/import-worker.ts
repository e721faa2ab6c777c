import { engramError } from '../../common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createRepeating } from '../../common/platform/async/repeating.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { heldError } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker } from '../../common/platform/jobs/job-worker.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type { ConnectionChange, SourceConnection } from '../../common/records/integrations/connections.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { SourceBusyError, SourceRevokedError } from '../providers/connector.ts';
import { carryOutImport, openAttempt, recheckPermissions } from './carry-out-import.ts';
import { countFailure, failureOf, type ImportTally } from './import-attempt.ts';
import { DisconnectedError, isOfTheImport } from './import-feed.ts';
import { removeMatching } from './remove-documents.ts';
import {
  ERASE_SOURCE_JOB,
  IMPORT_JOB,
  importJob,
  nextImportAt,
  QUEUED,
  SOURCE_ACCESS_JOB,
  startAccessCheck,
  startImport,
  wakeImports,
} from './start-import.ts';

/** Claims of one import until it counts as killing its workers, and attempts that fail for the same reason. */
const MAX_ATTEMPTS = 20;
/** Webhooks are remembered for so long. */
const REMEMBERED_MS = 24 * 3_600_000;
const DUE_AT_ONCE = 100;

/** Carries out queued imports, starts those that are due, and watches sources that report their changes. */
export function createImportWorker(dependencies: SourceDependencies) {
  const { settings, logger, connections, connectors, events, store, clock } = dependencies;
  const worker = createJobWorker(dependencies, {
    name: 'import',
    handlers: {
      [IMPORT_JOB]: {
        drive: (job, lease) => driveImport(dependencies, job, lease),
        failures: { decide: () => 'retry' },
      },
      [ERASE_SOURCE_JOB]: {
        drive: (job, lease) => driveErasure(dependencies, job, lease),
        failures: { decide: () => 'retry' },
      },
      [SOURCE_ACCESS_JOB]: {
        drive: (job, lease) => driveAccessCheck(dependencies, job, lease),
        failures: { decide: () => 'retry' },
      },
    },
    settings,
  });
  const watchers = createWatchers(dependencies);
  const looking = createRepeating({
    async work() {
      const now = clock.now();
      for (const connection of await connections.due(now.toISOString(), DUE_AT_ONCE)) {
        if (connection.status !== 'active' || connection.syncing) continue;
        const connector = connectors.get(connection.provider);
        if (connector?.isIdle?.(connection) === true) {
          const nextSyncAt = nextImportAt(connection, connector, now);
          await startAccessCheck(dependencies, connection, [connections.changeWrite(connection.id, { nextSyncAt })]);
        } else await startImport(dependencies, connection);
      }
      await watchers.update();
      const before = new Date(now.getTime() - REMEMBERED_MS).toISOString();
      await store.commit(SYSTEM_SCOPE, [events.removeOldWrite(before)]);
      for (const write of events.removeExpiredWrites(now.toISOString())) await store.commit(SYSTEM_SCOPE, [write]);
    },
    everyMs: settings.lookEveryMs,
    onError: (error) => logger.warn('import.look.failed', { error }),
  });
  return {
    async start() {
      await worker.start();
      looking.start();
    },
    async stop() {
      await Promise.all([looking.stop(), watchers.close(), worker.stop()]);
    },
  };
}

/** Keeps a watcher for each active connection of a connector that can watch; their imports start within a second. */
function createWatchers(dependencies: SourceDependencies) {
  const { connectors, connections, logger } = dependencies;
  const open = new Map<string, { close(): Promise<void> }>();
  const changed = (id: string) => {
    const start = async () => {
      const connection = await connections.get(id);
      if (connection?.status === 'active') await startImport(dependencies, connection, { again: true });
    };
    start().catch((error: unknown) => logger.warn('import.start.failed', { connectionId: id, error }));
  };
  return {
    async update() {
      const wanted = new Set<string>();
      for (const { provider, watch } of connectors.values()) {
        if (watch === undefined) continue;
        for (const connection of await connections.active(provider)) {
          // A declared rhythm holds instead.
          if (connection.declared?.cron || connection.declared?.everyMs) continue;
          wanted.add(connection.id);
          if (!open.has(connection.id))
            open.set(
              connection.id,
              watch(connection, () => changed(connection.id)),
            );
        }
      }
      for (const [id, watcher] of open) {
        if (wanted.has(id)) continue;
        open.delete(id);
        await watcher.close();
      }
    },
    async close() {
      await Promise.all([...open.values()].map((watcher) => watcher.close()));
      open.clear();
    },
  };
}

function newTally({ id }: ClaimedJob, { changes }: SourceConnection, now: Date): ImportTally {
  const fresh = { job: id, startedAt: now.toISOString(), added: 0, updated: 0, unchanged: 0, deleted: 0, counted: {} };
  return {
    counts: { scanned: 0, skipped: 0, failed: 0 },
    done: 0,
    total: null,
    error: null,
    changes: changes?.job === id ? changes : fresh,
  };
}

async function driveImport(dependencies: SourceDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { connectors, store, workQueue, clock, logger } = dependencies;
  const connection = await connectionOf(dependencies, job);
  const connector = connection === null ? undefined : connectors.get(connection.provider);
  if (connection === null) {
    await store.commit(job.scope, workQueue.completeWrites(job));
    return;
  }
  if (connection.status !== 'active') return end(dependencies, job, connection, {});
  logger.info('import.claimed', { connectionId: connection.id, attempt: job.attempt });
  const tally = newTally(job, connection, clock.now());
  try {
    if (job.attempt > MAX_ATTEMPTS) throw new Error(`it was begun ${MAX_ATTEMPTS} times`);
    if (connector === undefined) {
      throw engramError('UnsupportedOperationError', `${connection.provider} is not configured on this server.`);
    }
    const attempt = await openAttempt(dependencies, { job, lease, connection, connector }, tally);
    await carryOutImport(dependencies, attempt);
    const isOk = tally.counts.failed === 0;
    await end(dependencies, job, connection, {
      changes: tally.changes,
      syncStatus: isOk ? 'ok' : 'degraded',
      syncError: tally.error,
      syncCounts: tally.counts,
      nextSyncAt: nextImportAt(connection, connector, clock.now(), { isOk }),
    });
  } catch (error) {
    await endOfFailed(
      dependencies,
      { job, lease, connection, tally },
      lease.signal.aborted ? lease.signal.reason : error,
    );
  }
}

interface FailedImport {
  readonly job: ClaimedJob;
  readonly lease: JobLease;
  readonly connection: SourceConnection;
  readonly tally: ImportTally;
}

/** Throws what another attempt may overcome: it is retried after a while. */
async function endOfFailed(
  dependencies: SourceDependencies,
  { job, lease, connection, tally }: FailedImport,
  error: unknown,
): Promise<void> {
  const { store, connections, workQueue, clock, logger, datasets, connectors } = dependencies;
  const { id, tenant } = connection;
  if (lease.signal.aborted) throw error;
  if (error instanceof SourceBusyError) {
    const until = new Date(clock.now().getTime() + error.retryAfterMs).toISOString();
    await store.commit(job.scope, [...workQueue.heldWrites(job), connections.changeWrite(id, { waitingUntil: until })]);
    await workQueue.release(job, error.retryAfterMs);
    logger.info('import.postponed', { connectionId: id, retryAfterMs: error.retryAfterMs });
    return;
  }
  if (error instanceof DisconnectedError) return end(dependencies, job, connection, {});
  const now = clock.now();
  if (error instanceof SourceRevokedError) {
    countFailure(tally, failureOf(error));
    const { changes, counts: syncCounts } = tally;
    const failed = { changes, syncStatus: 'degraded', syncError: error.message, syncCounts } as const;
    await end(dependencies, job, connection, { ...revocation(error.message, now), ...failed });
    logger.warn('import.revoked', { connectionId: id, reason: error.message });
    return;
  }
  if (isOfTheImport(error, lease) && isTransient(error) && job.attempt < MAX_ATTEMPTS) throw error;
  const { errorClass, message } = describeRunError(error);
  countFailure(tally, failureOf(error));
  const isGone = connection.dataset !== null && (await datasets.get({ tenant }, connection.dataset)) === null;
  const connector = connectors.get(connection.provider);
  await end(dependencies, job, connection, {
    changes: tally.changes,
    syncStatus: 'degraded',
    syncCounts: tally.counts,
    syncError: isGone
      ? 'The dataset was deleted. Sync again to bring everything in anew.'
      : `${message} [${errorClass}]`,
    ...(isGone ? { dataset: null } : {}),
    nextSyncAt: isGone || connector === undefined ? null : nextImportAt(connection, connector, now, { isOk: false }),
  });
  logger.warn('import.failed', { connectionId: id, error });
}

function isTransient(error: unknown): boolean {
  return error instanceof Error && /^(ServiceUnavailableError|DeadlineExceededError)$/.test(error.name);
}

/** State of a connection that the provider ended. */
export function revocation(reason: string, now: Date): ConnectionChange {
  return { status: 'revoked', revokedReason: reason, revokedAt: now.toISOString(), nextSyncAt: null };
}

/** Ends the job in one commit with its result; another one follows when something changed meanwhile. */
async function end(
  dependencies: SourceDependencies,
  job: ClaimedJob,
  { id, tenant, parentId }: SourceConnection,
  change: ConnectionChange,
): Promise<void> {
  const { store, connections, connectors, credentials, workQueue, eventLog, clock } = dependencies;
  for (;;) {
    const present = await connections.get(id);
    const isActive = present?.status === 'active' && change.status !== 'revoked';
    const follows = isActive && present.again;
    const result = present?.status === 'active' ? change : {};
    const now = clock.now();
    const isOk = change.syncStatus === 'ok';
    const own = present?.status === 'active' && connectors.get(present.provider)?.afterImport?.(present, { isOk, now });
    const ended = {
      ...result,
      ...own,
      lastSyncedAt: now.toISOString(),
      waitingUntil: null,
      ...(isActive ? {} : { nextSyncAt: null }),
    };
    const writes: Write[] = [...workQueue.completeWrites(job)];
    if (present !== null) {
      writes.push(
        connections.changeWrite(id, follows ? { ...ended, ...QUEUED } : { ...ended, syncing: false, again: false }, {
          status: present.status,
          again: present.again,
        }),
        ...eventLog.appendWrites({ tenant }, [
          { type: 'sync.ended', subjectId: id, data: { status: change.syncStatus ?? 'revoked' } },
        ]),
      );
      if (change.status === 'revoked') writes.push(credentials.removeWrite(id));
      if (parentId !== undefined) writes.push(...(await parentWrites(dependencies, parentId, change, now)));
      if (follows) writes.push(...workQueue.enqueueWrites({ tenant }, importJob({ id })).writes);
    }
    try {
      await store.commit(job.scope, writes);
      if (follows) wakeImports(dependencies);
      return;
    } catch (error) {
      if (!isWriteConflict(error) || error.collection !== 'source_connections') throw heldError(error, job);
    }
  }
}

/** The connection of the account has the result of the last of its imports, and ends with them when the access is at an end. */
async function parentWrites(
  { connections, credentials }: SourceDependencies,
  parentId: string,
  { status, revokedReason, revokedAt, syncStatus, syncError, syncCounts }: ConnectionChange,
  now: Date,
): Promise<readonly Write[]> {
  const parent = await connections.get(parentId);
  if (parent?.status !== 'active') return [];
  if (status !== 'revoked') {
    if (syncStatus === undefined) return [];
    const result = { syncStatus, syncError: syncError ?? null, syncCounts: syncCounts ?? null };
    return [connections.changeWrite(parentId, { ...result, lastSyncedAt: now.toISOString() })];
  }
  const ended = {
    status,
    revokedReason: revokedReason ?? null,
    revokedAt: revokedAt ?? null,
    nextSyncAt: null,
  } as const;
  const account = await connections.ofAccount(parent.provider, parent.accountId);
  const others = account.filter((one) => one.parentId === parentId && one.status === 'active');
  return [
    ...[parent, ...others].map(({ id }) => connections.changeWrite(id, ended)),
    credentials.removeWrite(parentId),
  ];
}

/** Asks at the source who sees the documents of a connection; a failure is one of the next import, too. */
async function driveAccessCheck(dependencies: SourceDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { store, workQueue, connectors, clock, logger } = dependencies;
  const connection = await connectionOf(dependencies, job);
  const connector = connectors.get(connection?.provider ?? '');
  if (connection?.status === 'active' && connection.dataset !== null && connector?.permissionsOf !== undefined) {
    try {
      // What the last import brought in stays its report.
      const { done, total, changes } = connection;
      const tally = { ...newTally(job, connection, clock.now()), done, total, ...(changes && { changes }) };
      const attempt = await openAttempt(dependencies, { job, lease, connection, connector }, tally);
      await recheckPermissions(dependencies, attempt);
    } catch (error) {
      if (lease.signal.aborted) throw lease.signal.reason;
      if (error instanceof SourceBusyError) return workQueue.release(job, error.retryAfterMs);
      if (isTransient(error) && job.attempt < MAX_ATTEMPTS) throw error;
      logger.warn('import.permissions.failed', { connectionId: connection.id, error });
    }
  }
  await store.commit(job.scope, workQueue.completeWrites(job));
}

/** Erases the items of a connection that was disconnected with its data, then the connection. */
async function driveErasure(dependencies: SourceDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { store, workQueue, connectors, datasets } = dependencies;
  const connection = await connectionOf(dependencies, job);
  const connector = connectors.get(connection?.provider ?? '');
  const dataset =
    connection?.dataset == null ? null : await datasets.get({ tenant: connection.tenant }, connection.dataset);
  if (connection !== null && connector !== undefined && dataset !== null) {
    const tally = newTally(job, connection, dependencies.clock.now());
    const attempt = await openAttempt(dependencies, { job, lease, connection, connector }, tally);
    await removeMatching(dependencies, attempt, { connectionId: connection.id });
    const feeds = await dependencies.sourceItems.feeds(
      { tenant: connection.tenant, dataset: dataset.id },
      connection.id,
    );
    await store.commit({ tenant: connection.tenant, dataset: dataset.id }, [
      ...feeds.map(dependencies.sourceItems.removeCursorWrite),
      ...dependencies.sourceAccess.removeOfConnectionWrites(connection.id),
    ]);
  }
  await store.commit(job.scope, workQueue.completeWrites(job));
}

async function connectionOf({ connections }: SourceDependencies, { payload }: ClaimedJob) {
  const { connectionId } = payload;
  return typeof connectionId === 'string' ? connections.get(connectionId) : null;
}

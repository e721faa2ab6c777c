import { scopeOf } from '../common/kernel/dataset.ts';
import { dataItemId } from '../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../common/kernel/scope.ts';
import { createRepeating } from '../common/platform/async/repeating.ts';
import {
  createJobWorker,
  type JobHandler,
  type JobWorkerOptions,
  type JobWorkerSettings,
} from '../common/platform/jobs/job-worker.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import { callerOf } from '../common/platform/messaging/messenger.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import { createDatasets } from '../common/records/auth/datasets.ts';
import { createManagedResources } from '../common/records/auth/managed-resources.ts';
import { createTenants } from '../common/records/auth/tenants.ts';
import { createBudgets } from '../common/records/budgets/budget-keeper.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import type { DatasetReaders } from '../common/storage/ports/dataset-indexes.ts';
import type { AnyCollection } from '../common/storage/ports/document-store.ts';
import type { SnapshotPlaces } from '../common/storage/ports/snapshot-places.ts';
import { createRecords, type IngestDependencies, type IngestParts } from './dependencies.ts';
import { DELETION_FAILURES, DELETION_JOB } from './forgetting/deletion-job.ts';
import { deleteItemsDurably, resumeDeletion } from './forgetting/durable-deletion.ts';
import { createManagedErasures, ERASURE_JOB, type ManagedErasures } from './forgetting/managed-erasures.ts';
import { sweepBlobs } from './forgetting/sweep-blobs.ts';
import { removeCanary } from './isolation/canary.ts';
import { checkIsolation } from './isolation/check-isolation.ts';
import { createAdditionWorker } from './items/addition-worker.ts';
import { datasetStatistics } from './items/dataset-statistics.ts';
import { keepDocuments } from './items/keep-documents.ts';
import { rememberText } from './items/remember-data.ts';
import { takeDownload } from './items/take-download.ts';
import {
  createManagedRestores as createManagedRestoreRecords,
  createUserRestores as createUserRestoreRecords,
} from './repositories/restores.ts';
import { createSnapshots } from './repositories/snapshots.ts';
import { expireEvents } from './retention/expire-events.ts';
import { expireItems } from './retention/expire-items.ts';
import { createSessionExpiry } from './retention/expire-sessions.ts';
import { setRetention } from './retention/set-retention.ts';
import { activityRoutes } from './routes/activity.ts';
import { addRoutes } from './routes/add.ts';
import { builtRoutes } from './routes/built.ts';
import { datasetSchemaRoutes } from './routes/dataset-schema.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { entryRoutes } from './routes/entries.ts';
import { forgetRoutes } from './routes/forget.ts';
import { ontologyRoutes } from './routes/ontologies.ts';
import { proposalRoutes } from './routes/proposals.ts';
import { rememberRoutes } from './routes/remember.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { skillRoutes } from './routes/skills.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { supersessionRoutes } from './routes/supersessions.ts';
import { updateRoutes } from './routes/update.ts';
import { keepTurnNote } from './sessions/keep-turn-note.ts';
import { appendTurn, noteOnSession } from './sessions/session-messages.ts';
import { recordUsedSkills } from './skills/record-skill-run.ts';
import { createDatasetSnapshots } from './snapshots/dataset-snapshots.ts';
import { createManagedRestores, MANAGED_RESTORE_JOB } from './snapshots/managed-restores.ts';
import { createManagedSnapshots } from './snapshots/managed-snapshots.ts';
import { createSnapshotWork, SNAPSHOT_JOB } from './snapshots/take-snapshot.ts';
import { createUserRestores, RESTORE_JOB } from './snapshots/user-restores.ts';

interface IngestServiceOptions extends IngestParts {
  /** Default: those of the store, without server-wide limits. */
  readonly budgets?: Budgets;
  /** Every collection with documents of tenants, whosever: what is left of a tenant beside its datasets. Default: none. */
  readonly tenantCollections?: readonly AnyCollection[];
  /** Source and place of snapshots; none are taken without it. */
  readonly snapshots?: { readonly indexes: DatasetReaders; readonly places: SnapshotPlaces };
  readonly jobs?: Partial<JobWorkerSettings>;
}

/** Other processes may be killed while this one lives on. */
const SWEEP_EVERY_MS = 600_000;
const JOB_SETTINGS: Omit<JobWorkerSettings, 'drainMs'> = { leaseMs: 15_000, pollMs: 1000, maxConcurrent: 16 };

/** Takes data in, keeps it, hands it to the others and forgets it. */
export function createIngestService(options: IngestServiceOptions): Service {
  const handlers: Record<string, JobHandler> = {};
  const dependencies = dependenciesOf(options, handlers);
  const sweep = createRepeating({
    work: () => sweepBlobs(dependencies, SYSTEM_SCOPE),
    everyMs: SWEEP_EVERY_MS,
    onError: (error) => options.logger.error('ingest.sweep.failed', { error }),
  });
  const stopping = new AbortController();
  const purge = createPurge(dependencies, stopping.signal);
  const snapshots = options.snapshots === undefined ? null : openSnapshots(dependencies, options.snapshots);
  const erasures = createManagedErasures({
    ...dependencies,
    tenantCollections: options.tenantCollections ?? [],
    ...(snapshots === null ? {} : { takeSnapshot: snapshots.take }),
  });
  const additions = createAdditionWorker(dependencies);
  const { jobs } = dependencies;
  Object.assign(handlers, snapshots?.handlers, {
    [ERASURE_JOB]: erasures.handler,
    [DELETION_JOB]: {
      drive: (job, lease) => resumeDeletion(dependencies, job, lease),
      failures: DELETION_FAILURES,
    } satisfies JobHandler,
  });
  const subscriptions: Subscription[] = [];
  return {
    name: 'ingest',
    routes: [
      ...addRoutes(dependencies),
      ...rememberRoutes(dependencies),
      ...updateRoutes(dependencies),
      ...entryRoutes(dependencies),
      ...skillRoutes(dependencies),
      ...ontologyRoutes(dependencies),
      ...proposalRoutes(dependencies),
      ...datasetRoutes(dependencies),
      ...builtRoutes(dependencies),
      ...datasetSchemaRoutes(dependencies),
      ...forgetRoutes(dependencies),
      ...sessionRoutes(dependencies),
      ...activityRoutes(dependencies),
      ...supersessionRoutes(dependencies),
      ...(snapshots?.routes ?? []),
    ],
    sockets: [],
    async start() {
      subscriptions.push(...(await serveServices(dependencies)));
      subscriptions.push(...(await serveOperator(dependencies, erasures)));
      if (snapshots !== null) subscriptions.push(...(await snapshots.serve()));
      snapshots?.sweep.start();
      sweep.start();
      purge.start();
      await Promise.all([jobs.start(), additions.start()]);
    },
    async stop() {
      stopping.abort();
      await Promise.all([jobs.stop(), additions.stop()]);
      await Promise.all([sweep.stop(), purge.stop(), snapshots?.sweep.stop()]);
      await Promise.all(subscriptions.splice(0).map((subscription) => subscription.stop()));
    },
  };
}

function dependenciesOf(options: IngestServiceOptions, handlers: JobWorkerOptions['handlers']): IngestDependencies {
  const { store, settings } = options;
  return {
    ...options,
    jobs: createJobWorker(options, {
      name: 'ingest',
      handlers,
      settings: { ...JOB_SETTINGS, drainMs: settings.drainMs, ...options.jobs },
    }),
    budgets: options.budgets ?? createBudgets(options),
    ...createRecords(options),
    ...(options.snapshots === undefined
      ? {}
      : { snapshotIndex: { places: options.snapshots.places, store, snapshots: createSnapshots(store) } }),
  };
}

/** Takes away what has outlived its time, again and again. */
function createPurge(dependencies: IngestDependencies, signal: AbortSignal) {
  const expiry = createSessionExpiry(dependencies);
  const purgeFailed = (error: unknown): void => {
    if (!signal.aborted) dependencies.logger.error('ingest.purge.failed', { error });
  };
  return createRepeating({
    async work() {
      // What keeps one of them from its work is no other's matter.
      await expiry.pass(signal).catch(purgeFailed);
      await expireEvents(dependencies, signal).catch(purgeFailed);
      await expireItems(dependencies, signal);
    },
    everyMs: dependencies.settings.sessions.purgeEveryMs,
    onError: purgeFailed,
  });
}

/** Handlers for requests of other services. */
function serveServices(dependencies: IngestDependencies): Promise<Subscription[]> {
  const { messenger } = dependencies;
  return Promise.all([
    messenger.serve('ingest.DatasetItems', async ({ dataset, ids, after = null, limit }) => {
      const scope = scopeOf(dataset);
      if (ids !== undefined) return { items: await dependencies.items.getMany(scope, ids.map(dataItemId)), next: null };
      return dependencies.items.oldestFirst(scope, { after, limit });
    }),
    messenger.serve('ingest.KeepDocuments', (request, context) => keepDocuments(dependencies, request, context)),
    messenger.serve('ingest.RememberText', (request, context) => rememberText(dependencies, request, context)),
    messenger.serve('ingest.TakeDownload', (request, context) => takeDownload(dependencies, request, context)),
    messenger.serve('ingest.ForgetItems', async ({ dataset, itemIds }, context) => {
      await deleteItemsDurably(dependencies, dataset, itemIds.map(dataItemId), context);
      return {};
    }),
    messenger.serve('ingest.AppendSession', (request, context) => appendTurn(dependencies, request, context)),
    messenger.serve('ingest.RecordSkillRuns', async ({ dataset, runs }, context) => ({
      recorded: await recordUsedSkills(dependencies, dataset, runs, { principal: callerOf(context), context }),
    })),
    messenger.serve('ingest.NoteOnTurn', (request, context) => keepTurnNote(dependencies, request, context)),
    messenger.serve('ingest.NoteOnSession', (request, context) => noteOnSession(dependencies, request, context)),
  ]);
}

/** Snapshots of datasets, and datasets from them: the operator's over the bus, users' over HTTP. */
function openSnapshots(
  dependencies: IngestDependencies,
  { indexes, places }: NonNullable<IngestServiceOptions['snapshots']>,
) {
  const { store, messenger, logger } = dependencies;
  const managedResources = createManagedResources(store);
  const parts = { ...dependencies, indexes, places, managedResources, snapshots: createSnapshots(store) };
  const work = createSnapshotWork(parts);
  const snapshots = createManagedSnapshots(parts, work);
  const ofUsers = createDatasetSnapshots(parts, work);
  const restores = createManagedRestores({
    ...parts,
    restores: createManagedRestoreRecords(store),
    tenants: createTenants(store),
  });
  const restoresOfUsers = createUserRestores({
    ...parts,
    restores: createUserRestoreRecords(store),
    datasets: createDatasets(store),
  });
  return {
    take: snapshots.take,
    handlers: {
      [SNAPSHOT_JOB]: work.handler,
      [RESTORE_JOB]: restoresOfUsers.handler,
      [MANAGED_RESTORE_JOB]: restores.handler,
    },
    routes: snapshotRoutes({ messenger, snapshots: ofUsers, restores: restoresOfUsers }),
    serve: () =>
      Promise.all([
        messenger.serve('ingest.TakeSnapshot', (request, context) => snapshots.take(request, context)),
        messenger.serve('ingest.ListSnapshots', async (request) => ({
          snapshots: await snapshots.list(request),
        })),
        messenger.serve('ingest.PruneSnapshots', async (request) => ({
          removed: await snapshots.prune(request),
        })),
        messenger.serve('ingest.RestoreDataset', (request, context) => restores.restore(request, context)),
      ]),
    sweep: createRepeating({
      async work() {
        await Promise.all([snapshots.sweep(), restores.sweep(), restoresOfUsers.sweep()]);
      },
      everyMs: SWEEP_EVERY_MS,
      onError: (error) => logger.error('ingest.snapshots.sweep.failed', { error }),
    }),
  };
}

/** For `Tenant` and `Dataset` resources. The bus lets only the operator send these. */
function serveOperator(dependencies: IngestDependencies, erasures: ManagedErasures): Promise<Subscription[]> {
  const { messenger } = dependencies;
  return Promise.all([
    messenger.serve('ingest.SetRetention', async (request) => {
      await setRetention({ ...dependencies, managedResources: createManagedResources(dependencies.store) }, request);
      return {};
    }),
    messenger.serve('ingest.DatasetStatistics', (request, context) =>
      datasetStatistics(dependencies, request, context),
    ),
    messenger.serve('ingest.EraseDataset', async (request, context) => ({
      progress: await erasures.progress(request, context),
    })),
    messenger.serve('ingest.CheckIsolation', (request, context) => checkIsolation(dependencies, request, context)),
    messenger.serve('ingest.RemoveCanary', async (request, context) => ({
      removed: await removeCanary(dependencies, request, context),
    })),
    messenger.serve('ingest.EraseTenant', async (request, context) => ({
      progress: await erasures.progress(request, context),
    })),
  ]);
}

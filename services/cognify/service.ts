import { once } from '../common/platform/async/once.ts';
import { createRepeating } from '../common/platform/async/repeating.ts';
import { createRunRecorder } from '../common/platform/jobs/run-recorder.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import { type CallContext, callerOf } from '../common/platform/messaging/messenger.ts';
import { onlyEmbedder } from '../common/ports/embedders.ts';
import { NO_TRACER } from '../common/ports/tracer.ts';
import { createDatasets } from '../common/records/auth/datasets.ts';
import { createManagedResources } from '../common/records/auth/managed-resources.ts';
import { createBudgets } from '../common/records/budgets/budget-keeper.ts';
import { createDatasetConfigurations } from '../common/records/cognify/dataset-configurations.ts';
import { createRunRecords } from '../common/records/cognify/run-records.ts';
import { createRuns } from '../common/records/cognify/runs.ts';
import { createScheduledStarts } from '../common/records/cognify/scheduled-starts.ts';
import { createStatements } from '../common/records/cognify/statements.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import { createVectorIndexVersions } from '../common/records/cognify/vector-index-versions.ts';
import { createImproveClaims } from '../common/records/improve/improve-claims.ts';
import { createDataItems } from '../common/records/ingest/data-items.ts';
import { createOntologies, type OntologyFile } from '../common/records/ingest/ontologies.ts';
import { createRepetitions } from '../common/records/ingest/repetitions.ts';
import { createDatasetCopyLeases } from '../common/records/search/dataset-copies.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { applyGraphPatch } from './built/apply-graph-patch.ts';
import { builtStatistics } from './built/built-statistics.ts';
import { setDatasetConfiguration, storeDatasetSchema } from './built/dataset-configuration.ts';
import { type ErasureDependencies, eraseBuilt } from './built/erase-built.ts';
import { restoreBuilt } from './built/restore-built.ts';
import type { CognifyDependencies, CognifyServiceOptions } from './dependencies.ts';
import { migrateEmbedding } from './migration/migrate-embedding.ts';
import { createMigrationWorker, followMigration } from './migration/migration-jobs.ts';
import { COGNIFY_JOB } from './model.ts';
import { createItemBuilds } from './pipeline/item-builds.ts';
import { keepServerOntologies } from './pipeline/load-ontology.ts';
import { createModelCache } from './repositories/model-cache.ts';
import { activityRoutes } from './routes/activity.ts';
import { cognifyRoutes } from './routes/cognify.ts';
import { datasetStatusRoutes } from './routes/dataset-status.ts';
import { embeddingRoutes } from './routes/embedding.ts';
import { graphSummaryRoutes } from './routes/graph-summary.ts';
import { jobRoutes } from './routes/jobs.ts';
import { llmRoutes } from './routes/llm.ts';
import { runSocket } from './routes/run-socket.ts';
import { validateRoutes } from './routes/validate.ts';
import { readRun } from './runs/read-runs.ts';
import { rebuildLost } from './runs/rebuild-lost.ts';
import { recordRun } from './runs/record-run.ts';
import { createRunEngine } from './runs/run-engine.ts';
import { startCognify, startScheduled } from './runs/start-cognify.ts';
import { sweepGenerations } from './runs/sweep-generations.ts';
import { DEFAULT_COGNIFY_SETTINGS, DEFAULT_RUN_SETTINGS } from './settings.ts';

/** Other workers may be killed while this process lives on. */
const SWEEP_EVERY_MS = 600_000;

/** How often lost indexes are looked for. */
const REBUILD_EVERY_MS = 1_000;

/** Creates the service: runs, and the graph and indexes that they build (README.md). */
export function createCognifyService(options: CognifyServiceOptions): Service {
  const { store, eventLog, messenger, clock, ids, logger, metrics, ledger, workQueue, tracer = NO_TRACER } = options;
  const settings = { ...DEFAULT_COGNIFY_SETTINGS, ...options.settings };
  const runs = createRuns(store);
  const records = createRunRecords(store);
  const budgets = options.budgets ?? createBudgets({ store, clock, ids, eventLog, logger });
  const recorder = createRunRecorder({
    store,
    runs,
    records,
    budgets,
    eventLog,
    messenger,
    clock,
    ids,
    logger,
    metrics,
  });
  const vectorVersions = createVectorIndexVersions(options);
  const indexes = {
    text: options.text,
    graph: options.graph,
    vectors: vectorVersions.vectors,
    vectorVersions,
    embedders: options.embedders ?? onlyEmbedder(options.embedder),
    statements: createStatements(store),
    supersessions: createSupersessions(store),
  };
  const builds = createItemBuilds(ledger);
  const cache = createModelCache(store);
  const repetitions = createRepetitions(store);
  const copies = createDatasetCopyLeases(options);
  const run = once(async () => {
    const [{ createCognifyRun }, { createTextWork }] = await Promise.all([
      import('./runs/cognify-run.ts'),
      import('./pipeline/text-work.ts'),
    ]);
    const textWork = createTextWork(options.textWorkers);
    return createCognifyRun({ ...options, ...indexes, settings, builds, cache, repetitions, textWork });
  });
  const engine = createRunEngine({
    ...options,
    runs,
    recorder,
    budgets,
    tracer,
    executor: { kind: COGNIFY_JOB, execute: async (active) => (await run()).execute(active) },
    settings: { ...DEFAULT_RUN_SETTINGS, ...options.runs },
  });
  const dependencies: CognifyDependencies = {
    ...options,
    ...indexes,
    settings,
    runs,
    recorder,
    engine,
    configurations: createDatasetConfigurations(store),
    datasets: createDatasets(store),
    managedResources: createManagedResources(store),
    serverOntologies: () => serverOntologies,
  };
  let serverOntologies: readonly OntologyFile[] = [];
  const migrating = { ...dependencies, workQueue, ids };
  const migrations = createMigrationWorker(migrating, {
    drainMs: { ...DEFAULT_RUN_SETTINGS, ...options.runs }.drainMs,
  });
  const sweep = createRepeating({
    work: () => sweepGenerations(dependencies),
    everyMs: SWEEP_EVERY_MS,
    onError: (error) => logger.error('cognify.sweep.failed', { error }),
  });
  const rebuilding = createRepeating({
    work: () => rebuildLost({ ...dependencies, ids }),
    everyMs: REBUILD_EVERY_MS,
    onError: (error) => logger.error('index.rebuild.failed', { error }),
  });
  let subscriptions: readonly Subscription[] = [];
  return {
    name: 'cognify',
    routes: [
      ...cognifyRoutes({ ...dependencies, budgets, blobs: options.blobs, ontologies: createOntologies(store) }),
      ...datasetStatusRoutes(dependencies),
      ...graphSummaryRoutes(dependencies),
      ...embeddingRoutes(migrating),
      ...activityRoutes({ messenger, records }),
      ...jobRoutes({ ...dependencies, workQueue }),
      ...validateRoutes(dependencies),
      ...(options.llm === undefined ? [] : llmRoutes({ ...options.llm, logger })),
    ],
    sockets: [runSocket(dependencies)],
    async start() {
      serverOntologies = await keepServerOntologies(options.blobs, settings.ontologyFiles);
      subscriptions = await serveMessages(options, { ...dependencies, builds, cache, repetitions, copies }, migrating);
      await engine.start();
      await migrations.start();
      sweep.start();
      // Only the files of a process can be lost without the store that records them.
      if (!store.capabilities.sharedBetweenProcesses) rebuilding.start();
    },
    drain: () => engine.stop(),
    async stop() {
      await engine.stop();
      await migrations.stop();
      await sweep.stop();
      await rebuilding.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
    },
  };
}

function originOf({ origin }: CallContext): Pick<CallContext, 'origin'> {
  return origin === undefined ? {} : { origin };
}

/** Serves the messages of the service (README.md). */
function serveMessages(
  { store, messenger, prepare, probe, places }: CognifyServiceOptions,
  dependencies: CognifyDependencies & Pick<ErasureDependencies, 'builds' | 'cache' | 'repetitions' | 'copies'>,
  migrating: Parameters<typeof followMigration>[0],
): Promise<readonly Subscription[]> {
  const { runs } = dependencies;
  return Promise.all([
    messenger.serve('cognify.StartRun', async ({ dueAt, background = false, ...request }, context) => {
      const own = { ...request, background, principal: callerOf(context), ...originOf(context) };
      if (dueAt === undefined) return { run: await startCognify(dependencies, own) };
      const scheduling = { ...dependencies, scheduledStarts: createScheduledStarts(store) };
      return { run: await startScheduled(scheduling, { ...own, dueAt }) };
    }),
    messenger.serve('cognify.RecordRun', async (request, context) => {
      prepare?.();
      await recordRun(dependencies, { ...request, principal: callerOf(context), ...originOf(context) });
      return {};
    }),
    messenger.serve(
      'cognify.GetRun',
      async ({ runId }) => (await readRun(dependencies, runId)) ?? { run: null, tenant: null },
    ),
    messenger.serve('cognify.RunStatuses', async ({ datasets, pipelines }) => ({
      runs: (await runs.newest(datasets, pipelines)).map(({ state }) => state),
    })),
    ...(probe === undefined
      ? []
      : [messenger.serve('cognify.ProbeModel', (request, { signal }) => probe(request, signal))]),
    messenger.serve('cognify.MigrateEmbedding', (request, { signal }) =>
      migrateEmbedding(dependencies, request, (scope) => followMigration(migrating, scope, signal)),
    ),
    messenger.serve('cognify.BuiltStatistics', ({ dataset }) =>
      builtStatistics({ ...dependencies, items: createDataItems(store) }, dataset),
    ),
    messenger.serve('cognify.SetDatasetConfiguration', (request) => setDatasetConfiguration(dependencies, request)),
    messenger.serve('cognify.StoreDatasetSchema', async (request, context) => {
      await storeDatasetSchema(dependencies, request, callerOf(context).id);
      return {};
    }),
    ...(places === undefined
      ? []
      : [messenger.serve('cognify.RestoreBuilt', (request) => restoreBuilt({ ...dependencies, places }, request))]),
    messenger.serve('cognify.ApplyGraphPatch', (request, context) =>
      applyGraphPatch({ ...dependencies, claims: createImproveClaims(store) }, request, context),
    ),
    messenger.serve('cognify.Erase', async (request) => {
      const erased = await eraseBuilt(dependencies, request);
      return { ...erased, removed: { ...erased.removed } };
    }),
  ]);
}

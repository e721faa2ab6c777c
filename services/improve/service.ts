import { setTimeout as sleep } from 'node:timers/promises';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { engramError } from '../common/kernel/errors.ts';
import { dataItemId } from '../common/kernel/ids.ts';
import type { JsonObject } from '../common/kernel/json.ts';
import { once } from '../common/platform/async/once.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import type { AnswerOf } from '../common/platform/messaging/messages.ts';
import { callerOf } from '../common/platform/messaging/messenger.ts';
import { onlyEmbedder } from '../common/ports/embedders.ts';
import { eraseCollections } from '../common/records/base/erase-collections.ts';
import { createScheduledStarts } from '../common/records/cognify/scheduled-starts.ts';
import { createVectorIndexVersions } from '../common/records/cognify/vector-index-versions.ts';
import { createElementWeights } from '../common/records/improve/element-weights.ts';
import { claimKeys, createImproveClaims, eraserOf } from '../common/records/improve/improve-claims.ts';
import { createImproveRequests } from '../common/records/improve/improve-requests.ts';
import { createWatermarks } from '../common/records/improve/watermarks.ts';
import { createSessionEntries } from '../common/records/sessions/session-entries.ts';
import { createSessions } from '../common/records/sessions/sessions.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { learnedCollections } from './collections.ts';
import { DEFAULT_IMPROVE_SETTINGS, type ImproveDependencies, type ImproveServiceOptions } from './dependencies.ts';
import { createRequestScheduler } from './engine/improve-job.ts';
import type { ImproveParts } from './engine/improve-passes.ts';
import { firstError } from './engine/improve-result.ts';
import { createImproveWorker } from './engine/improve-worker.ts';
import { createStageRunner } from './engine/run-stages.ts';
import { improveDataset, startScheduled } from './engine/start-improve.ts';
import { defaultOptions } from './model.ts';
import { presentImproveResult } from './presenters/improve-result.ts';
import { improveRoutes } from './routes/improve.ts';
import { memifyRoutes } from './routes/memify.ts';
import { eraseItems } from './structure/erase-items.ts';

/** Creates the service that improves datasets by what sessions taught (README.md). */
export function createImproveService(options: ImproveServiceOptions): Service {
  const stopping = new AbortController();
  const parts = partsOf(options, stopping.signal);
  const worker = createImproveWorker(parts);
  const scheduler = createRequestScheduler(parts);
  let subscriptions: readonly Subscription[] = [];
  const stop = async (): Promise<void> => {
    stopping.abort(engramError('CancelledError', 'The server is shutting down.'));
    await scheduler.stop();
    await worker.stop();
  };
  let stopped: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  return {
    name: 'improve',
    routes: [...improveRoutes(parts), ...memifyRoutes(parts)],
    sockets: [],
    async start() {
      // Only this process uses the store: every other holder of a claim is dead.
      if (!options.store.capabilities.sharedBetweenProcesses) await parts.claims.releaseAll();
      subscriptions = await serve(parts);
      await worker.start();
      if (parts.settings.autoEnabled) scheduler.start();
    },
    drain: stopOnce,
    async stop() {
      await stopOnce();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
    },
  };
}

function partsOf(options: ImproveServiceOptions, stopping: AbortSignal): ImproveParts {
  const { store, settings, embedder, ...given } = options;
  const vectorVersions = createVectorIndexVersions({ ...options, vectors: options.indexes.vectors });
  const sessions = createSessions(store);
  const deps: ImproveDependencies = {
    ...given,
    store,
    vectorVersions,
    embedders: options.embedders ?? onlyEmbedder(embedder),
    sessions,
    entries: createSessionEntries(store, sessions),
    watermarks: createWatermarks(store),
    weights: createElementWeights(store),
    claims: createImproveClaims(store),
    improveRequests: createImproveRequests(store),
    scheduledStarts: createScheduledStarts(store),
    settings: { ...DEFAULT_IMPROVE_SETTINGS, ...settings },
  };
  const runner = once(async () => createStageRunner(deps, (await import('./stages/all.ts')).createStages(deps)));
  return { ...deps, stopping, runner: { run: async (pass) => (await runner()).run(pass) } };
}

function serve(parts: ImproveParts): Promise<readonly Subscription[]> {
  const { messenger, settings } = parts;
  return Promise.all([
    messenger.serve('improve.Improve', async ({ dataset, sessions, dueAt }, { signal: _, ...context }) => {
      const options = defaultOptions(settings.feedbackAlpha);
      const request = { dataset, principal: callerOf(context), context, sessionIds: sessions, options };
      const improve = () => improveDataset(parts, request);
      const result = await (dueAt === undefined ? improve() : startScheduled(parts, { ...request, dueAt }));
      return { result: presentImproveResult(result) as JsonObject, error: firstError(result) };
    }),
    messenger.serve('improve.Erase', ({ dataset, items }) =>
      items === undefined ? eraseLearned(parts, dataset) : eraseItems(parts, dataset, items.map(dataItemId)),
    ),
  ]);
}

type Dependencies = Pick<ImproveDependencies, 'store' | 'improveRequests' | 'claims' | 'clock' | 'ids'>;

/** How long a running improve has to stop; longer than a lease, because its process may be gone. */
const WAIT_MS = 30_000;
const POLL_MS = 20;
/** Lease for the erasure itself. */
const ERASURE_MS = 60_000;

/**
 * Removes what was learned of a dataset, and requests for improves of it. A running improve of it is stopped first. The
 * watermarks of sessions stay, so that their content is not persisted again in another dataset. `ServiceUnavailableError`
 * (retryable) when an improve does not stop.
 */
async function eraseLearned(deps: Dependencies, dataset: DatasetRef): Promise<AnswerOf<'improve.Erase'>> {
  const owner = eraserOf(deps.ids.uuid());
  try {
    await stopImprove(deps, dataset, owner);
    return await erase(deps, dataset);
  } finally {
    await deps.claims.release(claimKeys(dataset.tenant, dataset.id, []), owner);
  }
}

async function stopImprove({ claims, clock }: Dependencies, dataset: DatasetRef, owner: string): Promise<void> {
  const end = clock.monotonicMs() + WAIT_MS;
  await claims.seize(dataset.id, owner, { nowMs: clock.now().getTime(), leaseMs: WAIT_MS + ERASURE_MS });
  while (!(await claims.hasLeft(dataset.id, owner, clock.now().getTime()))) {
    if (clock.monotonicMs() >= end) {
      const text = 'An improve of the dataset does not stop; repeat the deletion.';
      throw engramError('ServiceUnavailableError', text, { retryable: true });
    }
    await sleep(POLL_MS);
  }
}

async function erase({ store, improveRequests }: Dependencies, dataset: DatasetRef) {
  const { removed, left } = await eraseCollections(store, scopeOf(dataset), learnedCollections);
  return { removed, residue: left + (await improveRequests.eraseDataset({ tenant: dataset.tenant }, dataset.id)) };
}

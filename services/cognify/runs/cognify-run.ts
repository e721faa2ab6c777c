import { setImmediate as nextTurn } from 'node:timers/promises';
import { isCanaryDataset } from '../../common/domain/canary.ts';
import { contentVersion, type DataItem } from '../../common/domain/data-item.ts';
import { unusedModelOptions } from '../../common/domain/unused-options.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { createWorkGroups } from '../../common/platform/async/work-groups.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import type { Clock } from '../../common/ports/system.ts';
import { NO_TRACER } from '../../common/ports/tracer.ts';
import { type ActiveEmbedding, activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import {
  type Attempt,
  isBuilt,
  type Ledger,
  type LedgerEntry,
  MAX_TRIES,
  triesOf,
} from '../../common/records/cognify/ledger.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import { isSameSpace } from '../../common/storage/ports/vector-index.ts';
import { gatherVectors } from '../migration/copy-vectors.ts';
import { type ActiveRun, COGNIFY_JOB, type RunExecutor, type RunReport } from '../model.ts';
import type { AppliedOntology } from '../pipeline/apply-ontology.ts';
import { type BuildDependencies, type BuiltItem, buildItem } from '../pipeline/build-item.ts';
import { createAskExtractor } from '../pipeline/extract-chunks.ts';
import { createIndexWriter } from '../pipeline/index-writer.ts';
import { createItemFailures, type ItemFailures, LAST_STAGE } from '../pipeline/item-failures.ts';
import {
  createOntologyLoader,
  type OntologyLoader,
  type OntologyLoaderDependencies,
} from '../pipeline/load-ontology.ts';
import type { ChunkSizes } from '../pipeline/model.ts';
import { createNameOfUser } from '../pipeline/speaker.ts';
import { ContentMissingError } from '../pipeline/text-work.ts';
import type { ModelCache } from '../repositories/model-cache.ts';
import type { CognifySettings, RunModelSource, RunModels } from '../settings.ts';
import { type JudgeDependencies, tryJudgeStatements } from '../statements/judge-statements.ts';
import { isProgressTick } from './active-run.ts';

const DEFAULT_DATA_PER_BATCH = 20;
const LIST_PAGE = 1000;
/** Below every adapter's limit of writes in one commit. */
const BEGUN_TOGETHER = 100;

interface CognifyRunDependencies extends BuildDependencies, JudgeDependencies, OntologyLoaderDependencies {
  readonly statements: JudgeDependencies['statements'];
  readonly supersessions: JudgeDependencies['supersessions'];
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly messenger: Messenger;
  readonly vectorVersions: VectorIndexVersions;
  readonly embedders: EmbedderSource;
  readonly models: RunModelSource;
  readonly cache: ModelCache;
  readonly settings: CognifySettings;
}

/** Builds every item of the dataset whose current content has no committed generation. */
export function createCognifyRun(dependencies: CognifyRunDependencies): RunExecutor {
  const ontologies = createOntologyLoader(dependencies);
  return { kind: COGNIFY_JOB, execute: (run) => execute({ ...dependencies, ontologies }, run) };
}

type RunDependencies = CognifyRunDependencies & { readonly ontologies: OntologyLoader };

async function execute(dependencies: RunDependencies, run: ActiveRun): Promise<RunReport> {
  const { ledger, logger, models: source } = dependencies;
  const models = isCanaryDataset(run.dataset) ? source.withoutModel() : await source.current(run.scope.tenant);
  if (models.missingModelKey !== null) throw engramError('LLMAPIKeyNotSetError', models.missingModelKey);
  const [items, embedding, loaded] = await Promise.all([
    listItems(dependencies, run),
    activeEmbedding(dependencies, run.scope),
    dependencies.ontologies.load(run, models.keepExtractions),
  ]);
  const { embedder } = embedding;
  await warnOfFormerModel(dependencies, run, embedding);
  const entries = await ledger.entries(
    run.scope,
    items.map(({ id }) => id),
  );
  const live = items.filter(({ id }) => entries.get(id)?.erased !== true);
  run.plan(live.map(({ id }) => id));
  const totals = createTotals();
  const open = live.filter((item) => !isBuilt(entries.get(item.id), item));
  logger.info('cognify.items', { runId: run.id, datasetId: run.dataset.id, items: live.length, open: open.length });
  for (const item of live) {
    const entry = entries.get(item.id);
    if (!isBuilt(entry, item)) continue;
    // This run committed it before its worker was lost.
    const isOurs = entry.runId === run.id;
    if (isOurs) totals.addCounts(entry);
    await run.itemEnded({ item: item.id, status: isOurs ? 'completed' : 'already_completed' }, null);
  }
  const failures = createItemFailures(dependencies, run, { isNothingBuilt: open.length === live.length });
  try {
    const { ontology } = loaded;
    await buildAll(dependencies, run, { models, embedder, ontology, open, entries, totals, failures });
    await failures.end();
  } finally {
    // Also when an item failed: the others are built.
    if (!run.signal.aborted) await tryJudgeStatements(dependencies, run.scope);
  }
  const unused = unusedModelOptions(run.options as CognifyOptions, models.keepExtractions);
  const warnings = [unused, loaded.warning].filter((text) => text !== null);
  const warned = warnings.length === 0 ? {} : { warnings };
  return { counts: { ...totals.counts(), ...failures.counts(), ...warned }, ...failures.report() };
}

/** Logs that the dataset keeps its former embedding model although another one is configured now. */
async function warnOfFormerModel(
  { embedders, logger }: CognifyRunDependencies,
  run: ActiveRun,
  { embedder, isSettled, requested }: ActiveEmbedding,
): Promise<void> {
  if (!isSettled) return;
  // An error of the configured model is reported where it is configured.
  const wanted = await embedders.wanted(run.scope.tenant, requested).catch(() => null);
  if (wanted === null || isSameSpace(wanted.space, embedder.space)) return;
  logger.warn('cognify.embedding.former', {
    runId: run.id,
    datasetId: run.dataset.id,
    embedding: embedder.space,
    configured: wanted.space,
    hint: 'The dataset keeps the embedding model that made its vectors. Forget its memory (memory_only) and cognify it again to use the configured one; for a Dataset resource the vectors are migrated automatically.',
  });
}

interface OpenItems {
  readonly models: RunModels;
  /** The one in use when the run begins; a migration may bring another. */
  readonly embedder: Embedder;
  readonly ontology: AppliedOntology | null;
  readonly open: readonly DataItem[];
  readonly entries: ReadonlyMap<DataItemId, LedgerEntry>;
  readonly totals: Totals;
  readonly failures: ItemFailures;
}

async function buildAll(
  dependencies: CognifyRunDependencies,
  run: ActiveRun,
  { models, embedder, ontology, open, entries, totals, failures }: OpenItems,
): Promise<void> {
  const { vectorVersions, cache, settings, logger, tracer = NO_TRACER } = dependencies;
  const options = run.options as CognifyOptions;
  const context: ModelCallContext = {
    scope: run.scope,
    purpose: 'extraction',
    runId: run.id,
    payer: run.payer,
    signal: run.signal,
    onUsage: run.meter,
  };
  const writer = createIndexWriter({
    ...dependencies,
    ...settings,
    scope: run.scope,
    vectors: vectorVersions.inVersions,
    activeVersion: () => activeEmbedding(dependencies, run.scope),
    written: (version) => vectorVersions.written(run.scope, version),
    context,
  });
  const request = {
    run,
    writer,
    begin: createWorkGroups<Attempt, number | null>({
      together: (attempts) => dependencies.ledger.beginAll(run.scope, attempts, (item) => !entries.has(item)),
      gather: nextTurn,
      concernsAll: () => true,
      maxCount: BEGUN_TOGETHER,
      maxSize: BEGUN_TOGETHER,
      sizeOf: () => 1,
    }),
    limit: createConcurrencyLimit(settings.extractionConcurrency),
    ask: createAskExtractor(models.extractor, models.keepExtractions ? cache : null, run.scope),
    nameOfUser: createNameOfUser(dependencies, run),
    options,
    ontology,
    sizes: chunkSizes(settings, Math.min(models.maxChunkTokens, embedder.maxInputTokens), options),
    gatherVectors: (origin: Provenance, versions: ReadonlySet<number>, signal: AbortSignal) =>
      gatherVectors(dependencies, run.scope, { origin, versions, context: { ...context, signal } }),
    chunksPerBatch: Math.min(options.chunksPerBatch ?? Number.POSITIVE_INFINITY, settings.chunksPerBatch),
  };
  const triesBefore = (item: DataItem) => triesOf(entries.get(item.id), contentVersion(item));
  let done = 0;
  const build = async ({ item, position }: (typeof places)[number], signal: AbortSignal): Promise<void> => {
    const tries = triesBefore(item);
    let built: BuiltItem | null;
    try {
      built = await tracer.step('item', { item_id: item.id }, () =>
        buildItem(dependencies, { ...request, item, triesBefore: tries, position, signal }),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ContentMissingError && !(await isCurrent(dependencies, run, item))) {
        return run.drop(item.id);
      }
      return failures.add(item, error, tries + 1);
    }
    if (built === null) return run.drop(item.id);
    totals.add(built);
    failures.succeeded();
    await run.itemEnded({ item: item.id, status: 'completed' }, LAST_STAGE);
    done += 1;
    const fields = { runId: run.id, items: open.length, done, stage: LAST_STAGE.name };
    if (isProgressTick(done, open.length)) logger.info('cognify.progress', fields);
  };
  const places = open.map((item, position) => ({ item, position }));
  const { first = [], last = [], aside = [] } = Object.groupBy(places, ({ item }) => turnOf(triesBefore(item)));
  for (const { item } of aside) await failures.setAside(item, entries.get(item.id) as LedgerEntry);
  await runItems(first, { limit: options.dataPerBatch ?? DEFAULT_DATA_PER_BATCH, signal: run.signal }, build);
  // One at a time: if the process dies now, only this item can be the cause.
  await runItems(last, { limit: 1, signal: run.signal }, build);
}

/** `first`: beside others. `last`: alone after the others, because it is its last try. `aside`: not tried any more. */
function turnOf(tries: number): 'first' | 'last' | 'aside' {
  if (tries >= MAX_TRIES) return 'aside';
  return tries === MAX_TRIES - 1 ? 'last' : 'first';
}

/** The first failure of an item, which stops the others. */
class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/** Works on at most `limit` items at a time. The first error of `work` stops the others, waits for them and is thrown. */
async function runItems<Item>(
  items: readonly Item[],
  settings: { readonly limit: number; readonly signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([settings.signal, stop.signal]);
  await mapConcurrently(items, Math.max(1, settings.limit), async (item) => {
    if (signal.aborted) return;
    try {
      await work(item, signal);
    } catch (error) {
      // Errors after the first failure only say that the item was stopped.
      if (!signal.aborted) stop.abort(new RunStopped('another item of the run failed', { cause: error }));
    }
  });
  settings.signal.throwIfAborted();
  if (stop.signal.aborted) throw (stop.signal.reason as RunStopped).cause;
}

/** Whether the item still has this content. Replaced content is built by the run that its update starts. */
async function isCurrent({ messenger }: CognifyRunDependencies, run: ActiveRun, item: DataItem): Promise<boolean> {
  const request = { dataset: run.dataset, limit: 1, ids: [item.id] };
  const { items } = await messenger.call('ingest.DatasetItems', request, {
    requestId: run.id,
    principal: run.principal,
  });
  return items.some((present) => contentVersion(present) === contentVersion(item));
}

/** Returns the items of the dataset, oldest first. */
async function listItems({ messenger }: CognifyRunDependencies, run: ActiveRun): Promise<readonly DataItem[]> {
  const { dataset, principal, signal } = run;
  const pages = pagesOf<DataItem>((after) =>
    messenger.call(
      'ingest.DatasetItems',
      { dataset, after: after ?? undefined, limit: LIST_PAGE },
      { requestId: run.id, principal, signal },
    ),
  );
  return (await Array.fromAsync(pages)).flat();
}

function chunkSizes(settings: CognifySettings, largest: number, options: CognifyOptions): ChunkSizes {
  const asked = options.chunkSize ?? 0;
  const maxTokens = asked > 0 ? Math.min(asked, largest) : largest;
  return { maxTokens, targetTokens: asked > 0 ? maxTokens : Math.min(settings.automaticChunkTokens, largest) };
}

type Totals = ReturnType<typeof createTotals>;

/** Counts what the run built. An entity of several documents counts once, except in documents built before a restart. */
function createTotals() {
  const entities = new Set<string>();
  let documents = 0;
  let chunks = 0;
  let earlierEntities = 0;
  let relationships = 0;
  let failedChunks = 0;
  return {
    add(item: BuiltItem) {
      documents += 1;
      chunks += item.chunks;
      relationships += item.relationships;
      failedChunks += item.failedChunks;
      for (const id of item.entityIds) entities.add(id);
    },
    addCounts({ counts }: LedgerEntry) {
      documents += 1;
      chunks += Number(counts?.['chunks'] ?? 0);
      earlierEntities += Number(counts?.['entities'] ?? 0);
      relationships += Number(counts?.['relationships'] ?? 0);
      failedChunks += Number(counts?.['failed_chunks'] ?? 0);
    },
    counts: () => ({
      documents,
      chunks,
      entities: entities.size + earlierEntities,
      relationships,
      ...(failedChunks === 0 ? {} : { failed_chunks: failedChunks }),
    }),
  };
}

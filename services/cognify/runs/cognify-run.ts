import { isCanaryDataset } from '../../common/domain/canary.ts';
import { contentVersion, type DataItem } from '../../common/domain/data-item.ts';
import { unusedModelOptions } from '../../common/domain/unused-options.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { CognifyOptions } from '../../common/platform/messaging/methods/cognify.ts';
import { datasetItems } from '../../common/platform/messaging/methods/ingest.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import type { Embedder } from '../../common/ports/models.ts';
import type { Clock } from '../../common/ports/system.ts';
import { NO_TRACER } from '../../common/ports/tracer.ts';
import { type ActiveEmbedding, activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import { isBuilt, type Ledger, type LedgerEntry, MAX_TRIES, triesOf } from '../../common/records/cognify/ledger.ts';
import type { VectorHomes } from '../../common/records/cognify/vector-homes.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import { isSameSpace } from '../../common/storage/ports/vector-index.ts';
import { gatherVectors } from '../migration/gather-vectors.ts';
import { createAskExtractor } from '../pipeline/ask-extractor.ts';
import { type BuildDependencies, type BuiltItem, buildItem } from '../pipeline/build-item.ts';
import type { ChunkSizes } from '../pipeline/chunk-item.ts';
import { itemPages } from '../pipeline/dataset-items.ts';
import { createIndexWriter } from '../pipeline/index-writer.ts';
import { createItemFailures, type ItemFailures, LAST_STAGE } from '../pipeline/item-failures.ts';
import { ContentMissingError } from '../pipeline/load-document.ts';
import { createPriorityGate } from '../pipeline/priority-gate.ts';
import { runItems } from '../pipeline/run-items.ts';
import type { CognifySettings, RunModelSource, RunModels } from '../pipeline/settings.ts';
import type { ModelCache } from '../repositories/model-cache.ts';
import { type JudgeDependencies, judgeOrLeave } from '../statements/judge-statements.ts';
import { COGNIFY_JOB } from './cognify-job.ts';
import { isProgressTick } from './progress-rule.ts';
import type { ActiveRun, RunExecutor, RunReport } from './run-executor.ts';

const DEFAULT_DATA_PER_BATCH = 20;

export interface CognifyRunDependencies extends BuildDependencies, JudgeDependencies {
  readonly statements: JudgeDependencies['statements'];
  readonly supersessions: JudgeDependencies['supersessions'];
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly messenger: Messenger;
  readonly homes: Pick<VectorHomes, 'active' | 'state' | 'written' | 'inHomes'>;
  readonly embedders: EmbedderSource;
  readonly models: RunModelSource;
  readonly cache: ModelCache;
  readonly settings: CognifySettings;
}

/** Builds every item of the dataset whose present content has no committed generation. */
export function createCognifyRun(dependencies: CognifyRunDependencies): RunExecutor {
  return { kind: COGNIFY_JOB, execute: (run) => execute(dependencies, run) };
}

async function execute(dependencies: CognifyRunDependencies, run: ActiveRun): Promise<RunReport> {
  const { ledger, logger } = dependencies;
  const { models: source } = dependencies;
  const models = isCanaryDataset(run.dataset) ? source.withoutModel() : await source.current(run.scope.tenant);
  if (models.missingModelKey !== null) throw engramError('LLMAPIKeyNotSetError', models.missingModelKey);
  const [items, embedding] = await Promise.all([
    listItems(dependencies, run),
    activeEmbedding(dependencies, run.scope),
  ]);
  const { embedder } = embedding;
  await tellOfFormerModel(dependencies, run, embedding);
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
    // Committed by this run before its worker was lost.
    const isOurs = entry.runId === run.id;
    if (isOurs) totals.addCounts(entry);
    await run.itemEnded({ item: item.id, status: isOurs ? 'completed' : 'already_completed' }, null);
  }
  const failures = createItemFailures(dependencies, run, { isNothingBuilt: open.length === live.length });
  try {
    await buildAll(dependencies, run, { models, embedder, open, entries, totals, failures });
    await failures.end();
  } finally {
    // Whatever became of one item, the others are there.
    if (!run.signal.aborted) await judgeOrLeave(dependencies, run.scope);
  }
  const unused = unusedModelOptions(run.options as CognifyOptions, models.keepExtractions);
  const warnings = unused === null ? {} : { warnings: [unused] };
  return { counts: { ...totals.counts(), ...failures.counts(), ...warnings }, ...failures.report() };
}

/** New vectors go beside those that are there: who configured another model would wait for it in vain. */
async function tellOfFormerModel(
  { embedders, logger }: Pick<CognifyRunDependencies, 'embedders' | 'logger'>,
  run: ActiveRun,
  { embedder, isSettled, wish }: ActiveEmbedding,
): Promise<void> {
  if (!isSettled) return;
  // What is wrong with it is told where it is set.
  const wanted = await embedders.wanted(run.scope.tenant, wish).catch(() => null);
  if (wanted === null || isSameSpace(wanted.space, embedder.space)) return;
  logger.warn('cognify.embedding.former', {
    ...{ runId: run.id, datasetId: run.dataset.id, embedding: embedder.space, configured: wanted.space },
    hint: 'The dataset keeps the embedding model that made its vectors. Forget its memory (memory_only) and cognify it again to have the configured one; a Dataset resource is moved by itself.',
  });
}

async function buildAll(
  dependencies: CognifyRunDependencies,
  run: ActiveRun,
  {
    models,
    embedder,
    open,
    entries,
    totals,
    failures,
  }: {
    readonly models: RunModels;
    /** The one that is in force when the run begins; a migration may bring another. */
    readonly embedder: Embedder;
    readonly open: readonly DataItem[];
    readonly entries: ReadonlyMap<DataItemId, LedgerEntry>;
    readonly totals: Totals;
    readonly failures: ItemFailures;
  },
): Promise<void> {
  const { settings, logger, tracer = NO_TRACER } = dependencies;
  const options = run.options as CognifyOptions;
  const context = {
    ...{ scope: run.scope, purpose: 'extraction' as const, runId: run.id, payer: run.payer },
    ...{ signal: run.signal, onUsage: run.meter },
  };
  const writer = createIndexWriter({
    ...dependencies,
    scope: run.scope,
    vectors: dependencies.homes.inHomes,
    home: () => activeEmbedding(dependencies, run.scope),
    written: (home) => dependencies.homes.written(run.scope, home),
    context,
    embeddingBatchSize: settings.embeddingBatchSize,
    embeddingConcurrency: settings.embeddingConcurrency,
  });
  const request = {
    run,
    writer,
    gate: createPriorityGate(settings.extractionConcurrency),
    ask: createAskExtractor(models.extractor, models.keepExtractions ? dependencies.cache : null, run.scope),
    options,
    sizes: chunkSizes(settings, Math.min(models.maxChunkTokens, embedder.maxInputTokens), options),
    gatherVectors: (origin: Provenance, homes: ReadonlySet<number>, signal: AbortSignal) =>
      gatherVectors(dependencies, run.scope, { origin, homes, context: { ...context, signal } }),
    chunksPerBatch: Math.min(options.chunksPerBatch ?? Number.POSITIVE_INFINITY, settings.chunksPerBatch),
  };
  let done = 0;
  const build = async (item: DataItem, position: number, signal: AbortSignal): Promise<void> => {
    const triesBefore = triesOf(entries.get(item.id), contentVersion(item));
    let built: BuiltItem | null;
    try {
      built = await tracer.step('item', { item_id: item.id }, () =>
        buildItem(dependencies, { ...request, item, triesBefore, position, signal }),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ContentMissingError && !(await isAsListed(dependencies, run, item))) {
        return run.drop(item.id);
      }
      return failures.add(item, error, triesBefore + 1);
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
  const {
    first = [],
    last = [],
    aside = [],
  } = Object.groupBy(places, ({ item }) => turnOf(triesOf(entries.get(item.id), contentVersion(item))));
  for (const { item } of aside) await failures.setAside(item, entries.get(item.id) as LedgerEntry);
  const limit = options.dataPerBatch ?? DEFAULT_DATA_PER_BATCH;
  const work = ({ item, position }: (typeof places)[number], signal: AbortSignal) => build(item, position, signal);
  await runItems(first, { limit, signal: run.signal }, work);
  // Whatever kills the process now was alone: no neighbour is blamed for it.
  await runItems(last, { limit: 1, signal: run.signal }, work);
}

/** `first`: beside others. `last`: alone, when the others are done, because it is its last try. `aside`: not any more. */
function turnOf(tries: number): 'first' | 'last' | 'aside' {
  if (tries >= MAX_TRIES) return 'aside';
  return tries === MAX_TRIES - 1 ? 'last' : 'first';
}

/** Content that was replaced since is built by the run that its update asks for. */
async function isAsListed({ messenger }: CognifyRunDependencies, run: ActiveRun, item: DataItem): Promise<boolean> {
  const request = { dataset: run.dataset, limit: 1, ids: [item.id] };
  const { items } = await messenger.call(datasetItems, request, { requestId: run.id, principal: run.principal });
  return items.some((present) => contentVersion(present) === contentVersion(item));
}

async function listItems({ messenger }: CognifyRunDependencies, run: ActiveRun): Promise<readonly DataItem[]> {
  const context = { requestId: run.id, principal: run.principal, signal: run.signal };
  return (await Array.fromAsync(itemPages(messenger, run.dataset, context))).flat();
}

function chunkSizes(settings: CognifySettings, greatest: number, options: CognifyOptions): ChunkSizes {
  const asked = options.chunkSize ?? 0;
  const maxTokens = asked > 0 ? Math.min(asked, greatest) : greatest;
  return { maxTokens, targetTokens: asked > 0 ? maxTokens : Math.min(settings.automaticChunkTokens, greatest) };
}

interface Totals {
  add(item: BuiltItem): void;
  addCounts(entry: LedgerEntry): void;
  counts(): Record<string, number>;
}

/** What the run built. An entity of several documents counts once, except in documents built before a restart. */
function createTotals(): Totals {
  const entities = new Set<string>();
  let documents = 0;
  let chunks = 0;
  let earlierEntities = 0;
  let relationships = 0;
  let failedChunks = 0;
  return {
    add(item) {
      documents += 1;
      chunks += item.chunks;
      relationships += item.relationships;
      failedChunks += item.failedChunks;
      for (const id of item.entityIds) entities.add(id);
    },
    addCounts({ counts }) {
      documents += 1;
      chunks += Number(counts?.['chunks'] ?? 0);
      earlierEntities += Number(counts?.['entities'] ?? 0);
      relationships += Number(counts?.['relationships'] ?? 0);
      failedChunks += Number(counts?.['failed_chunks'] ?? 0);
    },
    counts: () => ({
      ...{ documents, chunks, entities: entities.size + earlierEntities, relationships },
      ...(failedChunks === 0 ? {} : { failed_chunks: failedChunks }),
    }),
  };
}

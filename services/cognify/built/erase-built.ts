import { setTimeout as sleep } from 'node:timers/promises';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import type { Repetitions } from '../../common/records/ingest/repetitions.ts';
import type { DatasetCopyLeases } from '../../common/records/search/dataset-copies.ts';
import { builtCollections, memoryCollections } from '../collections.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import type { ItemBuilds } from '../pipeline/item-builds.ts';
import { removeRows } from '../pipeline/remove-rows.ts';
import { type ModelCache, modelCacheCollection } from '../repositories/model-cache.ts';
import { tryJudgeStatements } from '../statements/judge-statements.ts';

interface EraseRequest {
  readonly dataset: DatasetRef;
  /** Absent: everything of the dataset. */
  readonly items?: readonly string[] | undefined;
  /** Erases what was built; the items stay and may be built again. */
  readonly memoryOnly?: boolean | undefined;
}

interface Erased {
  readonly removed: {
    readonly text: number;
    readonly vectors: number;
    readonly graph: number;
    readonly answers: number;
  };
  /** Rows that are left; 0 after a complete erasure. */
  readonly residue: number;
  /** Items that were built before. */
  readonly itemsReset: number;
}

export interface ErasureDependencies
  extends Pick<
    CognifyDependencies,
    | 'text'
    | 'vectors'
    | 'graph'
    | 'vectorVersions'
    | 'ledger'
    | 'engine'
    | 'store'
    | 'logger'
    | 'clock'
    | 'statements'
    | 'supersessions'
  > {
  readonly cache: ModelCache;
  readonly builds: ItemBuilds;
  readonly repetitions: Repetitions;
  readonly copies: Pick<DatasetCopyLeases, 'recall'>;
}

/** How long an erasure waits for work on its items to stop. */
const STOP_MS = 10_000;
const POLL_MS = 20;
/** Items whose rows are removed at the same time. */
const AT_ONCE = 16;

/**
 * Erases what was built from a dataset or from some of its items. The ledger entries become tombstones (or are reset) first,
 * which hides the rows and keeps builds in flight from committing. Then builds are stopped, their roll-back is awaited, and
 * every row is removed and counted, with cached model answers unless `memoryOnly`, and search processes drop their copies.
 */
export async function eraseBuilt(dependencies: ErasureDependencies, request: EraseRequest): Promise<Erased> {
  const { ledger, builds, engine } = dependencies;
  const scope = scopeOf(request.dataset);
  const isEverything = request.items === undefined;
  if (isEverything) await engine.cancelDataset(scope, STOP_MS);
  const before = isEverything
    ? await ledger.allEntries(scope)
    : await ledger.entries(scope, (request.items ?? []).map(dataItemId));
  const items = isEverything ? [...before.keys()] : [...new Set((request.items ?? []).map(dataItemId))];
  const itemsReset = [...before.values()].filter(({ erased, generation }) => !erased && generation > 0).length;
  await (request.memoryOnly ? ledger.reset(scope, items, nowOf(dependencies)) : ledger.tombstone(scope, items));
  builds.stop(items);
  await untilSettled(dependencies, scope, items);
  const removed = isEverything
    ? await removeAll(dependencies, request, items)
    : await removeItems(dependencies, request, items);
  await dependencies.copies.recall(scope);
  // Statements that the items had superseded become valid again.
  if (!isEverything) await tryJudgeStatements(dependencies, scope);
  const residue = await residueOf(dependencies, request, isEverything ? null : items);
  // Last, because it says where the vectors are.
  if (isEverything && !request.memoryOnly) await dependencies.vectorVersions.forget(scope);
  return { removed, residue, itemsReset };
}

function nowOf({ clock }: ErasureDependencies): string {
  return clock.now().toISOString();
}

/** Waits until no build of the items is in flight, in any process; at most `STOP_MS`, because a worker may be dead. */
async function untilSettled(
  { ledger, logger }: ErasureDependencies,
  scope: DatasetScope,
  items: readonly DataItemId[],
): Promise<void> {
  for (let waitedMs = 0; waitedMs < STOP_MS; waitedMs += POLL_MS) {
    const entries = await ledger.entries(scope, items);
    if (![...entries.values()].some(({ pending }) => pending === true)) return;
    await sleep(POLL_MS);
  }
  logger.warn('cognify.erase.unsettled', { datasetId: scope.dataset, items: items.length });
}

async function removeItems(
  dependencies: ErasureDependencies,
  request: EraseRequest,
  items: readonly DataItemId[],
): Promise<Erased['removed']> {
  const scope = scopeOf(request.dataset);
  const total = { text: 0, vectors: 0, graph: 0 };
  for (const slice of slices(items, AT_ONCE)) {
    for (const removed of await Promise.all(slice.map((item) => removeRows(dependencies, scope, { item })))) {
      total.text += removed.text;
      total.vectors += removed.vectors;
      total.graph += removed.graph;
    }
  }
  // When only the memory is erased the items stay, and so do the model answers about them, which were paid for.
  return { ...total, answers: request.memoryOnly ? 0 : await dependencies.cache.remove(scope, items) };
}

async function removeAll(
  dependencies: ErasureDependencies,
  request: EraseRequest,
  items: readonly DataItemId[],
): Promise<Erased['removed']> {
  const { text, vectors, graph, ledger, builds, store } = dependencies;
  const scope = scopeOf(request.dataset);
  const before = await ledger.entries(scope, items);
  const rows = await rowCounts(dependencies, scope, null).catch(noneWhenDamaged);
  await Promise.all([text.drop(scope), vectors.drop(scope), graph.drop(scope)]);
  const answers = request.memoryOnly ? 0 : await dependencies.cache.count(scope);
  await eraseCollections(
    store,
    scope,
    request.memoryOnly ? memoryCollections : [...memoryCollections, ...builtCollections],
  );
  // A build that began after the reset has lost rows by the drop: it must not commit either.
  const late = [...(await ledger.allEntries(scope))]
    .filter(([item, entry]) => entry.lastGeneration !== before.get(item)?.lastGeneration)
    .map(([item]) => item);
  if (late.length > 0) {
    await (request.memoryOnly ? ledger.reset(scope, late, nowOf(dependencies)) : ledger.tombstone(scope, late));
    builds.stop(late);
    await untilSettled(dependencies, scope, late);
    await removeItems(dependencies, request, late);
  }
  return { ...rows, answers };
}

async function residueOf(
  dependencies: ErasureDependencies,
  request: EraseRequest,
  items: readonly DataItemId[] | null,
): Promise<number> {
  const scope = scopeOf(request.dataset);
  const { store, cache, statements, supersessions } = dependencies;
  const { text, vectors, graph } = await rowCounts(dependencies, scope, items);
  const kept =
    items === null
      ? await store.countEach(
          scope,
          request.memoryOnly ? memoryCollections : [...memoryCollections, modelCacheCollection],
        )
      : [
          request.memoryOnly ? 0 : await cache.count(scope, items),
          await statements.count(scope, items),
          await supersessions.count(scope, items),
        ];
  return text + vectors + graph + kept.reduce((sum, count) => sum + count, 0);
}

/** Counts no rows of a damaged store: they cannot be counted, but are dropped, and the residue is counted afterwards. */
function noneWhenDamaged(error: unknown) {
  if (isEngramError(error) && error.wireName === 'CorruptStoreError') return { text: 0, vectors: 0, graph: 0 };
  throw error;
}

async function rowCounts(
  { text, vectors, graph }: ErasureDependencies,
  scope: DatasetScope,
  items: readonly DataItemId[] | null,
): Promise<{ readonly text: number; readonly vectors: number; readonly graph: number }> {
  const filter = items === null ? {} : { items };
  const evidence = await Promise.all(
    items === null ? [graph.count(scope)] : items.map((item) => graph.count(scope, { item })),
  );
  return {
    text: await text.count(scope, filter),
    vectors: await vectors.count(scope, filter),
    graph: evidence.reduce((sum, { nodeRows, edgeRows }) => sum + nodeRows + edgeRows, 0),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import { datasetConfigurationsCollection } from '../../common/records/cognify/dataset-configurations.ts';
import { indexRebuildsCollection } from '../../common/records/cognify/index-rebuilds.ts';
import { runHeadsCollection, runResultsCollection } from '../../common/records/cognify/runs.ts';
import { scheduledStartsCollection } from '../../common/records/cognify/scheduled-starts.ts';
import { statementsCollection } from '../../common/records/cognify/statements.ts';
import { supersessionsCollection } from '../../common/records/cognify/supersessions.ts';
import type { AnyCollection } from '../../common/storage/ports/document-store.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { removeRows } from '../pipeline/remove-rows.ts';
import { modelCacheCollection } from '../repositories/model-cache.ts';
import { judgeOrLeave } from '../statements/judge-statements.ts';

export interface EraseRequest {
  readonly dataset: DatasetRef;
  /** All of the dataset without them. */
  readonly items?: readonly string[];
  /** What was built goes, the items may be built again. */
  readonly memoryOnly: boolean;
}

export interface Erased {
  readonly removed: {
    readonly text: number;
    readonly vectors: number;
    readonly graph: number;
    readonly answers: number;
  };
  /** Rows still there; 0 is the promise. */
  readonly residue: number;
  /** Items that were built and are not any more. */
  readonly itemsReset: number;
}

type Dependencies = Pick<
  CognifyDependencies,
  | 'text'
  | 'vectors'
  | 'graph'
  | 'homes'
  | 'ledger'
  | 'cache'
  | 'builds'
  | 'engine'
  | 'store'
  | 'logger'
  | 'clock'
  | 'statements'
  | 'supersessions'
  | 'repetitions'
>;

/** What goes with the memory of a dataset, beside the rows of the indexes. */
const MEMORY: readonly AnyCollection[] = [statementsCollection, supersessionsCollection, indexRebuildsCollection];
/** What goes with the dataset alone: answers of models were paid for; one that is made again under its id has no past. */
const BUILT: readonly AnyCollection[] = [
  modelCacheCollection,
  runHeadsCollection,
  runResultsCollection,
  datasetConfigurationsCollection,
  scheduledStartsCollection,
];
/** How long an erasure waits for work on its items to stop. */
const STOP_MS = 10_000;
const POLL_MS = 20;
/** Items whose rows are removed at the same time. */
const AT_ONCE = 16;

/**
 * Invisible first: the ledger entry becomes a tombstone (or is reset), which also bars builds under way from committing.
 * Then those are stopped, their roll-back is awaited, and every row is removed and counted; kept answers of models too,
 * unless only the memory goes.
 */
export async function eraseBuilt(dependencies: Dependencies, request: EraseRequest): Promise<Erased> {
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
  // What the items had replaced stands again.
  if (!isEverything) await judgeOrLeave(dependencies, scope);
  const residue = await residueOf(dependencies, request, isEverything ? null : items);
  // Last: where vectors are is known until none are left.
  if (isEverything && !request.memoryOnly) await dependencies.homes.forget(scope);
  return { removed, residue, itemsReset };
}

function nowOf({ clock }: Dependencies): string {
  return clock.now().toISOString();
}

/** Until no build of the items is under way, in any process; a dead worker's is not waited for for ever. */
async function untilSettled(
  { ledger, logger }: Dependencies,
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
  dependencies: Dependencies,
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
  // The items stay when only their memory goes, and so does what models said of them: it was paid for.
  return { ...total, answers: request.memoryOnly ? 0 : await dependencies.cache.remove(scope, items) };
}

async function removeAll(
  dependencies: Dependencies,
  request: EraseRequest,
  items: readonly DataItemId[],
): Promise<Erased['removed']> {
  const { text, vectors, graph, ledger, builds, store } = dependencies;
  const scope = scopeOf(request.dataset);
  const before = await ledger.entries(scope, items);
  const rows = await rowCounts(dependencies, scope, null).catch(noneWhenDamaged);
  await Promise.all([text.drop(scope), vectors.drop(scope), graph.drop(scope)]);
  const answers = request.memoryOnly ? 0 : await dependencies.cache.count(scope);
  await eraseCollections(store, scope, request.memoryOnly ? MEMORY : [...MEMORY, ...BUILT]);
  // A build that began after the reset has lost rows to the drop: it must not commit either.
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
  dependencies: Dependencies,
  request: EraseRequest,
  items: readonly DataItemId[] | null,
): Promise<number> {
  const scope = scopeOf(request.dataset);
  const { store, cache, statements, supersessions } = dependencies;
  const { text, vectors, graph } = await rowCounts(dependencies, scope, items);
  const kept =
    items === null
      ? await store.countEach(scope, request.memoryOnly ? MEMORY : [...MEMORY, modelCacheCollection])
      : [
          request.memoryOnly ? 0 : await cache.count(scope, items),
          await statements.count(scope, items),
          await supersessions.count(scope, items),
        ];
  return text + vectors + graph + kept.reduce((sum, count) => sum + count, 0);
}

/** Nobody can count the rows of a damaged store; dropping removes it all the same, and the residue is counted after. */
function noneWhenDamaged(error: unknown) {
  if (isEngramError(error) && error.wireName === 'CorruptStoreError') return { text: 0, vectors: 0, graph: 0 };
  throw error;
}

async function rowCounts(
  { text, vectors, graph }: Dependencies,
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

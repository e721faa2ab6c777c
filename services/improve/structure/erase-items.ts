import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf } from '../../common/platform/messaging/messages.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { contextLeavesCollection, contextRootId } from '../../common/records/improve/context-summaries.ts';
import type { ElementWeights } from '../../common/records/improve/element-weights.ts';
import { createTruthState, truthCoordinatesCollection } from '../../common/records/improve/truth-state.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { allWrites, type ContextDrafts, openDrafts } from './context/drafts.ts';
import { removeLeaves } from './context/place-leaves.ts';
import { type ElementSources, presentElements } from './present-elements.ts';

/** Erases what improve derived from items that cognify has hidden: context, coordinates, and weights of removed elements. */
export async function eraseItems(
  deps: Pick<ImproveDependencies, 'store' | 'weights' | 'indexes' | 'ledger'>,
  dataset: DatasetRef,
  items: readonly DataItemId[],
): Promise<AnswerOf<'improve.Erase'>> {
  const scope = scopeOf(dataset);
  const built = await forgetItems(deps.store, scope, items);
  const rated = await forgetElements(deps, scope);
  return { removed: built.removed + rated.removed, residue: built.residue + rated.residue };
}

interface ForgottenItems {
  readonly removed: number;
  /** Rows of the items that are left. */
  readonly residue: number;
}

/**
 * Removes the coordinates of items, their leaves in the tree of global context, and the text of every summary above those. The
 * next improve that builds the tree writes these summaries again. Triplets are removed with the generations of the items.
 */
export async function forgetItems(
  store: DocumentStore,
  scope: DatasetScope,
  items: readonly DataItemId[],
): Promise<ForgottenItems> {
  const truth = createTruthState(store);
  let removed = 0;
  let residue = 0;
  for (const item of items) {
    removed += (await forgetInTree(store, scope, item)) + (await truth.forgetItem(scope, item));
    const where = { itemId: item };
    residue += await store.count(scope, contextLeavesCollection, where);
    residue += await store.count(scope, truthCoordinatesCollection, where);
  }
  return { removed, residue };
}

/** Leaves of one commit. */
const LEAVES_AT_ONCE = 300;

/** Removes the leaves of an item from the tree; a conflicting improve fails or is overwritten. Returns their number. */
async function forgetInTree(store: DocumentStore, scope: DatasetScope, item: DataItemId): Promise<number> {
  const removeSome = async (): Promise<number> => {
    const leaves = await findAll(store, scope, contextLeavesCollection, { where: { itemId: item } });
    const slice = leaves.slice(0, LEAVES_AT_ONCE);
    if (slice.length === 0) return 0;
    const drafts = await openDrafts(store, scope);
    await removeLeaves(
      drafts,
      slice.map(({ id }) => id),
    );
    await clearAbove(
      drafts,
      scope,
      slice.map(({ value }) => value.bucket),
    );
    await store.commit(scope, allWrites(drafts));
    return slice.length;
  };
  let removed = 0;
  for (;;) {
    const count = await retryOnConflict(removeSome);
    if (count === 0) return removed;
    removed += count;
  }
}

/** Clears the texts and vectors of the buckets and of all nodes above them. */
async function clearAbove({ nodes }: ContextDrafts, scope: DatasetScope, buckets: readonly string[]): Promise<void> {
  let ids = new Set<string>([...buckets, contextRootId(scope.dataset)]);
  while (ids.size > 0) {
    await nodes.load(ids);
    const parents = new Set<string>();
    for (const id of ids) {
      const node = nodes.get(id);
      if (node === undefined) continue;
      nodes.set(id, { ...node, text: '', vector: '', childMean: '', isStale: true });
      if (node.parent !== null) parents.add(node.parent);
    }
    ids = parents;
  }
}

/** Evidence rows of an element that are read first; mostly one is enough. */
const FEW_ROWS = 4;

/**
 * Removes the weights of elements without visible evidence. Called when the items are hidden. Costs a few reads per thousand
 * rated elements.
 */
async function forgetElements(sources: ElementSources & { readonly weights: ElementWeights }, scope: DatasetScope) {
  const { weights } = sources;
  const gone: string[] = [];
  for await (const rated of weights.rated(scope)) {
    const unseen = await absentAmong(sources, scope, rated, FEW_ROWS);
    gone.push(...(await absentAmong(sources, scope, unseen)));
  }
  if (gone.length === 0) return { removed: 0, residue: 0 };
  const removed = await weights.forget(scope, gone);
  return { removed, residue: (await weights.of(scope, gone)).size };
}

async function absentAmong(sources: ElementSources, scope: DatasetScope, ids: readonly string[], rows?: number) {
  if (ids.length === 0) return [];
  const present = await presentElements(sources, scope, { nodes: ids, edges: ids }, rows);
  return ids.filter((id) => !present.has(id));
}

import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { contextLeavesCollection, contextRootId } from '../../common/records/improve/context-summaries.ts';
import { createTruthState, truthCoordinatesCollection } from '../../common/records/improve/truth-state.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { allWrites, type ContextDrafts, openDrafts } from './context/drafts.ts';
import { removeLeaves } from './context/place-leaves.ts';

export interface ForgottenItems {
  readonly removed: number;
  /** Rows of the items that are still there. */
  readonly residue: number;
}

/**
 * Takes items out of what was built over the dataset: their coordinates, their places in the tree of global context, and
 * the text of every summary above those, which may tell of them. The next improve that builds the tree writes these anew.
 * Triplets are rows of the items' generations and go with those.
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

/** An improve that writes at the same time fails, or is written over. */
const MAX_ATTEMPTS = 20;
/** Of one commit. */
const LEAVES_AT_ONCE = 300;

async function forgetInTree(store: DocumentStore, scope: DatasetScope, item: DataItemId): Promise<number> {
  let removed = 0;
  for (let failures = 0; ; ) {
    const leaves = await findAll(store, scope, contextLeavesCollection, { where: { itemId: item } });
    if (leaves.length === 0) return removed;
    const slice = leaves.slice(0, LEAVES_AT_ONCE);
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
    try {
      await store.commit(scope, allWrites(drafts));
      removed += slice.length;
    } catch (error) {
      failures += 1;
      if (!isWriteConflict(error) || failures === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Nothing that the nodes or those above them say is kept. */
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

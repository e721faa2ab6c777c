import { payerOf } from '../../../common/domain/budget.ts';
import { scopeOf } from '../../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import type { ModelSource } from '../../../common/ports/active-models.ts';
import { findAll } from '../../../common/records/base/find-all.ts';
import { activeEmbedding } from '../../../common/records/cognify/active-embedding.ts';
import type { Ledger } from '../../../common/records/cognify/ledger.ts';
import {
  CONTEXT_STATE_ID,
  contextLeavesCollection,
  contextRootId,
  contextState,
} from '../../../common/records/improve/context-summaries.ts';
import type { DatasetReaders } from '../../../common/storage/ports/dataset-indexes.ts';
import type { Write } from '../../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../../common/storage/ports/index-entry.ts';
import type { ImprovePass } from '../../model.ts';
import type { StructureItem, StructureItems } from '../../repositories/structure-items.ts';
import { type ItemChanges, isUnchanged, itemChanges } from '../item-changes.ts';
import { allWrites, MAX_CHILDREN, openDrafts, stateOf } from './drafts.ts';
import { addLeaves, type FreshLeaf, freshLeaves, removeLeaves } from './place-leaves.ts';
import { levelCount, placeNodes, placeRoot } from './place-nodes.ts';
import { renewVectors, type SummaryCall, type SummaryDependencies, writeSummaries } from './write-summaries.ts';

export interface ContextDependencies extends SummaryDependencies {
  readonly indexes: DatasetReaders;
  readonly ledger: Ledger;
  readonly structureItems: StructureItems;
  readonly models: ModelSource;
}

interface BuiltContext {
  /** Passages that were added, removed or changed. */
  readonly leaves: number;
  /** Nodes whose summary was written. */
  readonly nodes: number;
}

/** Limits of one commit, whichever is reached first. */
const LEAVES_AT_ONCE = 300;
const ITEMS_AT_ONCE = 300;

/**
 * Updates the tree of global context to the current content of the dataset. Work and model calls grow with the number of added,
 * removed and changed passages and the height of the tree. After a crash the placed leaves stay, and stale nodes say which
 * summaries are due.
 */
export async function buildContext(deps: ContextDependencies, pass: ImprovePass): Promise<BuiltContext> {
  const scope = scopeOf(pass.dataset);
  const [changes, state, { embedder }] = await Promise.all([
    itemChanges(deps, scope, 'global_context', pass.reads),
    contextState(deps.store, scope),
    pass.reads.once('embedding', () => activeEmbedding(deps, scope)),
  ]);
  const isRenewed = state.version === 0 || (state.value.model ?? embedder.space.model) === embedder.space.model;
  if (isUnchanged(changes) && state.value.isComplete && isRenewed) return { leaves: 0, nodes: 0 };
  const leaves = await placeItems(deps, pass, changes);
  const { languageModel } = await deps.models.current(scope.tenant);
  const { signal } = pass;
  const context = { scope, purpose: 'summarisation' as const, payer: payerOf(pass.principal), signal };
  if (!isRenewed) await renewVectors(deps, scope, { embedder, context });
  const nodes = await summariseLevels(deps, { scope, model: languageModel, context });
  await complete(deps, scope, embedder.space.model);
  return { leaves, nodes };
}

interface Step {
  readonly removed: string[];
  readonly added: FreshLeaf[];
  /** Mark items as done, in the commit of their leaves. */
  readonly writes: Write[];
}

/** Replaces the changed leaves of items, many items at a time. Returns how many leaves were removed or added. */
async function placeItems(
  deps: ContextDependencies,
  pass: ImprovePass,
  { fresh, gone, known }: ItemChanges,
): Promise<number> {
  const kept = new Set(fresh.map(({ item }) => item));
  const forgotten = gone.filter(({ item }) => !kept.has(item)).map((before) => ({ origin: null, before }));
  const items = [...forgotten, ...fresh.map((origin) => ({ origin, before: known.get(origin.item) }))];
  let leaves = 0;
  let step: Step = { removed: [], added: [], writes: [] };
  const flush = async () => {
    leaves += step.removed.length + step.added.length;
    await place(deps, pass, step);
    step = { removed: [], added: [], writes: [] };
  };
  for (const item of items) {
    pass.signal.throwIfAborted();
    const { removed, added } = await differences(deps, scopeOf(pass.dataset), item);
    step.removed.push(...removed);
    for (const leaf of added) {
      if (step.added.length >= LEAVES_AT_ONCE) await flush();
      step.added.push(leaf);
    }
    step.writes.push(...itemWrites(deps, item.origin, item.before));
    if (step.added.length + step.removed.length >= LEAVES_AT_ONCE || step.writes.length >= ITEMS_AT_ONCE) await flush();
  }
  if (step.writes.length > 0) await flush();
  return leaves;
}

async function differences(
  { store, indexes }: ContextDependencies,
  scope: DatasetScope,
  { origin, before }: { readonly origin: Provenance | null; readonly before: StructureItem | undefined },
): Promise<Pick<Step, 'removed' | 'added'>> {
  const item = origin?.item ?? before?.item ?? '';
  const fresh = origin === null ? [] : await freshLeaves(indexes, scope, origin);
  const stored = await findAll(store, scope, contextLeavesCollection, { where: { itemId: item } });
  const known = new Map(stored.map(({ id, value }) => [id, value]));
  const wanted = new Map(fresh.map((leaf) => [leaf.id, leaf]));
  return {
    removed: stored.filter(({ id, value }) => !isSame(value, wanted.get(id))).map(({ id }) => id),
    added: [...wanted.values()].filter((leaf) => !isSame(leaf, known.get(leaf.id))),
  };
}

/** Places the leaves of a step in one commit. */
async function place(
  { store }: ContextDependencies,
  { dataset, signal }: ImprovePass,
  { removed, added, writes }: Step,
): Promise<void> {
  signal.throwIfAborted();
  const scope = scopeOf(dataset);
  const drafts = await openDrafts(store, scope);
  if (removed.length > 0) await removeLeaves(drafts, removed);
  if (added.length > 0) await addLeaves(store, scope, drafts, added);
  await store.commit(scope, [...allWrites(drafts), ...writes]);
}

function itemWrites(
  { structureItems }: ContextDependencies,
  origin: Provenance | null,
  before: StructureItem | undefined,
): readonly Write[] {
  if (origin !== null) return [structureItems.write('global_context', { ...origin, isDone: true }, before)];
  return before === undefined ? [] : [structureItems.removeWrite('global_context', before)];
}

function isSame(
  left: Pick<FreshLeaf, 'print' | 'entities'>,
  right: Pick<FreshLeaf, 'print' | 'entities'> | undefined,
): boolean {
  return right !== undefined && left.print === right.print && left.entities.join() === right.entities.join();
}

/** Writes due summaries level by level, and places nodes without a parent, up to the root. */
async function summariseLevels(deps: ContextDependencies, call: SummaryCall): Promise<number> {
  const { store } = deps;
  const { scope } = call;
  const root = contextRootId(scope.dataset);
  let written = 0;
  for (let level = 0; ; level++) {
    written += await writeSummaries(deps, call, level);
    const [here, above] = await Promise.all([levelCount(store, scope, level), levelCount(store, scope, level + 1)]);
    if (above > 0 || here > MAX_CHILDREN) {
      await placeNodes(store, scope, level);
      continue;
    }
    await placeRoot(store, scope, { level, root });
    return written + (await writeSummaries(deps, call, level + 1));
  }
}

async function complete({ store }: ContextDependencies, scope: DatasetScope, model: string): Promise<void> {
  const drafts = await openDrafts(store, scope);
  drafts.state.set(CONTEXT_STATE_ID, { ...stateOf(drafts), isComplete: true, model });
  await store.commit(scope, allWrites(drafts));
}

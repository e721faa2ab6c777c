import { payerOf } from '../../../common/domain/budget.ts';
import { cosine, dotProduct, unitVector, vectorOfText } from '../../../common/domain/vector-text.ts';
import { scopeOf } from '../../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import type { ModelSource } from '../../../common/ports/active-models.ts';
import { findAll } from '../../../common/records/base/find-all.ts';
import { activeEmbedding } from '../../../common/records/cognify/active-embedding.ts';
import type { Ledger } from '../../../common/records/cognify/ledger.ts';
import {
  CONTEXT_STATE_ID,
  type ContextNode,
  contextLeavesCollection,
  contextNodesCollection,
  contextRootId,
  contextState,
} from '../../../common/records/improve/context-summaries.ts';
import type { DatasetReaders } from '../../../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore, Stored, Write } from '../../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../../common/storage/ports/index-entry.ts';
import type { ImprovePass } from '../../model.ts';
import type { StructureItem, StructureItems } from '../../repositories/structure-items.ts';
import { type ItemChanges, isUnchanged, itemChanges } from '../item-changes.ts';
import { allWrites, Drafts, MAX_CHILDREN, newNode, newNodeId, openDrafts, stateOf } from './drafts.ts';
import { addLeaves, type FreshLeaf, freshLeaves, removeLeaves } from './place-leaves.ts';
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
async function placeItems(deps: ContextDependencies, pass: ImprovePass, { fresh, gone, known }: ItemChanges) {
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

function isSame(left: Pick<FreshLeaf, 'print' | 'entities'>, right: Pick<FreshLeaf, 'print' | 'entities'> | undefined) {
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

/** Maximum mean distance to the children of a node that a node is added to. */
const MAX_DISTANCE = 0.5;
/** Nodes that are placed together. */
const WINDOW = 256;
/** Open nodes that are considered. */
const MAX_OPEN = 256;

type Node = Stored<ContextNode>;

/** Gives a parent to the nodes of a level without one: a near existing node, else a new one. */
async function placeNodes(store: DocumentStore, scope: DatasetScope, level: number): Promise<void> {
  const isNewLevel = (await levelCount(store, scope, level + 1)) === 0;
  for (;;) {
    const where = { level, parent: { exists: false }, isRoot: false };
    const { items } = await store.find(scope, contextNodesCollection, {
      where,
      sort: [{ field: 'id' }],
      limit: WINDOW,
    });
    if (items.length === 0) return;
    const nodes = new Drafts(store, scope, contextNodesCollection);
    await nodes.load(items.map(({ id }) => id));
    if (isNewLevel) await cluster({ nodes, scope }, level, items);
    else await join(store, { nodes, scope }, level, items);
    await store.commit(scope, nodes.writes());
  }
}

/** Counts the nodes of a level, without the root. */
function levelCount(store: DocumentStore, scope: DatasetScope, level: number): Promise<number> {
  return store.count(scope, contextNodesCollection, { level, isRoot: false });
}

interface Target {
  readonly nodes: Drafts<ContextNode>;
  readonly scope: DatasetScope;
}

/** Groups each node with its nearest neighbours under a new parent. */
async function cluster({ nodes, scope }: Target, level: number, items: readonly Node[]): Promise<void> {
  const vectors = new Map(items.map(({ id, value }) => [id, vectorOfText(value.vector)]));
  const free = new Set(items.map(({ id }) => id));
  for (const { id: seed } of items) {
    if (!free.delete(seed)) continue;
    const own = vectors.get(seed) ?? new Float32Array();
    const near = [...free]
      .map((id) => ({ id, similarity: cosine(own, vectors.get(id) ?? new Float32Array()) }))
      .sort((left, right) => right.similarity - left.similarity)
      .slice(0, MAX_CHILDREN - 1)
      .map(({ id }) => id);
    for (const id of near) free.delete(id);
    await adopt({ nodes, scope }, level, [seed, ...near]);
  }
}

async function join(store: DocumentStore, { nodes, scope }: Target, level: number, items: readonly Node[]) {
  const where = { level: level + 1, isOpen: true, isRoot: false };
  const page = await store.find(scope, contextNodesCollection, { where, sort: [{ field: 'id' }], limit: MAX_OPEN });
  await nodes.load(page.items.map(({ id }) => id));
  const open = new Map(page.items.map(({ id, value }) => [id, vectorOfText(value.childMean)]));
  for (const { id, value } of items) {
    const own = unitVector(vectorOfText(value.vector));
    const near = [...open]
      // The mean cosine with the children is the cosine with the mean of their unit vectors.
      .map(([parent, mean]) => ({ parent, distance: 1 - dotProduct(own, mean) }))
      .filter(({ distance }) => distance <= MAX_DISTANCE)
      .sort(
        (left, right) => left.distance - right.distance || sizeOf(nodes, left.parent) - sizeOf(nodes, right.parent),
      );
    const [best] = near;
    const parent = best === undefined ? undefined : nodes.get(best.parent);
    if (best === undefined || parent === undefined) {
      open.set(await adopt({ nodes, scope }, level, [id]), own);
      continue;
    }
    const children = [...parent.children, id].toSorted();
    const isOpen = children.length < MAX_CHILDREN;
    nodes.set(best.parent, { ...parent, children, isOpen, isStale: true });
    setParent(nodes, id, best.parent);
    if (!isOpen) open.delete(best.parent);
  }
}

function sizeOf(nodes: Drafts<ContextNode>, id: string): number {
  return nodes.get(id)?.children.length ?? 0;
}

async function adopt({ nodes, scope }: Target, level: number, children: readonly string[]): Promise<string> {
  const id = await newNodeId({ nodes }, scope, level + 1, children);
  nodes.set(id, newNode(level + 1, children));
  for (const child of children) setParent(nodes, child, id);
  return id;
}

function setParent(nodes: Drafts<ContextNode>, id: string, parent: string): void {
  const node = nodes.get(id);
  if (node !== undefined) nodes.set(id, { ...node, parent });
}

/** Places the root above the nodes of the highest level; removes it when there are none. */
async function placeRoot(
  store: DocumentStore,
  scope: DatasetScope,
  { level, root }: { readonly level: number; readonly root: string },
): Promise<void> {
  const where = { level, isRoot: false };
  const { items } = await store.find(scope, contextNodesCollection, { where, sort: [{ field: 'id' }], limit: WINDOW });
  const nodes = new Drafts(store, scope, contextNodesCollection);
  await nodes.load([root]);
  const children = items.map(({ id }) => id);
  const before = nodes.get(root);
  if (children.length === 0) {
    if (before !== undefined) nodes.delete(root);
  } else {
    nodes.set(root, { ...newNode(level + 1, children, { isRoot: true, isOpen: false }), text: before?.text ?? '' });
  }
  const writes = nodes.writes();
  if (writes.length > 0) await store.commit(scope, writes);
}

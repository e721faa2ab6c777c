import { cosine, dotProduct, unitVector, vectorOfText } from '../../../common/domain/vector-text.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import { type ContextNode, contextNodesCollection } from '../../../common/records/improve/context-summaries.ts';
import type { DocumentStore, Stored } from '../../../common/storage/ports/document-store.ts';
import { Drafts, MAX_CHILDREN, newNode, newNodeId } from './drafts.ts';

/** Maximum mean distance to the children of a node that a node is added to. */
const MAX_DISTANCE = 0.5;
/** Nodes that are placed together. */
const WINDOW = 256;
/** Open nodes that are considered. */
const MAX_OPEN = 256;

type Node = Stored<ContextNode>;

/** Gives a parent to the nodes of a level without one: a near existing node, else a new one. */
export async function placeNodes(store: DocumentStore, scope: DatasetScope, level: number): Promise<void> {
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
export function levelCount(store: DocumentStore, scope: DatasetScope, level: number): Promise<number> {
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

async function join(
  store: DocumentStore,
  { nodes, scope }: Target,
  level: number,
  items: readonly Node[],
): Promise<void> {
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
export async function placeRoot(
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

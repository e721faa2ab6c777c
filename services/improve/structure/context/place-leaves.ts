import { RELATIONS, type SummaryPayload } from '../../../common/domain/index-rows.ts';
import { sha256 } from '../../../common/kernel/hashes.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import { slices } from '../../../common/kernel/slices.ts';
import {
  CONTEXT_STATE_ID,
  type ContextNode,
  contextNodesCollection,
} from '../../../common/records/improve/context-summaries.ts';
import type { DatasetReaders } from '../../../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../../common/storage/ports/index-entry.ts';
import { type TextRow, textPages } from '../../../common/storage/ports/text-index.ts';
import {
  type ContextDrafts,
  informationOf,
  listBucket,
  MAX_CHILDREN,
  newNode,
  newNodeId,
  similarity,
  stateOf,
  sumOf,
} from './drafts.ts';

/** Minimum similarity of passages in one bucket (cognify-improve.md §3.14). */
const MIN_OVERLAP = 0.05;

export async function removeLeaves(drafts: ContextDrafts, ids: readonly string[]): Promise<void> {
  const { leaves, nodes, entities, state } = drafts;
  await leaves.load(ids);
  const gone = ids.flatMap((id) => {
    const leaf = leaves.get(id);
    return leaf === undefined ? [] : [{ id, ...leaf }];
  });
  await nodes.load(gone.map(({ bucket }) => bucket));
  await entities.load(gone.flatMap((leaf) => leaf.entities));
  for (const leaf of gone) {
    leaves.delete(leaf.id);
    for (const entity of leaf.entities) {
      const known = entities.get(entity);
      if (known !== undefined) entities.set(entity, { ...known, count: known.count - 1 });
    }
    const bucket = nodes.get(leaf.bucket);
    if (bucket === undefined) continue;
    const children = bucket.children.filter((child) => child !== leaf.id);
    await leaves.load(children);
    const held = children.flatMap((child) => leaves.get(child)?.entities ?? []);
    const isOpen = children.length > 0 && children.length < MAX_CHILDREN;
    nodes.set(leaf.bucket, { ...bucket, children, entities: [...new Set(held)], isOpen, isStale: true });
    await listBucket(drafts, leaf.bucket, bucket);
  }
  const now = stateOf(drafts);
  state.set(CONTEXT_STATE_ID, { ...now, leaves: now.leaves - gone.length, isComplete: false });
}

/** Puts new leaves into buckets: in an empty tree around seeds, else into the most similar bucket. */
export async function addLeaves(
  store: DocumentStore,
  scope: DatasetScope,
  drafts: ContextDrafts,
  added: readonly FreshLeaf[],
): Promise<void> {
  const { entities, state } = drafts;
  await entities.load(added.flatMap((leaf) => leaf.entities));
  for (const entity of added.flatMap((leaf) => leaf.entities)) {
    const known = entities.get(entity) ?? { count: 0, buckets: [] };
    entities.set(entity, { ...known, count: known.count + 1 });
  }
  const now = stateOf(drafts);
  state.set(CONTEXT_STATE_ID, { ...now, leaves: now.leaves + added.length, isComplete: false });
  const first = await store.find(scope, contextNodesCollection, { where: { level: 0 }, limit: 1 });
  const ordered = added.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  if (first.items.length === 0) await growSeeds(scope, drafts, ordered);
  else await joinBuckets(store, scope, drafts, ordered);
}

async function growSeeds(scope: DatasetScope, drafts: ContextDrafts, added: readonly FreshLeaf[]): Promise<void> {
  const information = informationOf(drafts);
  const weighed = added.map((leaf) => ({
    leaf,
    entities: new Set(leaf.entities),
    weight: sumOf(leaf.entities, information),
  }));
  const seeds = weighed
    .filter(({ weight }) => weight > 0)
    .sort((left, right) => right.weight - left.weight || (left.leaf.id < right.leaf.id ? -1 : 1));
  const free = new Set(seeds);
  for (const seed of seeds) {
    if (!free.delete(seed)) continue;
    const members = [seed];
    const union = new Set(seed.entities);
    while (members.length < MAX_CHILDREN) {
      let best: { readonly entry: (typeof seeds)[number]; readonly score: number } | null = null;
      for (const entry of free) {
        if (entry.entities.isDisjointFrom(union)) continue;
        const score = similarity(entry.entities, union, information);
        const isBetter =
          best === null || score > best.score || (score === best.score && entry.leaf.id < best.entry.leaf.id);
        if (score >= MIN_OVERLAP && isBetter) best = { entry, score };
      }
      if (best === null) break;
      free.delete(best.entry);
      members.push(best.entry);
      for (const entity of best.entry.entities) union.add(entity);
    }
    await openBucket(
      scope,
      drafts,
      members.map(({ leaf }) => leaf),
      { entities: [...union] },
    );
  }
  const misc = weighed.filter(({ weight }) => weight === 0).map(({ leaf }) => leaf);
  for (const slice of slices(misc, MAX_CHILDREN)) {
    await openBucket(scope, drafts, slice, { isMisc: true });
  }
}

async function joinBuckets(
  store: DocumentStore,
  scope: DatasetScope,
  drafts: ContextDrafts,
  added: readonly FreshLeaf[],
): Promise<void> {
  const information = informationOf(drafts);
  let openMisc: string | null = await firstOpenMisc(store, scope);
  for (const leaf of added) {
    if (sumOf(leaf.entities, information) === 0) {
      if (openMisc !== null) await drafts.nodes.load([openMisc]);
      const bucket: ContextNode | undefined = openMisc === null ? undefined : drafts.nodes.get(openMisc);
      if (openMisc !== null && bucket?.isOpen === true) await join(drafts, openMisc, leaf);
      else openMisc = await openBucket(scope, drafts, [leaf], { isMisc: true });
      continue;
    }
    const best = await bestBucket(drafts, leaf, information);
    if (best === null) await openBucket(scope, drafts, [leaf], { entities: leaf.entities });
    else await join(drafts, best, leaf);
  }
}

async function firstOpenMisc(store: DocumentStore, scope: DatasetScope): Promise<string | null> {
  const where = { level: 0, isOpen: true, isMisc: true };
  const { items } = await store.find(scope, contextNodesCollection, { where, sort: [{ field: 'id' }], limit: 1 });
  return items[0]?.id ?? null;
}

async function bestBucket(
  { entities, nodes }: ContextDrafts,
  leaf: FreshLeaf,
  information: (entity: string) => number,
): Promise<string | null> {
  const ids = [...new Set(leaf.entities.flatMap((entity) => entities.get(entity)?.buckets ?? []))];
  await nodes.load(ids);
  const known = ids.map((id) => nodes.get(id));
  await entities.load(known.flatMap((node) => node?.entities ?? []));
  const own = new Set(leaf.entities);
  const fitting = ids.flatMap((id, index) => {
    const node = known[index];
    if (node === undefined || !node.isOpen) return [];
    const score = similarity(own, new Set(node.entities), information);
    return score < MIN_OVERLAP ? [] : [{ id, score, size: node.children.length }];
  });
  fitting.sort((left, right) => right.score - left.score || left.size - right.size || (left.id < right.id ? -1 : 1));
  return fitting[0]?.id ?? null;
}

async function openBucket(
  scope: DatasetScope,
  drafts: ContextDrafts,
  members: readonly FreshLeaf[],
  more: Partial<ContextNode>,
): Promise<string> {
  const ids = members.map(({ id }) => id);
  const bucket = await newNodeId(drafts, scope, 0, ids);
  drafts.nodes.set(bucket, newNode(0, ids, more));
  for (const leaf of members) keepLeaf(drafts, leaf, bucket);
  await listBucket(drafts, bucket, undefined);
  return bucket;
}

async function join(drafts: ContextDrafts, bucket: string, leaf: FreshLeaf): Promise<void> {
  const node = drafts.nodes.get(bucket);
  if (node === undefined) return;
  const children = [...node.children, leaf.id].toSorted();
  const entities = node.isMisc ? [] : [...new Set([...node.entities, ...leaf.entities])];
  const isOpen = children.length < MAX_CHILDREN;
  drafts.nodes.set(bucket, { ...node, children, entities, isOpen, isStale: true });
  keepLeaf(drafts, leaf, bucket);
  await listBucket(drafts, bucket, node);
}

function keepLeaf({ leaves }: ContextDrafts, { id, item, entities, print }: FreshLeaf, bucket: string): void {
  leaves.set(id, { itemId: item, bucket, entities, print });
}

/** The summary of a passage as a leaf of the tree. */
export interface FreshLeaf {
  readonly id: string;
  readonly item: string;
  /** Most mentioned first. */
  readonly entities: readonly string[];
  readonly print: string;
}

const PAGE = 100;
/** Entities of one passage; rarely mentioned ones say little about its subject. */
const MAX_ENTITIES = 12;
const EDGES_PER_CHUNK = 64;

/** Reads the summaries of one generation of an item, with the entities of their passages. */
export async function freshLeaves(
  { text, graph }: DatasetReaders,
  scope: DatasetScope,
  provenance: Provenance,
): Promise<readonly FreshLeaf[]> {
  const leaves: FreshLeaf[] = [];
  for await (const rows of textPages(text, scope, { kind: 'summary', provenance, limit: PAGE }))
    leaves.push(...(await withEntities(graph, scope, provenance, rows)));
  return leaves;
}

async function withEntities(
  graph: DatasetReaders['graph'],
  scope: DatasetScope,
  { item, generation }: Provenance,
  rows: readonly TextRow[],
): Promise<readonly FreshLeaf[]> {
  if (rows.length === 0) return [];
  const summaries = rows.map(({ id, payload }) => ({ id, ...(payload as SummaryPayload) }));
  const edges = await graph.neighbours(
    scope,
    summaries.map(({ chunkId }) => chunkId),
    { relations: [RELATIONS.contains], direction: 'out', limitPerNode: EDGES_PER_CHUNK, withProperties: false },
  );
  const own = edges.filter((edge) => edge.item === item && edge.generation === generation);
  return summaries
    .filter(({ text }) => text.trim() !== '')
    .map(({ id, chunkId, text }) => {
      const entities = own
        .filter(({ source }) => source === chunkId)
        .sort((left, right) => right.weight - left.weight || (left.target < right.target ? -1 : 1))
        .map(({ target }) => target);
      return { id, item, entities: [...new Set(entities)].slice(0, MAX_ENTITIES), print: sha256(text) };
    });
}

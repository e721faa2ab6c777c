import { cosine, vectorOfText } from '../../domain/vector-text.ts';
import type { DatasetId } from '../../kernel/brand.ts';
import { idFor } from '../../kernel/ids.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

/** A bucket of the tree of global context, with what stands for it. */
export type ContextNode = {
  /** 0 for buckets of passage summaries; the root has the highest level. */
  readonly level: number;
  readonly isRoot: boolean;
  readonly parent: string | null;
  /** Ids of summaries at level 0, of nodes above; sorted. */
  readonly children: readonly string[];
  /** There is room for another child. */
  readonly isOpen: boolean;
  /** Children without entities: they have nothing in common. */
  readonly isMisc: boolean;
  /** Children came, went or changed since the text was written. */
  readonly isStale: boolean;
  /** Entities of its children; level 0 only. */
  readonly entities: readonly string[];
  /** Empty until it is written, and again when it mentions deleted content. */
  readonly text: string;
  /** Vector of the text, see `vector-text.ts`. */
  readonly vector: string;
  /** Mean of the children's unit vectors; level 1 and above. */
  readonly childMean: string;
};

/** A passage's summary and where it stands. */
export type ContextLeaf = {
  readonly itemId: string;
  readonly bucket: string;
  readonly entities: readonly string[];
  /** SHA-256 of the summary. */
  readonly print: string;
};

/** Number of leaves with an entity, and the buckets with room that hold it. */
export type ContextEntity = { readonly count: number; readonly buckets: readonly string[] };

export type ContextState = {
  readonly leaves: number;
  /** False while a build is under way or was left in the middle. */
  readonly isComplete: boolean;
  /** Model of the nodes' vectors; absent in documents that are older than migrations. */
  readonly model?: string;
};

const shared = {
  level: 'dataset',
  owner: 'improve',
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
} as const;

export const contextNodesCollection: OwnedCollection<ContextNode> = {
  name: 'context_nodes',
  ...shared,
  indexes: [
    { fields: ['level', 'isStale'] },
    { fields: ['level', 'isOpen', 'isMisc'] },
    { fields: ['level', 'isRoot', 'parent'] },
  ],
};
export const contextLeavesCollection: OwnedCollection<ContextLeaf> = {
  name: 'context_leaves',
  ...shared,
  indexes: [{ fields: ['itemId'] }],
};
export const contextEntitiesCollection: OwnedCollection<ContextEntity> = {
  name: 'context_entities',
  ...shared,
  indexes: [],
};
export const contextStateCollection: OwnedCollection<ContextState> = {
  name: 'context_state',
  ...shared,
  indexes: [],
};

export const CONTEXT_STATE_ID = 'state';

export function contextRootId(dataset: DatasetId): string {
  return idFor('GlobalContextSummary', `${dataset}:root`);
}

/** A document that is read, changed in memory and written once; version 0: not stored yet. */
export interface Versioned<T> {
  readonly id: string;
  readonly version: number;
  readonly value: T;
}

export async function contextState(store: DocumentStore, scope: DatasetScope): Promise<Versioned<ContextState>> {
  const stored = await store.get(scope, contextStateCollection, CONTEXT_STATE_ID);
  return stored ?? { id: CONTEXT_STATE_ID, version: 0, value: { leaves: 0, isComplete: true } };
}

/** A summary that stands for a part of a dataset. */
export interface ContextSummary {
  readonly id: string;
  readonly level: number;
  readonly isRoot: boolean;
  readonly text: string;
  /** Cosine with the query; null for the root. */
  readonly similarity: number | null;
}

const BEAM = 8;

/**
 * Selects the summary of the whole dataset, then the `areas` parts of it that are most like the query. The tree is walked
 * from the root along its most similar branches, so that the cost is that of its height.
 */
export async function readGlobalContext(
  store: DocumentStore,
  scope: DatasetScope,
  query: { readonly vector: Float32Array | null; readonly areas: number },
): Promise<readonly ContextSummary[]> {
  const root = await store.get(scope, contextNodesCollection, contextRootId(scope.dataset));
  if (root === null || root.value.text === '') return [];
  const found = [summaryOf(root, null)];
  const { vector, areas } = query;
  if (vector === null) return found;
  const seen: ContextSummary[] = [];
  let branches: readonly string[] = root.value.children;
  while (branches.length > 0) {
    const nodes = await store.getMany(scope, contextNodesCollection, branches);
    const near = nodes
      .map((node) => ({ node, similarity: cosine(vector, vectorOfText(node.value.vector)) }))
      .sort((left, right) => right.similarity - left.similarity || (left.node.id < right.node.id ? -1 : 1));
    for (const { node, similarity } of near) if (node.value.text !== '') seen.push(summaryOf(node, similarity));
    branches = near.slice(0, BEAM).flatMap(({ node }) => (node.value.level === 0 ? [] : node.value.children));
  }
  seen.sort((left, right) => (right.similarity ?? 0) - (left.similarity ?? 0) || (left.id < right.id ? -1 : 1));
  return [...found, ...seen.slice(0, areas)];
}

function summaryOf({ id, value }: Stored<ContextNode>, similarity: number | null): ContextSummary {
  const { level, isRoot, text } = value;
  return { id, level, isRoot, text, similarity };
}

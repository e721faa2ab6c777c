import { idFor } from '../../../common/kernel/ids.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import { slices } from '../../../common/kernel/slices.ts';
import { put } from '../../../common/records/base/repository.ts';
import {
  CONTEXT_STATE_ID,
  type ContextEntity,
  type ContextLeaf,
  type ContextNode,
  type ContextState,
  contextEntitiesCollection,
  contextLeavesCollection,
  contextNodesCollection,
  contextStateCollection,
  type Versioned,
} from '../../../common/records/improve/context-summaries.ts';
import {
  type Collection,
  type DocumentStore,
  remove,
  type Write,
} from '../../../common/storage/ports/document-store.ts';

/** Documents of one collection: read once, changed in memory, written together. */
export class Drafts<T extends ContextNode | ContextLeaf | ContextEntity | ContextState> {
  private readonly read = new Map<string, Versioned<T> | null>();
  private readonly changed = new Map<string, T | null>();
  private readonly store: DocumentStore;
  private readonly scope: DatasetScope;
  private readonly collection: Collection<T>;

  constructor(store: DocumentStore, scope: DatasetScope, collection: Collection<T>) {
    this.store = store;
    this.scope = scope;
    this.collection = collection;
  }

  /** Reads the documents that were not read yet. */
  async load(ids: Iterable<string>): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.read.has(id));
    for (const slice of slices(missing, READ_SLICE)) {
      const found = await this.store.getMany(this.scope, this.collection, slice);
      for (const id of slice) this.read.set(id, null);
      for (const { id, version, value } of found) this.read.set(id, { id, version, value });
    }
  }

  /** Returns a loaded document with its changes; undefined when there is none. */
  get(id: string): T | undefined {
    const draft = this.changed.get(id);
    if (draft !== undefined) return draft ?? undefined;
    return this.read.get(id)?.value;
  }

  set(id: string, value: T): void {
    this.changed.set(id, value);
  }

  delete(id: string): void {
    this.changed.set(id, null);
  }

  writes(): readonly Write[] {
    return [...this.changed].flatMap(([id, value]): readonly Write[] => {
      const version = this.read.get(id)?.version ?? 0;
      if (value !== null) return [put(this.collection, id, value, { version })];
      return version === 0 ? [] : [remove(this.collection, id, version)];
    });
  }
}

const READ_SLICE = 1000;

/** Drafts of everything that one step of a build changes. */
export interface ContextDrafts {
  readonly nodes: Drafts<ContextNode>;
  readonly leaves: Drafts<ContextLeaf>;
  readonly entities: Drafts<ContextEntity>;
  readonly state: Drafts<ContextState>;
}

export async function openDrafts(store: DocumentStore, scope: DatasetScope): Promise<ContextDrafts> {
  const state = new Drafts(store, scope, contextStateCollection);
  await state.load([CONTEXT_STATE_ID]);
  return {
    nodes: new Drafts(store, scope, contextNodesCollection),
    leaves: new Drafts(store, scope, contextLeavesCollection),
    entities: new Drafts(store, scope, contextEntitiesCollection),
    state,
  };
}

export function allWrites({ nodes, leaves, entities, state }: ContextDrafts): readonly Write[] {
  return [...entities.writes(), ...nodes.writes(), ...leaves.writes(), ...state.writes()];
}

export function stateOf({ state }: ContextDrafts): ContextState {
  return state.get(CONTEXT_STATE_ID) ?? { leaves: 0, isComplete: true };
}

/** Children of one node (cognify-improve.md §3.14). */
export const MAX_CHILDREN = 4;
/** Open buckets that are listed by entity; the oldest are dropped. */
const MAX_BUCKETS_PER_ENTITY = 32;

/** Makes the id of a node from its first children; it stays when others join. */
export async function newNodeId(
  { nodes }: Pick<ContextDrafts, 'nodes'>,
  scope: DatasetScope,
  level: number,
  children: readonly string[],
): Promise<string> {
  const founders = children.toSorted().join(',');
  for (let attempt = 0; ; attempt++) {
    // The id may be taken by a bucket whose first child was removed and added again.
    const id = idFor(
      'GlobalContextSummary',
      `${scope.dataset}:${level}:${founders}${attempt === 0 ? '' : `#${attempt}`}`,
    );
    await nodes.load([id]);
    if (nodes.get(id) === undefined) return id;
  }
}

export function newNode(level: number, children: readonly string[], more: Partial<ContextNode> = {}): ContextNode {
  return {
    level,
    isRoot: false,
    parent: null,
    children: children.toSorted(),
    isOpen: children.length < MAX_CHILDREN,
    isMisc: false,
    isStale: true,
    entities: [],
    text: '',
    vector: '',
    childMean: '',
    ...more,
  };
}

/** Returns the information of an entity: the fewer leaves have it, the more. */
export function informationOf(drafts: ContextDrafts): (entity: string) => number {
  const { leaves } = stateOf(drafts);
  return (entity) => {
    const count = drafts.entities.get(entity)?.count ?? 0;
    return count <= 0 ? 0 : Math.log(Math.max(1, leaves / count));
  };
}

/** Returns the information of shared entities as a share of all; 0 when there is none. */
export function similarity(
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
  information: (entity: string) => number,
): number {
  let shared = 0;
  let all = 0;
  for (const entity of left) {
    all += information(entity);
    if (right.has(entity)) shared += information(entity);
  }
  for (const entity of right) if (!left.has(entity)) all += information(entity);
  return all === 0 ? 0 : shared / all;
}

export function sumOf(entities: Iterable<string>, information: (entity: string) => number): number {
  let sum = 0;
  for (const entity of entities) sum += information(entity);
  return sum;
}

/** Updates the entities' lists of open buckets after a bucket changed from `before`. */
export async function listBucket({ entities, nodes }: ContextDrafts, id: string, before: ContextNode | undefined) {
  const after = nodes.get(id);
  const listed = after?.isOpen === true && !after.isMisc ? after.entities : [];
  await entities.load([...(before?.entities ?? []), ...listed]);
  const isListed = new Set(listed);
  for (const entity of before?.entities ?? []) {
    const known = entities.get(entity);
    if (isListed.has(entity) || known === undefined || !known.buckets.includes(id)) continue;
    entities.set(entity, { ...known, buckets: known.buckets.filter((bucket) => bucket !== id) });
  }
  for (const entity of listed) {
    const known = entities.get(entity) ?? { count: 0, buckets: [] };
    if (known.buckets.includes(id)) continue;
    entities.set(entity, { ...known, buckets: [...known.buckets, id].slice(-MAX_BUCKETS_PER_ENTITY) });
  }
}

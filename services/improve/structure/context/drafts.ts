import type { DatasetScope } from '../../../common/kernel/scope.ts';
import { slices } from '../../../common/kernel/slices.ts';
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
  keepWrite,
  type Versioned,
} from '../../../common/records/improve/context-summaries.ts';
import type { Collection, DocumentStore, Write } from '../../../common/storage/ports/document-store.ts';
import { remove } from '../../../common/storage/ports/document-store.ts';

type Reader = Pick<DocumentStore, 'getMany'>;

/** Documents of one collection that are read once, changed in memory, and written together. */
export class Drafts<T extends ContextNode | ContextLeaf | ContextEntity | ContextState> {
  private readonly read = new Map<string, Versioned<T> | null>();
  private readonly changed = new Map<string, T | null>();
  private readonly store: Reader;
  private readonly scope: DatasetScope;
  private readonly collection: Collection<T>;

  constructor(store: Reader, scope: DatasetScope, collection: Collection<T>) {
    this.store = store;
    this.scope = scope;
    this.collection = collection;
  }

  /** One read for those that were not read yet. */
  async load(ids: Iterable<string>): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.read.has(id));
    for (const slice of slices(missing, READ_SLICE)) {
      const found = await this.store.getMany(this.scope, this.collection, slice);
      for (const id of slice) this.read.set(id, null);
      for (const { id, version, value } of found) this.read.set(id, { id, version, value });
    }
  }

  /** As it stands in memory; undefined where there is none. Load it before. */
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
      if (value !== null) return [keepWrite(this.collection, { id, version }, value)];
      return version === 0 ? [] : [remove(this.collection, id, version)];
    });
  }
}

const READ_SLICE = 1000;

/** All that one step of a build changes. */
export interface ContextDrafts {
  readonly nodes: Drafts<ContextNode>;
  readonly leaves: Drafts<ContextLeaf>;
  readonly entities: Drafts<ContextEntity>;
  readonly state: Drafts<ContextState>;
}

export async function openDrafts(store: Reader, scope: DatasetScope): Promise<ContextDrafts> {
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

export function stateOf({ state }: Pick<ContextDrafts, 'state'>): ContextState {
  return state.get(CONTEXT_STATE_ID) ?? { leaves: 0, isComplete: true };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { DataItemId, DatasetId } from '../../kernel/brand.ts';
import { asId, idOfText } from '../../kernel/ids.ts';
import { type DatasetScope, datasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { isLeased } from '../../platform/leases/lease.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import type { EmbeddingChoice } from '../../ports/embedders.ts';
import type { Clock } from '../../ports/system.ts';
import { type DocumentStore, insert, remove, removeWhere, replace } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import type { VectorIndex, VectorSpace } from '../../storage/ports/vector-index.ts';
import { findAll } from '../base/find-all.ts';

/** The space of an embedding model, in a document. */
export type StoredSpace = { readonly model: string; readonly dimensions: number };

/** A move of a dataset's vectors to another embedding model: made anew in a home of their own, then that one is read. */
export type VectorMigration = {
  /** Where the new vectors are. */
  readonly home: number;
  readonly from: StoredSpace;
  readonly to: StoredSpace;
  readonly startedAt: string;
  /** Items; for whoever asks how far it is. */
  readonly done: number;
  readonly total: number;
  /** Items whose rows are written right now: whoever removes rows of theirs waits, and removes once more. */
  readonly inHand: readonly string[];
  /** Null: nobody is at it. */
  readonly worker: string | null;
  readonly leasedUntilMs: number;
  /** Whoever is at it is to leave it. */
  readonly isStopping: boolean;
  /** In a row. */
  readonly failures: number;
  readonly retryAtMs: number;
  readonly failure: { readonly name: string; readonly message: string } | null;
  /** Set when the new home is read: the one before it, for searches under way, and since when. */
  readonly former: { readonly home: number; readonly leftAtMs: number } | null;
};

/** Whether a worker holds it. */
export function isMigrating({ worker, leasedUntilMs }: VectorMigration, nowMs: number): boolean {
  return isLeased({ holder: worker, leasedUntilMs }, nowMs);
}

/** Where the vectors of a dataset are. A dataset without such a document has them under its own scope. */
type VectorHomesDocument = {
  /** The one that is read: the one place that says so. */
  readonly active: number;
  /** The greatest number ever given: a home is never used again. */
  readonly last: number;
  /** Null: as the tenant's. */
  readonly wish: EmbeddingChoice | null;
  readonly migration: VectorMigration | null;
};

/** An item whose vectors a migration has made, and of which generation. */
type ReembeddedItem = { readonly home: number; readonly generation: number };

export const vectorHomesCollection: OwnedCollection<VectorHomesDocument> = {
  name: 'vector_homes',
  level: 'dataset',
  owner: 'cognify',
  readers: ['ingest', 'improve', 'search'],
  belongsTo: { dataset: 'scope' },
  indexes: [],
};
export const reembeddedItemsCollection: OwnedCollection<ReembeddedItem> = {
  name: 'reembedded_items',
  level: 'dataset',
  owner: 'cognify',
  readers: ['ingest', 'improve', 'search'],
  belongsTo: { dataset: 'scope' },
  indexes: [],
};
export interface VectorHomesState extends VectorHomesDocument {
  /** 0: not stored yet. */
  readonly version: number;
}

/** The home that is read. */
export interface ActiveHome {
  readonly number: number;
  readonly scope: DatasetScope;
  /** Null while it has no vectors. */
  readonly space: VectorSpace | null;
  readonly wish: EmbeddingChoice | null;
}

export interface VectorHomes {
  /**
   * The vectors of datasets, wherever they are: reads and writes reach the home that is active now, removals, drops and
   * counts every one that there ever was. For whoever knows no home.
   */
  readonly vectors: VectorIndex;
  /** By scopes of homes, each of which reaches that home alone: for whoever read which one is active. */
  readonly inHomes: VectorIndex;
  active(scope: DatasetScope): Promise<ActiveHome>;
  state(scope: DatasetScope): Promise<VectorHomesState>;
  /** Keeps a change of the state as it stands; what `change` gives back, null: nothing to change, is what holds then. */
  update(
    scope: DatasetScope,
    change: (state: VectorHomesState) => Partial<VectorHomesDocument> | null,
  ): Promise<VectorHomesState>;
  /** The scope of a home, for the index that has it. */
  scopeOf(scope: DatasetScope, home: number): DatasetScope;
  /**
   * Told by whoever has written into a home, when nothing of that is under way any more: what came too late, after the home
   * was left for good, is removed. Returns the home that is active.
   */
  written(scope: DatasetScope, home: number): Promise<number>;
  /** Removes the vectors of a home that is not active. */
  dropHome(scope: DatasetScope, home: number): Promise<void>;
  /** Generations of the items that a migration has brought into its home. */
  reembedded(scope: DatasetScope, home: number): Promise<ReadonlyMap<DataItemId, number>>;
  keepReembedded(
    scope: DatasetScope,
    home: number,
    items: readonly { readonly item: DataItemId; readonly generation: number }[],
  ): Promise<void>;
  /** They are to be brought there again. */
  forgetReembedded(scope: DatasetScope, items: readonly DataItemId[] | null): Promise<void>;
  /** Goes with the dataset, when nothing writes into it any more. */
  forget(scope: DatasetScope): Promise<void>;
}

/** One for each dataset. */
const ID = 'homes';
const NOTHING: VectorHomesState = { active: 0, last: 0, wish: null, migration: null, version: 0 };
/** Writes of one commit, below every adapter's limit. */
const SLICE = 100;
const POLL_MS = 20;
/** Longer than anybody holds items in hand without renewing the lease. */
const WAIT_MS = 15_000;

export function createVectorHomes({
  store,
  vectors,
  clock,
}: {
  readonly store: DocumentStore;
  readonly vectors: VectorIndex;
  readonly clock: Pick<Clock, 'now'>;
}): VectorHomes {
  const state: VectorHomes['state'] = (scope) => stateIn(store, scope);
  const update: VectorHomes['update'] = async (scope, change) => {
    return retryOnConflict(async () => {
      const before = await state(scope);
      const changes = change(before);
      if (changes === null) return before;
      const { version, ...document } = before;
      const next = { ...document, ...changes };
      const write =
        version === 0 ? insert(vectorHomesCollection, ID, next) : replace(vectorHomesCollection, ID, next, version);
      await store.commit(scope, [write]);
      return { ...next, version: version + 1 };
    });
  };
  const activeScope = async (scope: DatasetScope) => homeScope(scope, (await state(scope)).active);
  const isAtWork = ({ migration }: VectorHomesState) =>
    migration !== null && isMigrating(migration, clock.now().getTime());
  /** Until a worker of the migration has left these items; one that died is not waited for. */
  const untilLeft = async (scope: DatasetScope, item: string): Promise<void> => {
    for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += POLL_MS) {
      const now = await state(scope);
      if (!isAtWork(now) || now.migration?.inHand.includes(item) !== true) return;
      await sleep(POLL_MS);
    }
  };
  const forgetReembedded: VectorHomes['forgetReembedded'] = async (scope, items) => {
    if (items === null) {
      await store.commit(scope, [removeWhere(reembeddedItemsCollection, {})]);
      return;
    }
    for (const slice of slices(items, SLICE)) {
      const writes = slice.map((item) => remove(reembeddedItemsCollection, item));
      await store.commit(scope, writes);
    }
  };
  /** Ends a migration, whoever is at it: its home is anybody's then. Returns every home that may hold something. */
  const endMigration = async (scope: DatasetScope): Promise<readonly number[]> => {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const isOver = waitedMs >= WAIT_MS;
      const now = await update(scope, (before) => {
        if (before.migration === null) return null;
        if (!isAtWork(before) || isOver) return { migration: null };
        return before.migration.isStopping ? null : { migration: { ...before.migration, isStopping: true } };
      });
      if (now.migration === null) return everyHome(now);
      await sleep(POLL_MS);
    }
  };
  const routed: VectorIndex = {
    capabilities: vectors.capabilities,
    space: async (scope) => vectors.space(await activeScope(scope)),
    upsert: async (scope, space, entries) => vectors.upsert(await activeScope(scope), space, entries),
    nearest: async (scope, query, signal) => vectors.nearest(await activeScope(scope), query, signal),
    fetch: async (scope, ...query) => vectors.fetch(await activeScope(scope), ...query),
    async remove(scope, selection) {
      const isOfGenerations = selection.generation !== undefined || selection.beforeGeneration !== undefined;
      const removeAll = async (): Promise<number> => {
        const now = await state(scope);
        const [active = 0, ...others] = isOfGenerations ? liveHomes(now) : everyHome(now);
        const removed = await Promise.all(others.map((home) => vectors.remove(homeScope(scope, home), selection)));
        return removed.reduce((sum, count) => sum + count, await vectors.remove(homeScope(scope, active), selection));
      };
      const removed = await removeAll();
      // A migration sees to what is built anew by itself.
      if (isOfGenerations) return removed;
      const { migration } = await state(scope);
      if (migration?.inHand.includes(selection.item) !== true) return removed;
      await untilLeft(scope, selection.item);
      return removed + (await removeAll());
    },
    async drop(scope) {
      for (const home of await endMigration(scope)) await vectors.drop(homeScope(scope, home));
      await forgetReembedded(scope, null);
    },
    async count(scope, filter) {
      const homes = everyHome(await state(scope));
      const counts = await Promise.all(homes.map((home) => vectors.count(homeScope(scope, home), filter)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
  return {
    vectors: routed,
    inHomes: vectors,
    async written(scope, home) {
      const now = await state(scope);
      if (!liveHomes(now).includes(home)) await vectors.drop(homeScope(scope, home));
      return now.active;
    },
    state,
    update,
    scopeOf: homeScope,
    dropHome: (scope, home) => vectors.drop(homeScope(scope, home)),
    active: (scope) => activeHome({ store, vectors }, scope),
    async reembedded(scope, home) {
      const found = await findAll(store, scope, reembeddedItemsCollection);
      const ofHome = found.filter(({ value }) => value.home === home);
      return new Map(ofHome.map(({ id, value }) => [asId<DataItemId>(id), value.generation]));
    },
    async keepReembedded(scope, home, items) {
      for (const slice of slices(items, SLICE / 2)) {
        const writes = slice.flatMap(({ item, generation }) => [
          remove(reembeddedItemsCollection, item),
          insert(reembeddedItemsCollection, item, { home, generation }),
        ]);
        await store.commit(scope, writes);
      }
    },
    forgetReembedded,
    async forget(scope) {
      await store.commit(scope, [remove(vectorHomesCollection, ID)]);
      await forgetReembedded(scope, null);
    },
  };
}

async function stateIn(store: Pick<DocumentStore, 'get'>, scope: DatasetScope): Promise<VectorHomesState> {
  const stored = await store.get(scope, vectorHomesCollection, ID);
  return stored === null ? NOTHING : { ...stored.value, version: stored.version };
}

/** See `VectorHomes.active`: for those who only read. */
export async function activeHome(
  { store, vectors }: { readonly store: Pick<DocumentStore, 'get'>; readonly vectors: Pick<VectorIndex, 'space'> },
  scope: DatasetScope,
): Promise<ActiveHome> {
  // Most datasets have never moved.
  const [{ active, wish }, first] = await Promise.all([stateIn(store, scope), vectors.space(scope)]);
  const home = homeScope(scope, active);
  return { number: active, scope: home, space: active === 0 ? first : await vectors.space(home), wish };
}

/** Home 0 is the dataset's own scope: where vectors are that never moved. */
/** The scope under which an index has a home. */
export function homeScope(scope: DatasetScope, home: number): DatasetScope {
  if (home === 0) return scope;
  return datasetScope(scope.tenant, asId<DatasetId>(idOfText(`${scope.dataset}/vectors/${home}`)));
}

/** The active one first. */
function liveHomes({ active, migration }: VectorHomesDocument): readonly number[] {
  const { home = active, former = null } = migration ?? {};
  return [...new Set([active, home, former?.home ?? active])];
}

/** Every one that was ever given, the active one first: a process that died may have left rows in any. */
function everyHome({ active, last }: VectorHomesDocument): readonly number[] {
  const others = Array.from({ length: last + 1 }, (_, home) => home).filter((home) => home !== active);
  return [active, ...others];
}

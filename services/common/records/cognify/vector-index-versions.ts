import { setTimeout as sleep } from 'node:timers/promises';
import type { DataItemId, DatasetId } from '../../kernel/brand.ts';
import { asId, idOfText } from '../../kernel/ids.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import { isLeased } from '../../platform/leases/lease.ts';
import type { EmbeddingChoice } from '../../ports/embedders.ts';
import type { WallClock } from '../../ports/system.ts';
import { type DocumentStore, insert, remove, removeWhere } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import type { VectorIndex, VectorSpace } from '../../storage/ports/vector-index.ts';
import { findAll } from '../base/find-all.ts';
import { put } from '../base/repository.ts';

/** The space of an embedding model, in a document. */
type StoredSpace = { readonly model: string; readonly dimensions: number };

/** A migration of a dataset's vectors to another embedding model: they are built in a new index version, which is then activated. */
export type VectorMigration = {
  /** Number of the index version with the new vectors. */
  readonly home: number;
  readonly from: StoredSpace;
  readonly to: StoredSpace;
  readonly startedAt: string;
  /** Items, for the progress. */
  readonly done: number;
  readonly total: number;
  /** Items in flight, whose rows are being written: a removal of their rows waits, and removes once more. */
  readonly inHand: readonly string[];
  /** Null: no worker holds it. */
  readonly worker: string | null;
  readonly leasedUntilMs: number;
  /** Asks the worker to stop. */
  readonly isStopping: boolean;
  /** Consecutive failures. */
  readonly failures: number;
  readonly retryAtMs: number;
  readonly failure: { readonly name: string; readonly message: string } | null;
  /** Set when the new version was activated: the one before it, for searches under way, and since when. */
  readonly former: { readonly home: number; readonly leftAtMs: number } | null;
};

/** Whether a worker holds it. */
function isMigrating({ worker, leasedUntilMs }: VectorMigration, nowMs: number): boolean {
  return isLeased({ holder: worker, leasedUntilMs }, nowMs);
}

/** Index versions of the vectors of a dataset. Without such a document they are in version 0, under the scope of the dataset. */
type VectorVersionsDocument = {
  /** Number of the version that is read. */
  readonly active: number;
  /** The greatest number ever given: numbers are never used again. */
  readonly last: number;
  /** Requested model; null: that of the tenant. */
  readonly wish: EmbeddingChoice | null;
  readonly migration: VectorMigration | null;
};

/** An item whose vectors a migration has built, and of which generation. */
type ReembeddedItem = { readonly home: number; readonly generation: number };

export const vectorVersionsCollection: OwnedCollection<VectorVersionsDocument> = {
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
export interface VectorVersionsState extends VectorVersionsDocument {
  /** 0: not stored yet. */
  readonly version: number;
}

/** The index version that is read. */
export interface ActiveVectorVersion {
  readonly number: number;
  readonly scope: DatasetScope;
  /** Null while it has no vectors. */
  readonly space: VectorSpace | null;
  /** The model that the dataset requests; null: that of its tenant. */
  readonly requested: EmbeddingChoice | null;
}

export type VectorIndexVersions = ReturnType<typeof createVectorIndexVersions>;

/** One for each dataset. */
const ID = 'homes';
const NOTHING: VectorVersionsState = { active: 0, last: 0, wish: null, migration: null, version: 0 };
/** Writes of one commit, below every adapter's limit. */
const SLICE = 100;
const POLL_MS = 20;
/** Longer than a worker has items in flight without renewing the lease. */
const WAIT_MS = 15_000;

export function createVectorIndexVersions({
  store,
  vectors,
  clock,
}: {
  readonly store: DocumentStore;
  readonly vectors: VectorIndex;
  readonly clock: WallClock;
}) {
  const state = (scope: DatasetScope) => stateIn(store, scope);
  const update = (
    scope: DatasetScope,
    change: (state: VectorVersionsState) => Partial<VectorVersionsDocument> | null,
  ): Promise<VectorVersionsState> =>
    retryOnConflict(async () => {
      const before = await state(scope);
      const changes = change(before);
      if (changes === null) return before;
      const { version, ...document } = before;
      const next = { ...document, ...changes };
      await store.commit(scope, [put(vectorVersionsCollection, ID, next, { version })]);
      return { ...next, version: version + 1 };
    });
  const activeScope = async (scope: DatasetScope) => versionScope(scope, (await state(scope)).active);
  const isAtWork = ({ migration }: VectorVersionsState) =>
    migration !== null && isMigrating(migration, clock.now().getTime());
  /** Waits until a worker of the migration has left the item; not for one that died. */
  const untilLeft = async (scope: DatasetScope, item: string): Promise<void> => {
    for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += POLL_MS) {
      const now = await state(scope);
      if (!isAtWork(now) || now.migration?.inHand.includes(item) !== true) return;
      await sleep(POLL_MS);
    }
  };
  const reembedded = createReembedded(store);
  /** Ends a migration, also of another worker. Returns every version that may hold vectors. */
  const endMigration = async (scope: DatasetScope): Promise<readonly number[]> => {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const isOver = waitedMs >= WAIT_MS;
      const now = await update(scope, (before) => {
        if (before.migration === null) return null;
        if (!isAtWork(before) || isOver) return { migration: null };
        return before.migration.isStopping ? null : { migration: { ...before.migration, isStopping: true } };
      });
      if (now.migration === null) return everyVersion(now);
      await sleep(POLL_MS);
    }
  };
  const routed: VectorIndex = {
    space: async (scope) => vectors.space(await activeScope(scope)),
    upsert: async (scope, space, entries) => vectors.upsert(await activeScope(scope), space, entries),
    nearest: async (scope, query, signal) => vectors.nearest(await activeScope(scope), query, signal),
    fetch: async (scope, ...query) => vectors.fetch(await activeScope(scope), ...query),
    async remove(scope, selection) {
      const isOfGenerations = selection.generation !== undefined || selection.beforeGeneration !== undefined;
      const removeAll = async (): Promise<number> => {
        const now = await state(scope);
        const [active = 0, ...others] = isOfGenerations ? liveVersions(now) : everyVersion(now);
        const removed = await Promise.all(others.map((home) => vectors.remove(versionScope(scope, home), selection)));
        return removed.reduce(
          (sum, count) => sum + count,
          await vectors.remove(versionScope(scope, active), selection),
        );
      };
      const removed = await removeAll();
      // A migration handles rebuilt items by itself.
      if (isOfGenerations) return removed;
      const { migration } = await state(scope);
      if (migration?.inHand.includes(selection.item) !== true) return removed;
      await untilLeft(scope, selection.item);
      return removed + (await removeAll());
    },
    async drop(scope) {
      for (const home of await endMigration(scope)) await vectors.drop(versionScope(scope, home));
      await reembedded.forgetReembedded(scope, null);
    },
    async count(scope, filter) {
      const vectorVersions = everyVersion(await state(scope));
      const counts = await Promise.all(vectorVersions.map((home) => vectors.count(versionScope(scope, home), filter)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
  return {
    ...reembedded,
    /**
     * The vectors of datasets, for callers that know no version: reads and writes reach the active version, removals, drops
     * and counts reach every version that was ever used.
     */
    vectors: routed,
    /** The same by the scope of one version, for callers that read which one is active. */
    inVersions: vectors,
    /**
     * To be called after writes into a version have settled: rows that came after the version was left for good are removed.
     * Returns the number of the active version.
     */
    async written(scope: DatasetScope, home: number): Promise<number> {
      const now = await state(scope);
      if (!liveVersions(now).includes(home)) await vectors.drop(versionScope(scope, home));
      return now.active;
    },
    state,
    /** Stores what `change` makes of the present state, and returns the new state; null from `change`: nothing changes. */
    update,
    /** The scope under which the index has a version. */
    scopeOf: versionScope,
    /** Removes the vectors of a version that is not active. */
    dropVersion: (scope: DatasetScope, home: number): Promise<void> => vectors.drop(versionScope(scope, home)),
    active: (scope: DatasetScope): Promise<ActiveVectorVersion> => activeVectorVersion({ store, vectors }, scope),
    /** Removes the state with the dataset, when nothing writes into it any more. */
    async forget(scope: DatasetScope): Promise<void> {
      await store.commit(scope, [remove(vectorVersionsCollection, ID)]);
      await reembedded.forgetReembedded(scope, null);
    },
  };
}

/** Items that a migration has built again. */
function createReembedded(store: DocumentStore) {
  return {
    /** Generations of the items that a migration has built in its version. */
    async reembedded(scope: DatasetScope, home: number): Promise<ReadonlyMap<DataItemId, number>> {
      const found = await findAll(store, scope, reembeddedItemsCollection);
      const ofHome = found.filter(({ value }) => value.home === home);
      return new Map(ofHome.map(({ id, value }) => [asId<DataItemId>(id), value.generation]));
    },
    async keepReembedded(
      scope: DatasetScope,
      home: number,
      items: readonly { readonly item: DataItemId; readonly generation: number }[],
    ): Promise<void> {
      for (const slice of slices(items, SLICE / 2)) {
        const writes = slice.flatMap(({ item, generation }) => [
          remove(reembeddedItemsCollection, item),
          insert(reembeddedItemsCollection, item, { home, generation }),
        ]);
        await store.commit(scope, writes);
      }
    },
    /** Lets the migration build the items again; null: all. */
    async forgetReembedded(scope: DatasetScope, items: readonly DataItemId[] | null): Promise<void> {
      if (items === null) {
        await store.commit(scope, [removeWhere(reembeddedItemsCollection, {})]);
        return;
      }
      for (const slice of slices(items, SLICE)) {
        const writes = slice.map((item) => remove(reembeddedItemsCollection, item));
        await store.commit(scope, writes);
      }
    },
  };
}

async function stateIn(store: Pick<DocumentStore, 'get'>, scope: DatasetScope): Promise<VectorVersionsState> {
  const stored = await store.get(scope, vectorVersionsCollection, ID);
  return stored === null ? NOTHING : { ...stored.value, version: stored.version };
}

/** See `VectorIndexVersions.active`, for callers that only read. */
export async function activeVectorVersion(
  { store, vectors }: { readonly store: Pick<DocumentStore, 'get'>; readonly vectors: Pick<VectorIndex, 'space'> },
  scope: DatasetScope,
): Promise<ActiveVectorVersion> {
  // Most datasets were never migrated.
  const [{ active, wish }, first] = await Promise.all([stateIn(store, scope), vectors.space(scope)]);
  const home = versionScope(scope, active);
  return { number: active, scope: home, space: active === 0 ? first : await vectors.space(home), requested: wish };
}

/** The scope under which the index has a version; version 0 is under the scope of the dataset itself. */
export function versionScope(scope: DatasetScope, home: number): DatasetScope {
  if (home === 0) return scope;
  return { ...scope, dataset: asId<DatasetId>(idOfText(`${scope.dataset}/vectors/${home}`)) };
}

/** The active one first. */
function liveVersions({ active, migration }: VectorVersionsDocument): readonly number[] {
  const { home = active, former = null } = migration ?? {};
  return [...new Set([active, home, former?.home ?? active])];
}

/** Every version that was ever used, the active one first: a process that died may have left rows in any. */
function everyVersion({ active, last }: VectorVersionsDocument): readonly number[] {
  const others = Array.from({ length: last + 1 }, (_, home) => home).filter((home) => home !== active);
  return [active, ...others];
}

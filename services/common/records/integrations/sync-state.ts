import { sha256 } from '../../kernel/hashes.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { ignoreDuplicate, retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import { type AnyCollection, type DocumentStore, insert, remove } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { findAll } from '../base/find-all.ts';
import { repository } from '../base/repository.ts';

type SyncedContentDocument = Record<string, never>;
type SyncDueDocument = { readonly side: SyncSide; readonly runId: string };

const shared = {
  level: 'dataset',
  owner: 'integrations',
  writers: { ingest: 'removes them with their dataset' },
  belongsTo: { dataset: 'scope' },
} as const;

/** Content that was on both sides once, by fingerprint: when it is missing here now, it was removed here. */
export const syncedContentCollection: OwnedCollection<SyncedContentDocument> = {
  name: 'synced_content',
  ...shared,
  indexes: [],
};

/** One for each side and run: a run that still brings files may not lose its own because another has them built. */
export const syncDuesCollection: OwnedCollection<SyncDueDocument> = {
  name: 'sync_dues',
  ...shared,
  indexes: [],
};

type SyncOfferDocument = { readonly origin: string; readonly itemIds: readonly string[] };

/** Content that a sender lacked at its last comparison, and was told of: it may fetch that, and have that pruned. */
export const syncOffersCollection: OwnedCollection<SyncOfferDocument> = {
  name: 'sync_offers',
  ...shared,
  indexes: [{ fields: ['origin'] }],
};

/** Synchronisation state of datasets, beside where they come from. */
export const syncStateCollections: readonly AnyCollection[] = [
  syncedContentCollection,
  syncDuesCollection,
  syncOffersCollection,
];

type SyncSide = 'remote' | 'local';

/** Files of a run arrived on this side, or will, and are not built there yet. */
export interface SyncDue {
  readonly side: SyncSide;
  readonly runId: string;
}

const PAGE = 500;

export type SyncState = ReturnType<typeof createSyncState>;

export function createSyncState(store: DocumentStore) {
  const offers = repository(store, syncOffersCollection, ({ id, value }): Offered => ({ id, itemIds: value.itemIds }));
  const known = async (scope: DatasetScope, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const found = await store.getMany(scope, syncedContentCollection, ids);
    return new Set(found.map(({ id }) => id));
  };
  const insertMissing = async (scope: DatasetScope, ids: readonly string[]): Promise<void> => {
    await retryOnConflict(async () => {
      const there = await known(scope, ids);
      const missing = ids.filter((id) => !there.has(id));
      if (missing.length === 0) return;
      await store.commit(
        scope,
        missing.map((id) => insert(syncedContentCollection, id, {})),
      );
    });
  };
  return {
    /** Returns the hashes that were on both sides once. */
    async synced(scope: DatasetScope, hashes: readonly string[]): Promise<ReadonlySet<string>> {
      const synced = new Set<string>();
      for (const page of slices(hashes, PAGE)) {
        const there = await known(scope, page.map(fingerprint(scope)));
        for (const one of page) if (there.has(fingerprint(scope)(one))) synced.add(one);
      }
      return synced;
    },
    /** Repeating is harmless. */
    async noteSynced(scope: DatasetScope, hashes: readonly string[]): Promise<void> {
      for (const page of slices([...new Set(hashes)], PAGE)) await insertMissing(scope, page.map(fingerprint(scope)));
    },
    async dues(scope: DatasetScope): Promise<readonly SyncDue[]> {
      return (await findAll(store, scope, syncDuesCollection)).map(({ value }) => value);
    },
    /**
     * Durable before the first file goes, so that neither a crash nor a failure forgets what is to be built. Repeating is
     * harmless.
     */
    async noteDue(scope: DatasetScope, due: SyncDue): Promise<void> {
      await ignoreDuplicate(store.commit(scope, [insert(syncDuesCollection, dueId(due), { ...due })]));
    },
    async settleDues(scope: DatasetScope, dues: readonly SyncDue[]): Promise<void> {
      await store.commit(
        scope,
        dues.map((due) => remove(syncDuesCollection, dueId(due))),
      );
    },
    /** Tells an origin of content, in place of what it was told before. */
    async replaceOffers(scope: DatasetScope, origin: string, content: readonly SyncOffer[]): Promise<void> {
      await retryOnConflict(async () => {
        await store.commit(scope, [offers.removeWhereWrite({ origin })]);
        for (const page of slices(content, PAGE)) {
          const writes = page.map(({ md5, itemIds }) =>
            offers.insertWrite(offerId(scope, origin, md5), { origin, itemIds }),
          );
          await store.commit(scope, writes);
        }
      });
    },
    /** The items of content that the origin was told of; none: it was not. */
    async offered(scope: DatasetScope, origin: string, md5: string): Promise<readonly string[]> {
      return (await offers.get(scope, offerId(scope, origin, md5)))?.itemIds ?? [];
    },
    /** What the origin was told of, without the content that it lists. */
    async offeredBeside(scope: DatasetScope, origin: string, hashes: readonly string[]): Promise<readonly Offered[]> {
      const listed = new Set(hashes.map((md5) => offerId(scope, origin, md5)));
      return (await offers.all(scope, { where: { origin } })).filter(({ id }) => !listed.has(id));
    },
    removeOffers: (scope: DatasetScope, origin: string) => store.commit(scope, [offers.removeWhereWrite({ origin })]),
  };
}

interface SyncOffer {
  readonly md5: string;
  readonly itemIds: readonly string[];
}

interface Offered {
  /** See `offerId`. */
  readonly id: string;
  readonly itemIds: readonly string[];
}

/** Id of the offer of content, from which the content cannot be told. */
export function offerId(scope: DatasetScope, origin: string, md5: string): string {
  return fingerprint(scope)(`${origin}:${md5}`);
}

function dueId({ side, runId }: SyncDue): string {
  return `${side}:${runId}`;
}

/** Not the hash of the wire: what is forgotten leaves nothing behind that other places know it by. */
function fingerprint({ dataset }: DatasetScope): (contentHash: string) => string {
  return (contentHash) => sha256(`${dataset}:${contentHash}`);
}

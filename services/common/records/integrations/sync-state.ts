import { hash } from 'node:crypto';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import {
  type AnyCollection,
  type DocumentStore,
  DuplicateKeyError,
  insert,
  remove,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { findAll } from '../base/find-all.ts';

type SyncedContentDocument = Record<string, never>;
type SyncDueDocument = { readonly side: SyncSide; readonly runId: string };

/** Content that was on both sides once, by fingerprint: when it is missing here now, it was removed here. */
export const syncedContentCollection: OwnedCollection<SyncedContentDocument> = {
  name: 'synced_content',
  level: 'dataset',
  owner: 'integrations',
  writers: { ingest: 'removes it with its dataset' },
  belongsTo: { dataset: 'scope' },
  indexes: [],
};

/** One for each side and run: a run that still brings files may not lose its own because another has them built. */
export const syncDuesCollection: OwnedCollection<SyncDueDocument> = {
  name: 'sync_dues',
  level: 'dataset',
  owner: 'integrations',
  writers: { ingest: 'removes them with their dataset' },
  belongsTo: { dataset: 'scope' },
  indexes: [],
};

/** Synchronisation state of datasets. */
export const syncStateCollections: readonly AnyCollection[] = [syncedContentCollection, syncDuesCollection];

type SyncSide = 'remote' | 'local';

/** Files of a run arrived on this side, or will, and are not built there yet. */
export interface SyncDue {
  readonly side: SyncSide;
  readonly runId: string;
}

const PAGE = 500;

export type SyncState = ReturnType<typeof createSyncState>;

export function createSyncState(store: DocumentStore) {
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
      try {
        await store.commit(scope, [insert(syncDuesCollection, dueId(due), { ...due })]);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    },
    async settleDues(scope: DatasetScope, dues: readonly SyncDue[]): Promise<void> {
      await store.commit(
        scope,
        dues.map((due) => remove(syncDuesCollection, dueId(due))),
      );
    },
  };
}

function dueId({ side, runId }: SyncDue): string {
  return `${side}:${runId}`;
}

/** Not the hash of the wire: what is forgotten leaves nothing behind that other places know it by. */
function fingerprint({ dataset }: DatasetScope): (contentHash: string) => string {
  return (contentHash) => hash('sha256', `${dataset}:${contentHash}`);
}

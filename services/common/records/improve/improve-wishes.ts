import { hash } from 'node:crypto';
import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { Scope, SystemScope } from '../../kernel/scope.ts';
import {
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  replace,
  type Stored,
  VersionConflictError,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

type WishDocument = {
  readonly userId: string;
  readonly sessionId: string;
  readonly datasetId: string;
  /** Entries that came since the wish was last taken up, and when the first of them came. */
  readonly entries: number;
  readonly firstAt: string;
  /** From when on these entries are to be bridged; null while they are too few and no time is set. */
  readonly wantedAt: string | null;
  /** Set while a scheduler works on it. */
  readonly takenUntil: string | null;
  /** When a scheduler may take it: `takenUntil`, else `wantedAt`. */
  readonly dueAt: string | null;
  /** The API key that the newest entry came with; null or absent: none. */
  readonly keyId?: string | null;
};

/**
 * Sessions that want to be bridged into their dataset: one document per user, session and dataset, written by ingest in the
 * commit of the entry that asks for it, and taken up by improve's scheduler. A wish is durable work, so nothing that was
 * remembered with a session waits for ever because a process died.
 */
export const improveWishesCollection: OwnedCollection<WishDocument> = {
  name: 'improve_wishes',
  level: 'tenant',
  owner: 'improve',
  writers: {
    auth: 'removes the requests of a deleted user',
    ingest: 'asks for an improve in the commit of the session entry',
  },
  belongsTo: { user: 'userId', tenant: 'scope', dataset: 'datasetId' },
  indexes: [{ fields: ['dueAt'], wide: true }, { fields: ['datasetId'] }, { fields: ['userId', 'sessionId'] }],
};

export interface ImproveWish {
  readonly id: string;
  readonly version: number;
  readonly tenant: TenantId;
  readonly user: UserId;
  readonly session: string;
  readonly dataset: DatasetId;
  readonly entries: number;
  /** The API key that the newest entry came with: the improve speaks for it, and counts for its budgets too. */
  readonly keyId: string | null;
}

/** When a session is bridged by itself (IMPROVE_DEBOUNCE_ENTRIES, IMPROVE_DEBOUNCE_SECONDS). */
export interface Debounce {
  /** From so many entries on; 1 with `ms` set: the number does not matter. */
  readonly entries: number;
  /** After so long; 0: time does not matter. */
  readonly ms: number;
}

export type ImproveWishes = ReturnType<typeof createImproveWishes>;

export function createImproveWishes(store: DocumentStore) {
  const collection = improveWishesCollection;
  return {
    /**
     * One more entry. `DuplicateKeyError` or `VersionConflictError` in the commit when the wish changed since it was read
     * here.
     */
    async wishWrites(
      scope: Scope,
      wish: Pick<ImproveWish, 'user' | 'session' | 'dataset' | 'keyId'>,
      { at, debounce }: { readonly at: Date; readonly debounce: Debounce },
    ): Promise<readonly Write[]> {
      const id = wishId(wish);
      const stored = await store.get(scope, collection, id);
      const now = at.toISOString();
      const waiting = stored === null || stored.value.entries === 0 ? null : stored.value;
      const firstAt = waiting?.firstAt ?? now;
      const entries = (waiting?.entries ?? 0) + 1;
      const wantedAt = earlier(waiting?.wantedAt ?? null, dueTime({ entries, firstAt, now }, debounce));
      const takenUntil = stored?.value.takenUntil ?? null;
      const { user: userId, session: sessionId, dataset: datasetId, keyId } = wish;
      const waitingFor = { entries, firstAt, wantedAt, takenUntil, dueAt: takenUntil ?? wantedAt, keyId };
      const document = { userId, sessionId, datasetId, ...waitingFor };
      return [stored === null ? insert(collection, id, document) : replace(collection, id, document, stored.version)];
    },
    has: async (scope: Scope, wish: Pick<ImproveWish, 'user' | 'session' | 'dataset'>) =>
      (await store.get(scope, collection, wishId(wish))) !== null,
    /** Of every tenant, those due longest first. */
    async due(scope: SystemScope, now: Date, limit: number): Promise<readonly ImproveWish[]> {
      const { items } = await store.find(scope, collection, {
        where: { dueAt: { exists: true, atMost: now.toISOString() } },
        sort: [{ field: 'dueAt' }],
        limit,
      });
      return items.map(wishOf);
    },
    /** Nobody else sees it as due until then; who dies leaves it to others. Null when somebody else took it. */
    async take(wish: ImproveWish, until: Date): Promise<ImproveWish | null> {
      const scope = { tenant: wish.tenant };
      const stored = await store.get(scope, collection, wish.id);
      if (stored === null || stored.version !== wish.version) return null;
      const takenUntil = until.toISOString();
      const document = { ...stored.value, entries: 0, wantedAt: null, takenUntil, dueAt: takenUntil };
      try {
        await store.commit(scope, [replace(collection, wish.id, document, wish.version)]);
        return { ...wish, version: wish.version + 1 };
      } catch (error) {
        if (error instanceof VersionConflictError) return null;
        throw error;
      }
    },
    /** The session was improved: the wish is gone, or what is left of it are the entries that came since it was taken. */
    async settle({ tenant, id }: ImproveWish): Promise<void> {
      for (;;) {
        const stored = await store.get({ tenant }, collection, id);
        if (stored === null) return;
        const { value, version } = stored;
        const left = { ...value, takenUntil: null, dueAt: value.wantedAt };
        try {
          await store.commit({ tenant }, [
            value.entries === 0 ? remove(collection, id, version) : replace(collection, id, left, version),
          ]);
          return;
        } catch (error) {
          if (!(error instanceof VersionConflictError)) throw error;
        }
      }
    },
    /** For a session that goes. */
    removeOfSessionWrite: (user: UserId, session: string) =>
      removeWhere(collection, { userId: user, sessionId: session }),
    /** For a dataset that goes. Returns how many are left. */
    async eraseDataset({ tenant }: Scope, dataset: DatasetId): Promise<number> {
      const where = { datasetId: dataset };
      // For most there is nothing: one read tells.
      if ((await store.count({ tenant }, collection, where)) === 0) return 0;
      await store.commit({ tenant }, [removeWhere(collection, where)]);
      return store.count({ tenant }, collection, where);
    },
  };
}

/** Null: not by what is known now. */
function dueTime(
  { entries, firstAt, now }: { readonly entries: number; readonly firstAt: string; readonly now: string },
  debounce: Debounce,
): string | null {
  const byTime = debounce.ms > 0 ? new Date(Date.parse(firstAt) + debounce.ms).toISOString() : null;
  const countsEntries = debounce.ms === 0 || debounce.entries > 1;
  return countsEntries && entries >= debounce.entries ? now : byTime;
}

function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function wishId({ user, session, dataset }: { user: UserId; session: string; dataset: DatasetId }): string {
  return `${user}/${hash('sha256', session)}/${dataset}`;
}

function wishOf({ id, version, tenant, value }: Stored<WishDocument>): ImproveWish {
  const { userId, sessionId, datasetId, entries, keyId = null } = value;
  return {
    ...{ id, version, entries, keyId, session: sessionId },
    tenant: asId(tenant ?? ''),
    user: asId(userId),
    dataset: asId(datasetId),
  };
}

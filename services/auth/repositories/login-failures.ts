import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert, removeWhere, replace } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type LoginFailures = {
  /** When all failures will be forgiven, in milliseconds since 1970; after that the entry says nothing. */
  readonly forgivenAt: number;
};

/** Failed logins that are not forgiven yet, by a digest of what they are counted for. */
export const loginFailuresCollection: OwnedCollection<LoginFailures> = {
  name: 'login_failures',
  level: 'system',
  owner: 'auth',
  belongsTo: 'system',
  indexes: [{ fields: ['forgivenAt'] }],
};

export interface NewFailure {
  readonly id: string;
  readonly forgivenAfterMs: number;
}

export type LoginFailureCounts = ReturnType<typeof createLoginFailureCounts>;

/** Shared by all replicas. Written on failures only. */
export function createLoginFailureCounts(store: DocumentStore) {
  return {
    /** Id → when its failures are forgiven; ids without failures are left out. */
    async read(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const stored = await store.getMany(SYSTEM_SCOPE, loginFailuresCollection, ids);
      return new Map(stored.map(({ id, value }) => [id, value.forgivenAt]));
    },
    /** One failure for each; `forgivenAfterMs`: how long one takes to be forgiven. */
    async add(failures: readonly NewFailure[], nowMs: number): Promise<void> {
      // Another failure may be counted meanwhile; hashing lets so few through that this ends soon.
      await retryOnConflict(async () => {
        const ids = failures.map(({ id }) => id);
        const stored = await store.getMany(SYSTEM_SCOPE, loginFailuresCollection, ids);
        const writes = failures.map(({ id, forgivenAfterMs }) => {
          const before = stored.find((candidate) => candidate.id === id);
          const forgivenAt = Math.max(before?.value.forgivenAt ?? nowMs, nowMs) + forgivenAfterMs;
          if (before === undefined) return insert(loginFailuresCollection, id, { forgivenAt });
          return replace(loginFailuresCollection, id, { forgivenAt }, before.version);
        });
        await store.commit(SYSTEM_SCOPE, writes);
      });
    },
    /** Drops what is forgiven, so that the collection stays as small as the last minutes. */
    async sweep(nowMs: number): Promise<void> {
      await store.commit(SYSTEM_SCOPE, [removeWhere(loginFailuresCollection, { forgivenAt: { lessThan: nowMs } })]);
    },
  };
}

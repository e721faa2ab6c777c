import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert, removeWhere, replace } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type LoginFailures = {
  /** When all failures will be forgiven, in milliseconds since 1970; the entry has no effect after that. */
  readonly forgivenAt: number;
};

/** Failed logins that are not forgiven yet, by a digest of the account or address. */
export const loginFailuresCollection: OwnedCollection<LoginFailures> = {
  name: 'login_failures',
  level: 'system',
  owner: 'auth',
  belongsTo: 'system',
  indexes: [{ fields: ['forgivenAt'] }],
};

interface NewFailure {
  readonly id: string;
  readonly forgivenAfterMs: number;
}

export type LoginFailureCounts = ReturnType<typeof createLoginFailureCounts>;

/** Counts failed logins for all replicas. Written on failures only. */
export function createLoginFailureCounts(store: DocumentStore) {
  return {
    /** Maps ids to the time at which their failures are forgiven; ids without failures are missing. */
    async read(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const stored = await store.getMany(SYSTEM_SCOPE, loginFailuresCollection, ids);
      return new Map(stored.map(({ id, value }) => [id, value.forgivenAt]));
    },
    /** Adds one failure to each; `forgivenAfterMs`: how long one takes to be forgiven. */
    async add(failures: readonly NewFailure[], nowMs: number): Promise<void> {
      // Concurrent failures conflict; hashing limits their number, so this ends soon.
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
    /** Removes forgiven entries, so that the collection only has those of the last minutes. */
    async sweep(nowMs: number): Promise<void> {
      await store.commit(SYSTEM_SCOPE, [removeWhere(loginFailuresCollection, { forgivenAt: { lessThan: nowMs } })]);
    },
  };
}

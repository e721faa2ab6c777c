import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

export type SyncStatus = 'started' | 'in_progress' | 'completed' | 'failed' | 'cancelled';

/** Result of a run so far, of all its attempts. */
export interface SyncCounts {
  readonly uploaded: number;
  readonly downloaded: number;
  /** Files that could not be taken, or were gone when they were asked for. */
  readonly passedOver: number;
}

/** One synchronisation of a user's datasets with the remote memory. */
export interface SyncRun extends SyncCounts {
  readonly id: string;
  readonly userId: UserId;
  /** Tenant that the user requested it in. */
  readonly tenant: TenantId;
  /** The API key that it was asked for with. */
  readonly keyId: string | null;
  readonly status: SyncStatus;
  readonly datasetIds: readonly DatasetId[];
  /** In the order of `datasetIds`. */
  readonly datasetNames: readonly string[];
  /** Datasets whose files are the same on both sides. */
  readonly finished: readonly DatasetId[];
  /** 0 to 100 */
  readonly progress: number;
  /** Attempts that failed. */
  readonly retries: number;
  readonly error: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

type SyncRunDocument = Omit<SyncRun, 'id' | 'tenant'> & {
  /** The user while it runs; null: it has ended. */
  readonly runningFor: string | null;
  readonly tenantId: TenantId;
};

/** A user may work in several tenants, and has one running sync in all of them. */
export const syncRunsCollection: OwnedCollection<SyncRunDocument> = {
  name: 'sync_runs',
  level: 'system',
  owner: 'integrations',
  writers: { auth: 'removes them in the commit that deletes the user or the tenant' },
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [{ fields: ['runningFor'], unique: true }, { fields: ['userId', 'createdAt'] }, { fields: ['tenantId'] }],
};

export type SyncChange = Partial<Omit<SyncRun, 'id' | 'userId' | 'tenant' | 'keyId' | 'createdAt'>>;

export type SyncRuns = ReturnType<typeof createSyncRuns>;

/** Writes are committed by the caller, under any scope. */
export function createSyncRuns(store: DocumentStore) {
  const records = repository(store, syncRunsCollection, runOf);
  return {
    get: (id: string) => records.get(SYSTEM_SCOPE, id),
    /** The one that has not ended. */
    running: (user: UserId) => records.first(SYSTEM_SCOPE, { where: { runningFor: user } }),
    /** The last runs of a user, newest first. */
    async newest(user: UserId, limit: number): Promise<readonly SyncRun[]> {
      const sort = [{ field: 'userId' }, { field: 'createdAt', descending: true }] as const;
      return (await records.page(SYSTEM_SCOPE, { where: { userId: user }, sort, limit })).items;
    },
    /** `DuplicateKeyError` in the commit while another one of the user runs. */
    insertWrite({ id, tenant, ...run }: SyncRun): Write {
      const runningFor = hasEnded(run.status) ? null : run.userId;
      return records.insertWrite(id, { ...run, tenantId: tenant, runningFor });
    },
    /** `VersionConflictError` in the commit when it has ended. With an end in `status` the user may start another one. */
    changeWrite(id: string, change: SyncChange): Write {
      const ends = change.status !== undefined && hasEnded(change.status);
      const set = { ...change, ...(ends ? { runningFor: null } : {}) };
      return records.updateWrite(id, { where: { runningFor: { exists: true } }, set, required: true });
    },
    /** Ended runs of a user from before `before`. */
    removeOldWrite: (user: UserId, before: string) =>
      records.removeWhereWrite({
        userId: user,
        runningFor: { exists: false },
        createdAt: { lessThan: before },
      }),
  };
}

export function hasEnded(status: SyncStatus): boolean {
  return status !== 'started' && status !== 'in_progress';
}

function runOf({ id, value: { runningFor: _, tenantId, ...run } }: Stored<SyncRunDocument>): SyncRun {
  return { ...run, id, tenant: tenantId };
}

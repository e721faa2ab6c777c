import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { type Scope, SYSTEM_SCOPE, type SystemScope } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import type { WorkState } from '../model.ts';

/** A dataset that is being made from a snapshot. */
interface RestoreState extends WorkState {
  readonly version: number;
  /** Id of the dataset to be. */
  readonly tenant: TenantId;
  /** Id of the dataset, which does not exist for callers yet. */
  readonly datasetId: DatasetId;
  /** Present step, in a few words. */
  readonly step: string;
  /** Parts. */
  readonly done: number;
  readonly total: number;
}

/** One that a resource asks for. */
export interface ManagedRestore extends RestoreState {
  readonly crUid: string;
}

/** One of a user. */
export interface UserRestore extends RestoreState {
  readonly id: string;
  readonly userId: UserId;
  /** The API key that it was asked for with. */
  readonly keyId: string | null;
  readonly name: string;
  readonly source: {
    /** Place of the parts. */
    readonly tenantId: string;
    readonly name: string;
    /** The dataset that it is a snapshot of; null: it was uploaded, and the file is removed with this record. */
    readonly datasetId: string | null;
  };
  /** False while the file is still being stored. */
  readonly isReady: boolean;
}

type ManagedRestoreDocument = Omit<ManagedRestore, 'crUid' | 'version' | 'tenant'> & { readonly tenantId: TenantId };

type UserRestoreDocument = Omit<UserRestore, 'id' | 'version' | 'tenant'>;

/** Datasets that are being made for resources, by the `metadata.uid` of the resource. */
export const restoresCollection: OwnedCollection<ManagedRestoreDocument> = {
  name: 'restores',
  level: 'system',
  owner: 'ingest',
  belongsTo: 'system',
  indexes: [{ fields: ['isComplete', 'touchedAtMs'] }],
};

/** Datasets that are being made for users. */
export const ownRestoresCollection: OwnedCollection<UserRestoreDocument> = {
  name: 'own_restores',
  level: 'tenant',
  owner: 'ingest',
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['userId', 'isComplete'] }, { fields: ['isComplete', 'touchedAtMs'], wide: true }],
};

export type ManagedRestores = ReturnType<typeof createManagedRestores>;

export function createManagedRestores(store: DocumentStore) {
  const records = repository(store, restoresCollection, managedRestoreOf);
  return {
    get: (crUid: string) => records.get(SYSTEM_SCOPE, crUid),
    /** Incomplete ones that were not worked on since then, at most 100. */
    async incomplete(beforeMs: number): Promise<readonly ManagedRestore[]> {
      const where = { isComplete: false, touchedAtMs: { lessThan: beforeMs } };
      return (await records.page(SYSTEM_SCOPE, { where, limit: 100 })).items;
    },
    /** `DuplicateKeyError` in the commit when there is one. */
    insertWrite: ({ crUid, tenant: tenantId, ...state }: Omit<ManagedRestore, 'version'>) =>
      records.insertWrite(crUid, { ...state, tenantId }),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ crUid, version, tenant: tenantId, ...state }: ManagedRestore) =>
      records.replaceWrite(crUid, { ...state, tenantId }, version),
    removeWrite: ({ crUid, version }: ManagedRestore) => records.removeWrite(crUid, version),
  };
}

function managedRestoreOf({ id, version, value }: Stored<ManagedRestoreDocument>): ManagedRestore {
  const { tenantId: tenant, ...state } = value;
  return { ...state, crUid: id, version, tenant };
}

export type UserRestores = ReturnType<typeof createUserRestores>;

export function createUserRestores(store: DocumentStore) {
  const records = repository(store, ownRestoresCollection, userRestoreOf);
  return {
    get: ({ tenant }: Scope, id: string) => records.get({ tenant }, id),
    /** Number of the user's restores that are neither complete nor failed. */
    async countOpen({ tenant }: Scope, userId: UserId): Promise<number> {
      // Failed restores are kept too, so that callers can ask for their result.
      const found = await records.all({ tenant }, { where: { userId, isComplete: false } });
      return found.filter(({ failure }) => failure === null).length;
    },
    /** Restores without progress since then, of all tenants, at most 100. */
    async untouched(scope: SystemScope, beforeMs: number, isComplete: boolean): Promise<readonly UserRestore[]> {
      const where = { isComplete, touchedAtMs: { lessThan: beforeMs } };
      return (await records.page(scope, { where, limit: 100 })).items;
    },
    insertWrite: ({ id, tenant: _, ...document }: Omit<UserRestore, 'version'>) => records.insertWrite(id, document),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ id, version, tenant: _, ...document }: UserRestore) => records.replaceWrite(id, document, version),
    removeWrite: ({ id, version }: UserRestore) => records.removeWrite(id, version),
  };
}

function userRestoreOf({ id, version, tenant, value }: Stored<UserRestoreDocument>): UserRestore {
  return { ...value, id, version, tenant: asId(tenant ?? '') };
}

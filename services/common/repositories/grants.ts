import type { DatasetId, PrincipalId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import type { Grant } from '../domain/permissions.ts';
import { PERMISSIONS, type Permission } from '../domain/principal.ts';
import type { DatasetScope, Scope } from '../domain/scope.ts';
import {
  type Collection,
  type DocumentStore,
  DuplicateKeyError,
  insert,
  removeWhere,
  replace,
  type Stored,
  update,
  VersionConflictError,
  type Write,
} from '../ports/document-store.ts';
import { datasetsCollection } from './datasets.ts';
import { findAll } from './find-all.ts';

type GrantDocument = {
  readonly datasetId: string;
  readonly holderId: string;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  readonly share: boolean;
};

/**
 * One document per (dataset, holder). Holders are users, tenants and roles. The tenant's, not the dataset's: the
 * question asked most is what a holder may do in a tenant, and indexes are led by the level's owner.
 */
export const grantsCollection: Collection<GrantDocument> = {
  name: 'grants',
  level: 'tenant',
  indexes: [{ fields: ['holderId'] }, { fields: ['datasetId'] }, { fields: ['holderId'], wide: true }],
};

/** Who may do what with a dataset. Everything stays in the tenant of the scope. */
export interface Grants {
  /** All grants of the holders in the tenant. */
  ofHolders(scope: Scope, holders: readonly PrincipalId[]): Promise<readonly Grant[]>;
  /** The grants of the holders on the datasets, in one read. */
  on(scope: Scope, datasets: readonly DatasetId[], holders: readonly PrincipalId[]): Promise<readonly Grant[]>;
  /** For a dataset made in the same commit. */
  insertAllWrites(dataset: DatasetId, holders: readonly PrincipalId[]): readonly Write[];
  /** Idempotent. False when the dataset is gone. */
  grant(scope: DatasetScope, holder: PrincipalId, permission: Permission): Promise<boolean>;
  /** Idempotent. */
  revoke(scope: DatasetScope, holder: PrincipalId, permission: Permission): Promise<void>;
  /**
   * All four permissions for one holder on datasets that are touched in the same commit. `DuplicateKeyError` or
   * `VersionConflictError` in the commit when the holder's grants changed since they were read here.
   */
  giveAllWrites(scope: Scope, datasets: readonly DatasetId[], holder: PrincipalId): Promise<readonly Write[]>;
  removeAllWrite(dataset: DatasetId): Write;
  /** In whatever tenant, when it is committed under `SystemScope`. */
  removeAllOfHolderWrite(holder: PrincipalId): Write;
}

const PAGE = 1000;
const NONE = { read: false, write: false, delete: false, share: false };
const ALL = { read: true, write: true, delete: true, share: true };

export function createGrants(store: DocumentStore): Grants {
  return {
    async ofHolders(scope, holders) {
      const grants = await findAll(store, scope, grantsCollection, {
        where: { holderId: { in: holders } },
        // In the order of the index: any other would make the store read the whole tenant.
        sort: [{ field: 'holderId' }],
      });
      return grants.map(grantOf);
    },
    async on(scope, datasets, holders) {
      const ids = datasets.flatMap((dataset) => holders.map((holder) => grantId(dataset, holder)));
      const grants: Grant[] = [];
      for (let start = 0; start < ids.length; start += PAGE) {
        const slice = ids.slice(start, start + PAGE);
        grants.push(...(await store.getMany(scope, grantsCollection, slice)).map(grantOf));
      }
      return grants;
    },
    insertAllWrites: (dataset, holders) =>
      holders.map((holder) =>
        insert(grantsCollection, grantId(dataset, holder), { datasetId: dataset, holderId: holder, ...ALL }),
      ),
    async grant(scope, holder, permission) {
      const id = grantId(scope.dataset, holder);
      // The dataset is touched in the same commit: a grant that outlived it would open a later dataset of the same name.
      const touchDataset = update(datasetsCollection, scope.dataset, { required: true });
      for (;;) {
        const existing = await store.get(scope, grantsCollection, id);
        const write =
          existing === null
            ? insert(grantsCollection, id, { datasetId: scope.dataset, holderId: holder, ...NONE, [permission]: true })
            : replace(grantsCollection, id, { ...existing.value, [permission]: true }, existing.version);
        try {
          await store.commit(scope, [touchDataset, write]);
          return true;
        } catch (error) {
          if (error instanceof VersionConflictError && error.collection === datasetsCollection.name) return false;
          if (!(error instanceof VersionConflictError || error instanceof DuplicateKeyError)) throw error;
        }
      }
    },
    async revoke(scope, holder, permission) {
      const id = grantId(scope.dataset, holder);
      await store.commit(scope, [update(grantsCollection, id, { set: { [permission]: false } })]);
    },
    async giveAllWrites(scope, datasets, holder) {
      const existing = new Map<string, Stored<GrantDocument>>();
      for (let start = 0; start < datasets.length; start += PAGE) {
        const ids = datasets.slice(start, start + PAGE).map((dataset) => grantId(dataset, holder));
        for (const stored of await store.getMany(scope, grantsCollection, ids)) existing.set(stored.id, stored);
      }
      return datasets.map((dataset) => {
        const id = grantId(dataset, holder);
        const document = { datasetId: dataset, holderId: holder, ...ALL };
        const stored = existing.get(id);
        return stored === undefined
          ? insert(grantsCollection, id, document)
          : replace(grantsCollection, id, document, stored.version);
      });
    },
    removeAllWrite: (dataset) => removeWhere(grantsCollection, { datasetId: dataset }),
    removeAllOfHolderWrite: (holder) => removeWhere(grantsCollection, { holderId: holder }),
  };
}

function grantId(dataset: DatasetId, holder: PrincipalId): string {
  return `${dataset}/${holder}`;
}

function grantOf({ value }: Stored<GrantDocument>): Grant {
  const permissions = new Set(PERMISSIONS.filter((permission) => value[permission]));
  return { holder: asId(value.holderId), dataset: asId(value.datasetId), permissions };
}

import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  removeWhere,
  replace,
  type Stored,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type StoredConfigurationDocument = {
  readonly ownerId: string;
  readonly name: string;
  /** JSON text: clients choose the names in it and how deep they nest. */
  readonly configuration: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
};

export const storedConfigurationsCollection: Collection<StoredConfigurationDocument> = {
  name: 'stored_configurations',
  level: 'system',
  indexes: [{ fields: ['ownerId', 'name'], unique: true }],
};

/** A JSON object that a client keeps under a name: settings of the web interface, of an agent. */
export interface StoredConfiguration {
  readonly id: string;
  /** Of the document, for `replaceWrite`. */
  readonly version: number;
  readonly ownerId: UserId;
  readonly name: string;
  readonly configuration: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

export type NewStoredConfiguration = Omit<StoredConfiguration, 'version' | 'updatedAt'>;

export interface StoredConfigurations {
  get(id: string): Promise<StoredConfiguration | null>;
  find(owner: UserId, name: string): Promise<StoredConfiguration | null>;
  count(owner: UserId): Promise<number>;
  /** By owner, then name. */
  ofUsers(owners: readonly UserId[]): Promise<readonly StoredConfiguration[]>;
  /** `DuplicateKeyError` in the commit when the owner has the name. */
  insertWrite(configuration: NewStoredConfiguration): Write;
  /** `VersionConflictError` in the commit when it changed since it was read. */
  replaceWrite(configuration: StoredConfiguration): Write;
  removeAllWrite(owner: UserId): Write;
}

export function createStoredConfigurations(store: DocumentStore): StoredConfigurations {
  return {
    async get(id) {
      const stored = await store.get(SYSTEM_SCOPE, storedConfigurationsCollection, id);
      return stored === null ? null : configurationOf(stored);
    },
    async find(owner, name) {
      const where = { ownerId: owner, name };
      const { items } = await store.find(SYSTEM_SCOPE, storedConfigurationsCollection, { where, limit: 1 });
      return items[0] === undefined ? null : configurationOf(items[0]);
    },
    count: (owner) => store.count(SYSTEM_SCOPE, storedConfigurationsCollection, { ownerId: owner }),
    async ofUsers(owners) {
      const found = await findAll(store, SYSTEM_SCOPE, storedConfigurationsCollection, {
        where: { ownerId: { in: owners } },
        sort: [{ field: 'ownerId' }, { field: 'name' }],
      });
      return found.map(configurationOf);
    },
    insertWrite: ({ id, ...rest }) =>
      insert(storedConfigurationsCollection, id, documentOf({ ...rest, updatedAt: null })),
    replaceWrite: ({ id, version, ...rest }) => replace(storedConfigurationsCollection, id, documentOf(rest), version),
    removeAllWrite: (owner) => removeWhere(storedConfigurationsCollection, { ownerId: owner }),
  };
}

function documentOf(fields: Omit<StoredConfiguration, 'id' | 'version'>): StoredConfigurationDocument {
  return { ...fields, configuration: JSON.stringify(fields.configuration) };
}

function configurationOf({ id, version, value }: Stored<StoredConfigurationDocument>): StoredConfiguration {
  const configuration = JSON.parse(value.configuration) as JsonObject;
  return { ...value, id, version, ownerId: asId(value.ownerId), configuration };
}

import type { UserId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type StoredConfigurationDocument = Omit<StoredConfiguration, 'id' | 'version' | 'configuration'> & {
  /** JSON text: clients choose the names and the depth of nesting. */
  readonly configuration: string;
};

export const storedConfigurationsCollection: OwnedCollection<StoredConfigurationDocument> = {
  name: 'stored_configurations',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'ownerId' },
  indexes: [{ fields: ['ownerId', 'name'], unique: true }],
};

/** A JSON object that a client stores under a name, such as settings of a user interface or an agent. */
export interface StoredConfiguration {
  readonly id: string;
  /** Version of the document, for `replaceWrite`. */
  readonly version: number;
  readonly ownerId: UserId;
  readonly name: string;
  readonly configuration: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

type NewStoredConfiguration = Omit<StoredConfiguration, 'version' | 'updatedAt'>;

export function createStoredConfigurations(store: DocumentStore) {
  const records = repository(store, storedConfigurationsCollection, configurationOf);
  return {
    get: (id: string) => records.get(SYSTEM_SCOPE, id),
    async find(owner: UserId, name: string): Promise<StoredConfiguration | null> {
      const where = { ownerId: owner, name };
      return records.first(SYSTEM_SCOPE, { where });
    },
    count: (owner: UserId) => records.count(SYSTEM_SCOPE, { ownerId: owner }),
    /** By owner, then name. */
    ofUsers: (owners: readonly UserId[]) =>
      records.all(SYSTEM_SCOPE, {
        where: { ownerId: { in: owners } },
        sort: [{ field: 'ownerId' }, { field: 'name' }],
      }),
    /** `DuplicateKeyError` in the commit when the owner uses the name already. */
    insertWrite: ({ id, ...rest }: NewStoredConfiguration) =>
      records.insertWrite(id, documentOf({ ...rest, updatedAt: null })),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ id, version, ...rest }: StoredConfiguration) =>
      records.replaceWrite(id, documentOf(rest), version),
  };
}

function documentOf(fields: Omit<StoredConfiguration, 'id' | 'version'>): StoredConfigurationDocument {
  return { ...fields, configuration: JSON.stringify(fields.configuration) };
}

function configurationOf({ id, version, value }: Stored<StoredConfigurationDocument>): StoredConfiguration {
  const configuration = JSON.parse(value.configuration) as JsonObject;
  return { ...value, id, version, configuration };
}

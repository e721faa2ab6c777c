import type { JsonObject } from '../../kernel/json.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository, withVersion } from '../base/repository.ts';

/** Defaults of runs of a dataset; null: the server's default. */
export type RunDefaults = {
  readonly graphModel: JsonObject | null;
  readonly prompt: string | null;
  readonly chunking: { readonly strategy: string; readonly maxTokens: number | null } | null;
};

type DatasetConfigurationDocument = RunDefaults & {
  /** Earlier configurations, newest last: `hash` of the configuration, and the ISO-8601 time from which it applied. */
  readonly history: readonly { readonly hash: string; readonly since: string }[];
};

export const datasetConfigurationsCollection: OwnedCollection<DatasetConfigurationDocument> = {
  name: 'dataset_configurations',
  level: 'dataset',
  owner: 'cognify',
  readers: ['ingest'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [],
};

export interface DatasetConfiguration extends DatasetConfigurationDocument {
  readonly version: number;
}

/** One for each dataset. */
const ID = 'current';

export type DatasetConfigurations = ReturnType<typeof createDatasetConfigurations>;

export function createDatasetConfigurations(store: DocumentStore) {
  const records = repository(store, datasetConfigurationsCollection, withVersion);
  return {
    get: (scope: DatasetScope): Promise<DatasetConfiguration | null> => records.get(scope, ID),
    /** `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before` was read. */
    putWrite: (document: DatasetConfigurationDocument, before: DatasetConfiguration | null) =>
      records.putWrite(ID, document, before),
  };
}

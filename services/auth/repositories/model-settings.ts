import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import { repository, withVersion } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** A secret that clients write and cannot read back. */
export type SealedKey = {
  /** Sealed by the `SecretBox` for the `keyPlace` of its part. */
  readonly sealed: string;
  /** The masked key. */
  readonly shown: string;
};

/** Without a key, that of the environment is used, if any. */
type StoredLanguageModel = {
  readonly provider: string;
  readonly model: string;
  readonly key: SealedKey | null;
};

type StoredVectorDatabase = {
  readonly provider: string;
  readonly url: string;
  readonly key: SealedKey | null;
};

type ModelSettingsDocument = {
  /** Changes with every change of the settings, also across a removal, after which versions start again. */
  readonly revision: string;
  readonly languageModel: StoredLanguageModel | null;
  readonly vectorDatabase: StoredVectorDatabase | null;
  readonly changedAt: string;
};

/** One document: the settings that superusers changed at run time, for the whole server. */
export const modelSettingsCollection: OwnedCollection<ModelSettingsDocument> = {
  name: 'model_settings',
  level: 'system',
  owner: 'auth',
  belongsTo: 'system',
  indexes: [],
};

const ID = 'server';

/** Null parts are those of the environment. */
export interface StoredModelSettings extends ModelSettingsDocument {
  /** Version of the document, for `putWrite` and `removeWrite`. */
  readonly version: number;
}

type NewModelSettings = Omit<StoredModelSettings, 'version'>;

export type ModelSettingsRepository = ReturnType<typeof createModelSettings>;

export function createModelSettings(store: DocumentStore) {
  const records = repository(store, modelSettingsCollection, withVersion);
  return {
    /** Null: nothing was changed. */
    get: () => records.get(SYSTEM_SCOPE, ID),
    /** `DuplicateKeyError` or `VersionConflictError` in the commit when they changed since `before` was read. */
    putWrite: (settings: NewModelSettings, before: StoredModelSettings | null) =>
      records.putWrite(ID, settings, before),
    removeWrite: ({ version }: StoredModelSettings) => records.removeWrite(ID, version),
  };
}

/** Place that the sealed key of a part is bound to. */
export function keyPlace(part: 'languageModel' | 'vectorDatabase'): SecretPlace {
  return { collection: modelSettingsCollection.name, id: ID, field: `${part}.key` };
}

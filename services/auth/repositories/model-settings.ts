import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  type Write,
} from '../../common/storage/ports/document-store.ts';

/** A secret that is written and never read back. */
export type SealedKey = {
  /** By the `SecretBox`, for the `keyPlace` of its part. */
  readonly sealed: string;
  /** What may be seen of it. */
  readonly shown: string;
};

/** Null key: the one of the environment, if any. */
export type StoredLanguageModel = {
  readonly provider: string;
  readonly model: string;
  readonly key: SealedKey | null;
};

export type StoredVectorDatabase = {
  readonly provider: string;
  readonly url: string;
  readonly key: SealedKey | null;
};

type ModelSettingsDocument = {
  /** Another with every change, also over a removal, after which versions start again. */
  readonly revision: string;
  readonly languageModel: StoredLanguageModel | null;
  readonly vectorDatabase: StoredVectorDatabase | null;
  readonly changedAt: string;
};

/** One document: what superusers set at run time for all of the server. */
export const modelSettingsCollection: Collection<ModelSettingsDocument> = {
  name: 'model_settings',
  level: 'system',
  indexes: [],
};

const ID = 'server';

/** Null parts are as the environment configures them. */
export interface StoredModelSettings extends ModelSettingsDocument {
  /** Of the document, for `replaceWrite` and `removeWrite`. */
  readonly version: number;
}

export type NewModelSettings = Omit<StoredModelSettings, 'version'>;

export interface ModelSettingsRepository {
  /** Null: nothing was set. */
  get(): Promise<StoredModelSettings | null>;
  /** `DuplicateKeyError` in the commit when settings were made meanwhile. */
  insertWrite(settings: NewModelSettings): Write;
  /** `VersionConflictError` in the commit when they changed since they were read. */
  replaceWrite(settings: StoredModelSettings): Write;
  removeWrite(settings: StoredModelSettings): Write;
}

export function createModelSettings(store: DocumentStore): ModelSettingsRepository {
  return {
    async get() {
      const stored = await store.get(SYSTEM_SCOPE, modelSettingsCollection, ID);
      return stored === null ? null : settingsOf(stored);
    },
    insertWrite: (settings) => insert(modelSettingsCollection, ID, settings),
    replaceWrite: ({ version, ...settings }) => replace(modelSettingsCollection, ID, settings, version),
    removeWrite: ({ version }) => remove(modelSettingsCollection, ID, version),
  };
}

/** What the sealed key of a part is bound to. */
export function keyPlace(part: 'languageModel' | 'vectorDatabase'): SecretPlace {
  return { collection: modelSettingsCollection.name, id: ID, field: `${part}.key` };
}

function settingsOf({ version, value }: Stored<ModelSettingsDocument>): StoredModelSettings {
  return { ...value, version };
}

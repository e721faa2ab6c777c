import type { DatasetId } from '../../kernel/brand.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import { asId } from '../../kernel/ids.ts';
import type { UserInTenant } from '../../kernel/principal.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { ignoreDuplicate } from '../../platform/async/retry-on-conflict.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type SyncOriginDocument = { readonly origin: string };

/** Datasets that are pushed here from another memory: by whom, and under which id of theirs, as one fingerprint. */
export const syncOriginsCollection: OwnedCollection<SyncOriginDocument> = {
  name: 'sync_origins',
  level: 'dataset',
  owner: 'integrations',
  readers: ['cognify'],
  writers: { ingest: 'removes them with their dataset' },
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['origin'] }],
};

/** Datasets by the ids that a user's other memory has for them. */
export function createSyncOrigins(store: DocumentStore) {
  const records = repository(store, syncOriginsCollection, ({ dataset }) => asId<DatasetId>(dataset ?? ''));
  return {
    /** Null: the user never pushed a dataset of that id, or it was deleted since. */
    find: (user: UserInTenant, remoteId: string): Promise<DatasetId | null> =>
      records.first({ tenant: user.tenant }, { where: { origin: originOf(user, remoteId) } }),
    /** Repeating is harmless. */
    async note(scope: DatasetScope, user: UserInTenant, remoteId: string): Promise<void> {
      const origin = originOf(user, remoteId);
      await ignoreDuplicate(store.commit(scope, [records.insertWrite(origin, { origin })]));
    },
  };
}

export function originOf({ id, tenant }: UserInTenant, remoteId: string): string {
  return sha256OfJson([tenant, id, remoteId]);
}

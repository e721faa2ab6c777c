import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository, withVersion } from '../base/repository.ts';

type CredentialDocument = {
  readonly userId: string;
  readonly tenantId: string;
  /** The tokens as JSON, sealed. */
  readonly sealed: string;
  /** End of the access token; null: it does not expire. */
  readonly expiresAt: string | null;
  /** A process exchanges the tokens for new ones until then. */
  readonly refreshingUntil: string | null;
};

/** Tokens of connections, by the id of the connection; in no snapshot. */
export const credentialsCollection: OwnedCollection<CredentialDocument> = {
  name: 'source_credentials',
  level: 'system',
  owner: 'integrations',
  writers: { auth: 'removes them in the commit that deletes the user or the tenant' },
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [{ fields: ['userId'] }, { fields: ['tenantId'] }],
};

export type StoredCredential = CredentialDocument & { readonly version: number };

export function createCredentialRecords(store: DocumentStore) {
  const records = repository(store, credentialsCollection, withVersion);
  return {
    get: (connectionId: string) => records.get(SYSTEM_SCOPE, connectionId),
    /** `VersionConflictError` in the commit when another process has changed them since they were read. */
    putWrite(connectionId: string, credential: CredentialDocument, before: StoredCredential | null): Write {
      const { userId, tenantId, sealed, expiresAt, refreshingUntil } = credential;
      return records.putWrite(connectionId, { userId, tenantId, sealed, expiresAt, refreshingUntil }, before);
    },
    removeWrite: (connectionId: string): Write => records.removeWrite(connectionId),
  };
}

/** Place of the sealed tokens of a connection. */
export const tokensPlace = (id: string) => ({ collection: credentialsCollection.name, id, field: 'sealed' });

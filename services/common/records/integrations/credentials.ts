import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { FREE, type Lease, leasesOf } from '../../platform/leases/lease.ts';
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
  /** Lease of the process that exchanges the tokens for new ones; null: none does. */
  readonly holder: string | null;
  readonly leasedUntilMs: number;
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

type SealedTokens = Pick<CredentialDocument, 'sealed' | 'expiresAt'>;

const leases = leasesOf(credentialsCollection, { holder: 'holder', leasedUntilMs: 'leasedUntilMs', fence: 'holder' });

export function createCredentialRecords(store: DocumentStore) {
  const records = repository(store, credentialsCollection, withVersion);
  return {
    get: (connectionId: string) => records.get(SYSTEM_SCOPE, connectionId),
    /** `VersionConflictError` in the commit when another process has changed them since they were read. */
    putWrite(
      connectionId: string,
      { userId, tenantId, sealed, expiresAt }: Omit<CredentialDocument, keyof Lease>,
      before: StoredCredential | null,
    ): Write {
      return records.putWrite(connectionId, { userId, tenantId, sealed, expiresAt, ...FREE }, before);
    },
    /** `VersionConflictError` in the commit when another process has claimed or exchanged them since they were read. */
    claimWrite: (connectionId: string, { version: _, ...read }: StoredCredential, lease: Lease): Write =>
      leases.claimWrite(connectionId, read, lease, { where: { sealed: read.sealed }, required: true }),
    /** Releases the claim, with the tokens that it brought. `VersionConflictError` in the commit when it is another's. */
    releaseWrite: (connectionId: string, holder: string, tokens: Partial<SealedTokens> = {}): Write =>
      leases.heldWrite(connectionId, holder, { set: { ...tokens, ...FREE }, required: true }),
    /** The same tokens, sealed anew; changes nothing when they were exchanged meanwhile. */
    resealWrite: (connectionId: string, before: string, sealed: string): Write =>
      records.updateWrite(connectionId, { where: { sealed: before }, set: { sealed } }),
    removeWrite: (connectionId: string): Write => records.removeWrite(connectionId),
  };
}

/** Place of the sealed tokens of a connection. */
export const tokensPlace = (id: string) => ({ collection: credentialsCollection.name, id, field: 'sealed' });

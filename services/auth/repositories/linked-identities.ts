import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { sha256OfJson } from '../../common/kernel/hashes.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** An identity of an issuer, and its account. */
export type LinkedIdentity = {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: UserId;
  /**
   * Tenants that the user joined by the configuration of providers: a user who was removed from one does not come back by
   * signing in.
   */
  readonly joinedTenants: readonly TenantId[];
  readonly createdAt: string;
};

export const linkedIdentitiesCollection: OwnedCollection<LinkedIdentity> = {
  name: 'linked_identities',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'userId' },
  // One identity per issuer and account: when an address passes on to another person, it does not give access to the
  // account.
  indexes: [{ fields: ['userId', 'issuer'], unique: true }],
};

/** Identities by issuer and subject. Writes may be committed under any scope. */
export function createLinkedIdentities(store: DocumentStore) {
  const records = repository(store, linkedIdentitiesCollection, ({ value }) => value);
  return {
    find: (issuer: string, subject: string) => records.get(SYSTEM_SCOPE, identityId({ issuer, subject })),
    ofUser: (user: UserId) => records.all(SYSTEM_SCOPE, { where: { userId: user } }),
    /**
     * `DuplicateKeyError` in the commit when the identity has an account already, or the account another identity of the
     * issuer.
     */
    insertWrite: (identity: LinkedIdentity) => records.insertWrite(identityId(identity), identity),
    /** Adds a joined tenant. `VersionConflictError` in the commit when the link is gone. */
    joinedWrite: (identity: LinkedIdentity, tenant: TenantId) =>
      records.updateWrite(identityId(identity), {
        set: { joinedTenants: [...identity.joinedTenants, tenant] },
        required: true,
      }),
  };
}

/** A hash: subjects may be long and have any characters. */
function identityId({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>): string {
  return sha256OfJson([issuer, subject], 'base64url');
}

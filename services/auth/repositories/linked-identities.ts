import { hash } from 'node:crypto';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type LinkedIdentityDocument = {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  /** Tenants that the configuration of providers made the user join: who was removed from one does not come back by signing in. */
  readonly joinedTenants: readonly string[];
  readonly createdAt: string;
};

export const linkedIdentitiesCollection: OwnedCollection<LinkedIdentityDocument> = {
  name: 'linked_identities',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'userId' },
  // One person of an issuer per account: an address that passed on to another person does not open the account again.
  indexes: [{ fields: ['userId', 'issuer'], unique: true }],
};

/** Somebody at an issuer, and the account that it opens. */
export interface LinkedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: UserId;
  readonly joinedTenants: readonly TenantId[];
  readonly createdAt: string;
}

export type LinkedIdentities = ReturnType<typeof createLinkedIdentities>;

/** Writes are committed by the caller, under any scope. */
export function createLinkedIdentities(store: DocumentStore) {
  const records = repository(store, linkedIdentitiesCollection, identityOf);
  return {
    find: (issuer: string, subject: string) => records.get(SYSTEM_SCOPE, identityId({ issuer, subject })),
    ofUser: (user: UserId) => records.all(SYSTEM_SCOPE, { where: { userId: user } }),
    /** `DuplicateKeyError` in the commit when the identity has an account, or the account an identity of the issuer. */
    insertWrite: (identity: LinkedIdentity) => records.insertWrite(identityId(identity), { ...identity }),
    /** With one tenant more. `VersionConflictError` in the commit when the link is gone. */
    joinedWrite: (identity: LinkedIdentity, tenant: TenantId) =>
      records.updateWrite(identityId(identity), {
        set: { joinedTenants: [...identity.joinedTenants, tenant] },
        required: true,
      }),
    removeWrite: (identity: LinkedIdentity) => records.removeWrite(identityId(identity)),
  };
}

/** Subjects may be long and of any characters. */
function identityId({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>): string {
  return hash('sha256', JSON.stringify([issuer, subject]), 'base64url');
}

function identityOf({ value }: Stored<LinkedIdentityDocument>): LinkedIdentity {
  return { ...value, userId: asId(value.userId), joinedTenants: value.joinedTenants.map((id) => asId<TenantId>(id)) };
}

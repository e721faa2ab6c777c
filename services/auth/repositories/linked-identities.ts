import { hash } from 'node:crypto';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  type Stored,
  update,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type LinkedIdentityDocument = {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  /** Tenants that the configuration of providers made the user join: who was removed from one does not come back by signing in. */
  readonly joinedTenants: readonly string[];
  readonly createdAt: string;
};

export const linkedIdentitiesCollection: Collection<LinkedIdentityDocument> = {
  name: 'linked_identities',
  level: 'system',
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

/** Writes are committed by the caller, under any scope. */
export interface LinkedIdentities {
  find(issuer: string, subject: string): Promise<LinkedIdentity | null>;
  ofUser(user: UserId): Promise<readonly LinkedIdentity[]>;
  /** `DuplicateKeyError` in the commit when the identity has an account, or the account an identity of the issuer. */
  insertWrite(identity: LinkedIdentity): Write;
  /** With one tenant more. `VersionConflictError` in the commit when the link is gone. */
  joinedWrite(identity: LinkedIdentity, tenant: TenantId): Write;
  removeWrite(identity: LinkedIdentity): Write;
  removeAllOfUserWrite(user: UserId): Write;
}

export function createLinkedIdentities(store: DocumentStore): LinkedIdentities {
  return {
    async find(issuer, subject) {
      const stored = await store.get(SYSTEM_SCOPE, linkedIdentitiesCollection, identityId({ issuer, subject }));
      return stored === null ? null : identityOf(stored);
    },
    async ofUser(user) {
      const found = await findAll(store, SYSTEM_SCOPE, linkedIdentitiesCollection, { where: { userId: user } });
      return found.map(identityOf);
    },
    insertWrite: (identity) => insert(linkedIdentitiesCollection, identityId(identity), { ...identity }),
    joinedWrite: (identity, tenant) =>
      update(linkedIdentitiesCollection, identityId(identity), {
        set: { joinedTenants: [...identity.joinedTenants, tenant] },
        required: true,
      }),
    removeWrite: (identity) => remove(linkedIdentitiesCollection, identityId(identity)),
    removeAllOfUserWrite: (user) => removeWhere(linkedIdentitiesCollection, { userId: user }),
  };
}

/** Subjects may be long and of any characters. */
function identityId({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>): string {
  return hash('sha256', JSON.stringify([issuer, subject]), 'base64url');
}

function identityOf({ value }: Stored<LinkedIdentityDocument>): LinkedIdentity {
  return { ...value, userId: asId(value.userId), joinedTenants: value.joinedTenants.map((id) => asId<TenantId>(id)) };
}

import { ownedBy, recordCollections } from '../common/records/collections.ts';
import { type AnyOwnedCollection, ownerField } from '../common/storage/ports/owned-collection.ts';
import { accountMailsCollection } from './repositories/account-mails.ts';
import { auditRecordsCollection } from './repositories/audit-log.ts';
import { capabilityGrantsCollection } from './repositories/capability-grants.ts';
import { deviceSignInsCollection } from './repositories/device-sign-ins.ts';
import { erasureReceiptsCollection } from './repositories/erasure-receipts.ts';
import { grantsCollection } from './repositories/grants.ts';
import { linkedIdentitiesCollection } from './repositories/linked-identities.ts';
import { loginFailuresCollection } from './repositories/login-failures.ts';
import { managedGrantsCollection } from './repositories/managed-grants.ts';
import { membershipsCollection } from './repositories/memberships.ts';
import { modelSettingsCollection } from './repositories/model-settings.ts';
import { revokedTokensCollection } from './repositories/revoked-tokens.ts';
import { roleMembersCollection } from './repositories/role-members.ts';
import { rolesCollection } from './repositories/roles.ts';
import { scimGroupsCollection, scimUsersCollection } from './repositories/scim-resources.ts';
import { signInAttemptsCollection } from './repositories/sign-in-attempts.ts';
import { storedConfigurationsCollection } from './repositories/stored-configurations.ts';
import { tenantHostsCollection } from './repositories/tenant-hosts.ts';
import { tenantEmbeddersCollection, tenantModelsCollection } from './repositories/tenant-models.ts';

export const authCollections: readonly AnyOwnedCollection[] = [
  ...ownedBy('auth'),
  accountMailsCollection,
  auditRecordsCollection,
  capabilityGrantsCollection,
  deviceSignInsCollection,
  erasureReceiptsCollection,
  grantsCollection,
  linkedIdentitiesCollection,
  loginFailuresCollection,
  managedGrantsCollection,
  membershipsCollection,
  modelSettingsCollection,
  revokedTokensCollection,
  roleMembersCollection,
  rolesCollection,
  scimGroupsCollection,
  scimUsersCollection,
  signInAttemptsCollection,
  storedConfigurationsCollection,
  tenantEmbeddersCollection,
  tenantHostsCollection,
  tenantModelsCollection,
];

/** System-level collections that auth may write, its own and those of others. */
const ofInstallation = [
  ...authCollections,
  ...recordCollections.filter(({ owner, writers }) => owner !== 'auth' && writers?.auth !== undefined),
].filter(({ level }) => level === 'system');

/** Their documents of a user are removed in the commit that deletes the account. */
export const userCollections = ofInstallation.filter((collection) => ownerField(collection, 'user') !== null);

/** Collections of tenants with documents of users. */
export const holdingCollections = authCollections.filter(
  (collection) => collection.level !== 'system' && ownerField(collection, 'user') !== null,
);

/** Their documents of a tenant are removed in the commit that deletes it; those of tenant level are erased before. */
export const tenantRecordCollections = ofInstallation.filter((collection) => ownerField(collection, 'tenant') !== null);

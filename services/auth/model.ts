import type { TenantId } from '../common/kernel/brand.ts';
import type { ModelSettings } from '../common/platform/config/model-choice.ts';
import type { AuthPosture } from '../common/platform/config/posture.ts';
import type { TokenKey } from '../common/platform/config/token-keys.ts';
import type { ServerAddress } from '../common/platform/http/host-name.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import type { CloudApi } from '../common/ports/cloud-api.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { Clock, IdSource, RateLimiter } from '../common/ports/system.ts';
import { createAgentConnections } from '../common/records/auth/agent-connections.ts';
import { createApiKeys } from '../common/records/auth/api-keys.ts';
import { createDatasets } from '../common/records/auth/datasets.ts';
import { createManagedResources } from '../common/records/auth/managed-resources.ts';
import { createTenants } from '../common/records/auth/tenants.ts';
import { createUsers } from '../common/records/auth/users.ts';
import { createBudgets } from '../common/records/budgets/budget-keeper.ts';
import { createStoredBudgets } from '../common/records/budgets/budgets.ts';
import { createModelUsage } from '../common/records/budgets/model-usage.ts';
import { createSourceAccess } from '../common/records/integrations/source-access.ts';
import { createSessionEntries } from '../common/records/sessions/session-entries.ts';
import { createSessions } from '../common/records/sessions/sessions.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { createAccessChangeNotifier } from './credentials/access-change-notifier.ts';
import { createAccessTokens } from './credentials/access-tokens.ts';
import { createAuditHeadSigner } from './credentials/audit-head-signer.ts';
import { createLoginThrottle } from './credentials/login-throttle.ts';
import { createPasswordHasher, type PasswordHasher } from './credentials/password-hasher.ts';
import { createPrincipalCache } from './credentials/principal-cache.ts';
import { createProgramTokens } from './credentials/program-tokens.ts';
import { createRefusedLogins } from './credentials/refused-logins.ts';
import { createTenantActivity } from './credentials/tenant-activity.ts';
import { createTenantCache } from './credentials/tenant-cache.ts';
import { createAuditRecords } from './repositories/audit-records.ts';
import { createCapabilityGrants } from './repositories/capability-grants.ts';
import { createDeviceSignIns } from './repositories/device-sign-ins.ts';
import { createErasureReceipts } from './repositories/erasure-receipts.ts';
import { createGrants } from './repositories/grants.ts';
import { createLinkedIdentities } from './repositories/linked-identities.ts';
import { createLoginFailureCounts } from './repositories/login-failures.ts';
import { createManagedGrants } from './repositories/managed-grants.ts';
import { createMemberships } from './repositories/memberships.ts';
import { createModelSettings } from './repositories/model-settings.ts';
import { createRevokedTokens } from './repositories/revoked-tokens.ts';
import { createRoleMembers } from './repositories/role-members.ts';
import { createRoles } from './repositories/roles.ts';
import { createScimResources } from './repositories/scim-resources.ts';
import { createSignInAttempts } from './repositories/sign-in-attempts.ts';
import { createStoredConfigurations } from './repositories/stored-configurations.ts';
import { createTenantHosts } from './repositories/tenant-hosts.ts';
import { createTenantEmbedders, createTenantModels } from './repositories/tenant-models.ts';

/** Where people reach the server: `ENGRAM_PUBLIC_URL` and `ENGRAM_HOSTED`. */
export interface AuthSettings extends ServerAddress {
  readonly posture: AuthPosture;
  /** DEFAULT_USER_EMAIL. Cannot be registered. */
  readonly defaultUserEmail: string;
  /** AUTH_TOKEN_COOKIE_NAME and AUTH_TOKEN_COOKIE_DOMAIN; null: the host of the request. */
  readonly cookieName: string;
  readonly cookieDomain: string | null;
  /** Whether ENGRAM_PUBLIC_URL is https: browsers send the login cookie over nothing else then. */
  readonly cookieSecure: boolean;
  /** JWT_LIFETIME_SECONDS; 0: tokens do not expire. */
  readonly tokenLifetimeSeconds: number;
  /** ENGRAM_SIGN_UP: who may create accounts; `closed`: only superusers. */
  readonly signUp: 'open' | 'closed';
  /** Sign-up is closed and no other way to a first account is configured: that one can be registered, and is a superuser. */
  readonly registersFirstSuperuser: boolean;
  /** ENGRAM_MIN_PASSWORD_LENGTH, for new passwords. */
  readonly minPasswordLength: number;
  /** ENGRAM_TENANT_CREATION: who may create tenants. */
  readonly tenantCreation: 'users' | 'superusers';
  /** MAX_USER_API_KEYS */
  readonly maxApiKeysPerUser: number;
}

/** The models whose settings this service stores. */
interface ConfiguredModels {
  /** The model that the environment configures, with its key; null: none. */
  readonly configured: ModelSettings | null;
  /** To be called when the stored settings have changed. Never fails. */
  changed(): Promise<void>;
}

export interface AuthSecrets {
  /** Signs login tokens when there are no key pairs. */
  readonly jwt: Uint8Array | string;
  /** Other secrets whose tokens are accepted, while the secret is being changed. */
  readonly acceptedJwt?: readonly string[];
  /** The first key signs; tokens of all are accepted. */
  readonly tokenKeys?: readonly TokenKey[];
  /** DEFAULT_USER_PASSWORD */
  readonly defaultUserPassword: string | null;
}

interface WakeMetrics {
  /** Time from the request that wakes a tenant until the tenant serves. */
  tenantWoken(durationMs: number): void;
}

/** What the service is made of. */
export interface AuthParts {
  readonly store: DocumentStore;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  /** Default: budgets in the store, without limits for the whole server. */
  readonly budgets?: Budgets;
  readonly messenger: Messenger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: AuthSettings;
  readonly secrets: AuthSecrets;
  readonly secretBox: SecretBox;
  readonly models: ConfiguredModels;
  readonly cloudApi: CloudApi;
  /** For sign-ins of devices and programs. */
  readonly limiter: RateLimiter;
  /** Default: not measured. */
  readonly wakes?: WakeMetrics;
  /** Default: the service's own. */
  readonly passwords?: PasswordHasher;
}

/** Creates what most use cases share; a use case that needs more declares it in its file. */
export function createCommonDependencies(options: AuthParts, providerTenants: ReadonlySet<TenantId>) {
  const { store, eventLog, audit, clock, ids, logger, settings, secrets } = options;
  const cache = createPrincipalCache({ clock });
  const connections = createAgentConnections(store);
  const sessions = createSessions(store);
  const tenants = createTenants(store);
  const tenantHosts = createTenantHosts(store);
  const tenantCache = createTenantCache({ tenants, hosts: tenantHosts, clock });
  return {
    store,
    eventLog,
    audit,
    clock,
    ids,
    logger,
    settings,
    secretBox: options.secretBox,
    models: options.models,
    cloudApi: options.cloudApi,
    defaultUserPassword: secrets.defaultUserPassword,
    budgets: options.budgets ?? createBudgets(options),
    storedBudgets: createStoredBudgets(store),
    modelUsage: createModelUsage(store),
    users: createUsers(store),
    apiKeys: createApiKeys(store),
    connections,
    sessions,
    sessionEntries: createSessionEntries(store, sessions),
    datasets: createDatasets(store),
    sourceAccess: createSourceAccess(store),
    grants: createGrants(store),
    tenants,
    tenantHosts,
    tenantCache,
    tenantActivity: createTenantActivity({ store, tenants, tenantCache, clock, logger }),
    wakes: options.wakes ?? { tenantWoken: () => {} },
    tenantModels: createTenantModels(store),
    tenantEmbedders: createTenantEmbedders(store),
    managedResources: createManagedResources(store),
    managedGrants: createManagedGrants(store),
    erasureReceipts: createErasureReceipts(store),
    memberships: createMemberships(store),
    roles: createRoles(store),
    roleMembers: createRoleMembers(store),
    capabilities: createCapabilityGrants(store),
    scimResources: createScimResources(store),
    /** Tenants for which a sign-in provider is configured. */
    providerTenants,
    auditRecords: createAuditRecords(store),
    auditHeads: createAuditHeadSigner(secrets.jwt, secrets.acceptedJwt),
    configurations: createStoredConfigurations(store),
    modelSettings: createModelSettings(store),
    revokedTokens: createRevokedTokens(store),
    linkedIdentities: createLinkedIdentities(store),
    signInAttempts: createSignInAttempts(store),
    deviceSignIns: createDeviceSignIns(store),
    deviceLimiter: options.limiter,
    programs: createProgramTokens({ secret: secrets.jwt, clock, ids }),
    passwords: options.passwords ?? createPasswordHasher(),
    tokens: createAccessTokens({
      secret: secrets.jwt,
      acceptedSecrets: secrets.acceptedJwt ?? [],
      keys: secrets.tokenKeys ?? [],
      lifetimeSeconds: settings.tokenLifetimeSeconds,
      clock,
      ids,
    }),
    throttle: createLoginThrottle({ failures: createLoginFailureCounts(store), clock }),
    refusedLogins: createRefusedLogins({ audit, logger }),
    cache,
    notify: createAccessChangeNotifier(options, cache, tenantCache),
  };
}

export type AuthDependencies = ReturnType<typeof createCommonDependencies>;

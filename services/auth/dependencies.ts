import type { ModelSettings } from '../common/platform/config/model-choice.ts';
import type { AuthPosture } from '../common/platform/config/posture.ts';
import type { TokenKey } from '../common/platform/config/token-keys.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import type { CloudApi } from '../common/ports/cloud-api.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { AgentConnections } from '../common/records/auth/agent-connections.ts';
import type { ApiKeys } from '../common/records/auth/api-keys.ts';
import type { Datasets } from '../common/records/auth/datasets.ts';
import type { ManagedResources } from '../common/records/auth/managed-resources.ts';
import type { Tenants } from '../common/records/auth/tenants.ts';
import type { Users } from '../common/records/auth/users.ts';
import type { StoredBudgets } from '../common/records/budgets/budgets.ts';
import type { SessionEntries } from '../common/records/sessions/session-entries.ts';
import type { SessionRemoval } from '../common/records/sessions/session-removal.ts';
import type { Sessions } from '../common/records/sessions/sessions.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { AgentMode, AgentModeSettings } from './agents/agent-mode.ts';
import type { AccessNews } from './credentials/access-news.ts';
import type { AccessTokens } from './credentials/access-tokens.ts';
import type { AuditHeadSigner } from './credentials/audit-head-signer.ts';
import type { LoginThrottle } from './credentials/login-throttle.ts';
import type { PasswordHasher } from './credentials/password-hasher.ts';
import type { PrincipalCache } from './credentials/principal-cache.ts';
import type { RefusedLogins } from './credentials/refused-logins.ts';
import type { RememberedTenants } from './credentials/remembered-tenants.ts';
import type { TenantUse } from './credentials/tenant-use.ts';
import type { AccountMail, AccountMailOptions } from './mail/account-mail.ts';
import type { OidcOptions, OidcSetup } from './oidc/oidc-setup.ts';
import type { AuditRecords } from './repositories/audit-records.ts';
import type { CapabilityGrants } from './repositories/capability-grants.ts';
import type { ErasureReceipts } from './repositories/erasure-receipts.ts';
import type { Grants } from './repositories/grants.ts';
import type { LinkedIdentities } from './repositories/linked-identities.ts';
import type { ManagedGrants } from './repositories/managed-grants.ts';
import type { Memberships } from './repositories/memberships.ts';
import type { ModelSettingsRepository } from './repositories/model-settings.ts';
import type { RevokedTokens } from './repositories/revoked-tokens.ts';
import type { RoleMembers } from './repositories/role-members.ts';
import type { Roles } from './repositories/roles.ts';
import type { ScimResources } from './repositories/scim-resources.ts';
import type { SignInAttempts } from './repositories/sign-in-attempts.ts';
import type { StoredConfigurations } from './repositories/stored-configurations.ts';
import type { TenantHosts } from './repositories/tenant-hosts.ts';
import type { TenantEmbedderAccounts, TenantModels } from './repositories/tenant-models.ts';

export interface AuthSettings {
  readonly posture: Pick<AuthPosture, 'required' | 'reason' | 'openByDefault'>;
  /** DEFAULT_USER_EMAIL; nobody can register it. */
  readonly defaultUserEmail: string;
  /** AUTH_TOKEN_COOKIE_NAME and _DOMAIN; null: the host that answers. */
  readonly cookieName: string;
  readonly cookieDomain: string | null;
  /** ENGRAM_PUBLIC_URL begins with https: browsers send the login cookie over nothing else. */
  readonly cookieSecure: boolean;
  /** JWT_LIFETIME_SECONDS; 0: tokens do not end. */
  readonly tokenLifetimeSeconds: number;
  /** ENGRAM_SIGN_UP. `open`: everybody may make an account. `closed`: superusers may. */
  readonly signUp: 'open' | 'closed';
  /** Closed, and no other way to a first account is configured: that one may be made by registering, as a superuser. */
  readonly registersFirstSuperuser: boolean;
  /** ENGRAM_MIN_PASSWORD_LENGTH: of new passwords. */
  readonly minPasswordLength: number;
  /** ENGRAM_TENANT_CREATION: who may make tenants. */
  readonly tenantCreation: 'users' | 'superusers';
  /** MAX_USER_API_KEYS */
  readonly maxApiKeysPerUser: number;
}

export interface AuthSecrets {
  /** Signs login tokens where there are no key pairs. */
  readonly jwt: Uint8Array | string;
  /** Before and after a change of it: their tokens are accepted too. */
  readonly acceptedJwt?: readonly string[];
  /** The first one signs, all are accepted. */
  readonly tokenKeys?: readonly TokenKey[];
  /** DEFAULT_USER_PASSWORD */
  readonly defaultUserPassword: string | null;
}

/** The models whose settings the service keeps. */
export interface ConfiguredModels {
  /** As the environment configures it, with its key; null: none. */
  readonly configured: ModelSettings | null;
  /** The stored settings are others now. Never fails. */
  changed(): Promise<void>;
}

export interface WakeMetrics {
  /** From the request that woke a tenant until it serves. */
  tenantWoken(durationMs: number): void;
}

/** What the service is made from. */
export interface AuthServiceOptions {
  readonly store: DocumentStore;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  /** Default: those of the store, without server-wide limits. */
  readonly budgets?: Budgets;
  readonly messenger: Messenger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: AuthSettings;
  readonly secrets: AuthSecrets;
  readonly mail: AccountMailOptions;
  readonly secretBox: SecretBox;
  readonly models: ConfiguredModels;
  readonly cloudApi: CloudApi;
  /** Absent: nobody counts. */
  readonly wakes?: WakeMetrics;
  /** Absent: the process lives on without agents. */
  readonly agentMode?: AgentModeSettings;
  /** Where people can sign in; absent: here only. */
  readonly oidc?: OidcOptions | undefined;
  /** Default: the one of this service. */
  readonly passwords?: PasswordHasher;
}

/** What its use cases work with. */
export interface AuthDependencies
  extends Pick<
    AuthServiceOptions,
    'store' | 'eventLog' | 'audit' | 'clock' | 'ids' | 'logger' | 'secretBox' | 'models' | 'cloudApi'
  > {
  readonly settings: AuthSettings;
  readonly defaultUserPassword: string | null;
  readonly mail: AccountMail;
  readonly budgets: Budgets;
  readonly storedBudgets: StoredBudgets;
  readonly users: Users;
  readonly apiKeys: ApiKeys;
  readonly connections: AgentConnections;
  /** Sessions are ingest's: here they are shown with their connections, and go with their users. */
  readonly sessions: Pick<Sessions, 'get'>;
  readonly sessionEntries: Pick<SessionEntries, 'lastQas' | 'lastTraces'>;
  readonly sessionRemoval: Pick<SessionRemoval, 'ofUser'>;
  readonly datasets: Datasets;
  readonly grants: Grants;
  readonly tenants: Tenants;
  readonly tenantHosts: TenantHosts;
  readonly tenantModels: TenantModels;
  readonly tenantEmbedders: TenantEmbedderAccounts;
  readonly rememberedTenants: RememberedTenants;
  readonly tenantUse: TenantUse;
  readonly wakes: WakeMetrics;
  readonly managedResources: ManagedResources;
  readonly managedGrants: ManagedGrants;
  readonly erasureReceipts: ErasureReceipts;
  readonly memberships: Memberships;
  readonly roles: Roles;
  readonly roleMembers: RoleMembers;
  readonly capabilities: CapabilityGrants;
  readonly scimResources: ScimResources;
  readonly auditRecords: AuditRecords;
  readonly auditHeads: AuditHeadSigner;
  readonly configurations: StoredConfigurations;
  readonly modelSettings: ModelSettingsRepository;
  readonly revokedTokens: RevokedTokens;
  /** Null: no provider is configured. */
  readonly oidc: OidcSetup | null;
  readonly linkedIdentities: LinkedIdentities;
  readonly signInAttempts: SignInAttempts;
  readonly passwords: PasswordHasher;
  readonly tokens: AccessTokens;
  readonly throttle: LoginThrottle;
  readonly refusedLogins: RefusedLogins;
  readonly cache: PrincipalCache;
  readonly news: AccessNews;
  readonly agentMode: AgentMode | null;
}

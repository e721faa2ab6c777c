import type { TokenKey } from '../common/platform/config/token-keys.ts';
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
import { type AgentModeSettings, createAgentMode } from './agents/agent-mode.ts';
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
import { type AccountMailOptions, createAccountMail } from './mail/account-mail.ts';
import type { AuthSettings, ConfiguredModels } from './model.ts';
import { createOidcSetup } from './oidc/create-oidc-client.ts';
import type { OidcOptions } from './oidc/oidc-client.ts';
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
import type { WakeMetrics } from './tenants/open-tenant.ts';

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

export interface AuthServiceOptions {
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
  readonly mail: AccountMailOptions;
  readonly secretBox: SecretBox;
  readonly models: ConfiguredModels;
  readonly cloudApi: CloudApi;
  /** For sign-ins of devices and programs. */
  readonly limiter: RateLimiter;
  /** Default: not measured. */
  readonly wakes?: WakeMetrics;
  /** Absent: the process does not stop when its agents have gone. */
  readonly agentMode?: AgentModeSettings;
  /** Identity providers; absent: none. */
  readonly oidc?: OidcOptions | undefined;
  /** Default: the service's own. */
  readonly passwords?: PasswordHasher;
}

/** Creates the dependencies of all use cases, routes and messages of the service. */
export function createDependencies(options: AuthServiceOptions) {
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
    mail: createAccountMail(options.mail, { store, clock, logger, jwtSecret: secrets.jwt }),
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
    providerTenants: new Set((options.oidc?.providers ?? []).flatMap(({ tenant }) => tenant ?? [])),
    auditRecords: createAuditRecords(store),
    auditHeads: createAuditHeadSigner(secrets.jwt, secrets.acceptedJwt),
    configurations: createStoredConfigurations(store),
    modelSettings: createModelSettings(store),
    revokedTokens: createRevokedTokens(store),
    oidc: createOidcSetup(options.oidc, { clock, logger }),
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
    agentMode:
      options.agentMode === undefined
        ? null
        : createAgentMode(options.agentMode, { connections, logger, startedAt: clock.now() }),
  };
}

export type ServiceDependencies = ReturnType<typeof createDependencies>;

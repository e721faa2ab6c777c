import type { ModelSettings } from '../common/platform/config/model-choice.ts';
import type { AuthPosture } from '../common/platform/config/posture.ts';
import type { ServerAddress } from '../common/platform/http/host-name.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { ApiKeys } from '../common/records/auth/api-keys.ts';
import type { Datasets } from '../common/records/auth/datasets.ts';
import type { Tenants } from '../common/records/auth/tenants.ts';
import type { Users } from '../common/records/auth/users.ts';
import type { StoredBudgets } from '../common/records/budgets/budgets.ts';
import type { ModelUsage } from '../common/records/budgets/model-usage.ts';
import type { SourceAccess } from '../common/records/integrations/source-access.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { AccessChangeNotifier } from './credentials/access-change-notifier.ts';
import type { PasswordHasher } from './credentials/password-hasher.ts';
import type { CapabilityGrants } from './repositories/capability-grants.ts';
import type { Grants } from './repositories/grants.ts';
import type { ManagedGrants } from './repositories/managed-grants.ts';
import type { Memberships } from './repositories/memberships.ts';
import type { RoleMembers } from './repositories/role-members.ts';
import type { Roles } from './repositories/roles.ts';

/** Where people reach the server: `ENGRAM_PUBLIC_URL` and `ENGRAM_HOSTED`. */
export interface AuthSettings extends ServerAddress {
  readonly posture: Pick<AuthPosture, 'required' | 'reason' | 'openByDefault'>;
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
export interface ConfiguredModels {
  /** The model that the environment configures, with its key; null: none. */
  readonly configured: ModelSettings | null;
  /** To be called when the stored settings have changed. Never fails. */
  changed(): Promise<void>;
}

/** Dependencies that most use cases share; a use case that needs more declares them in its file. */
export interface AuthDependencies {
  readonly store: DocumentStore;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: AuthSettings;
  /** DEFAULT_USER_PASSWORD */
  readonly defaultUserPassword: string | null;
  readonly passwords: PasswordHasher;
  /** Invalidates caches in all processes after a change. */
  readonly notify: AccessChangeNotifier;
  readonly users: Users;
  readonly apiKeys: ApiKeys;
  readonly tenants: Tenants;
  readonly memberships: Memberships;
  readonly roles: Roles;
  readonly roleMembers: RoleMembers;
  readonly capabilities: CapabilityGrants;
  readonly datasets: Datasets;
  readonly sourceAccess: SourceAccess;
  readonly grants: Grants;
  readonly managedGrants: ManagedGrants;
  readonly storedBudgets: StoredBudgets;
  readonly modelUsage: ModelUsage;
}

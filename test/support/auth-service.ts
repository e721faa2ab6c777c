import { randomBytes, randomUUID } from 'node:crypto';
import { collections } from '../../services/app/collections.ts';
import type { PasswordHasher } from '../../services/auth/credentials/password-hasher.ts';
import type { AuthServiceOptions } from '../../services/auth/dependencies.ts';
import type { AccountMailOptions } from '../../services/auth/mail/account-mail.ts';
import type { AuthSecrets, AuthSettings } from '../../services/auth/model.ts';
import type { OidcOptions } from '../../services/auth/oidc/oidc-client.ts';
import { createAuditLog } from '../../services/auth/repositories/audit-log.ts';
import { createAuthService } from '../../services/auth/service.ts';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { decidePosture } from '../../services/common/platform/config/posture.ts';
import { createEventLog } from '../../services/common/platform/events/event-log.ts';
import type { Reply, Route } from '../../services/common/platform/http/route.ts';
import type { Credential } from '../../services/common/platform/messaging/messages.ts';
import { createMessenger, type Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { createAesGcmSecretBox } from '../../services/common/platform/secrets/aes-gcm-secret-box.ts';
import { createMemoryRateLimiter } from '../../services/common/platform/system/memory-rate-limiter.ts';
import type { Clock, IdSource } from '../../services/common/ports/system.ts';
import { createUsers, type NewUser } from '../../services/common/records/auth/users.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import { CALL, callRoute, type TestRequest } from './call-route.ts';
import { createMemoryDocumentStore } from './memory/document-store.ts';
import { quickPasswords } from './quick-passwords.ts';
import { unsignedPrincipals } from './unsigned-principals.ts';

export const required = decidePosture({ accessControl: true, requireAuthentication: undefined, host: '127.0.0.1' });
export const open = decidePosture({ accessControl: undefined, requireAuthentication: undefined, host: '127.0.0.1' });
export const off = decidePosture({ accessControl: false, requireAuthentication: undefined, host: '0.0.0.0' });

export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

/** A clock that starts at a fixed time and is advanced by the test. */
export function testClock(): TestClock {
  let milliseconds = 0;
  return {
    now: () => new Date(Date.parse('2026-01-02T03:04:05.678Z') + milliseconds),
    monotonicMs: () => milliseconds,
    advance: (step) => {
      milliseconds += step;
    },
  };
}

/** Settings of a server that is open to all, unless a posture is given. */
export const AUTH_SETTINGS: AuthSettings = {
  posture: open,
  defaultUserEmail: 'default_user@example.com',
  cookieName: 'auth_token',
  cookieDomain: null,
  cookieSecure: false,
  publicUrl: null,
  selectsTenantByHost: false,
  tokenLifetimeSeconds: 3600,
  maxApiKeysPerUser: 10,
  signUp: 'open',
  registersFirstSuperuser: false,
  minPasswordLength: 8,
  tenantCreation: 'users',
};

export const NO_MAIL: AccountMailOptions = {
  mailer: null,
  links: { reset: null, verify: null },
  perAccountAndHour: 5,
  secrets: { reset: null, verification: null },
  retryDelaysMs: [10, 10],
};

export interface TestAuth extends AsyncDisposable {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly clock: TestClock;
  readonly routes: readonly Route[];
  readonly warnings: readonly string[];
  /** Runs a route's handler for a principal, with the body as its schema reads it. */
  call(method: string, path: string, request?: TestRequest): Promise<Reply>;
  authenticate(...credentials: readonly Credential[]): Promise<Principal | null>;
  events(): Promise<readonly string[]>;
  /** Writes a user without a password directly to the store. */
  addUser(user?: Partial<NewUser>): Promise<Principal>;
}

export interface TestAuthOptions {
  readonly settings?: Partial<AuthSettings>;
  readonly secrets?: Partial<AuthSecrets>;
  readonly mail?: Partial<AccountMailOptions>;
  readonly models?: Partial<ModelOptions>;
  /** Used instead of the hasher of the service. */
  readonly passwords?: PasswordHasher;
  /** The store of an earlier instance. */
  readonly store?: DocumentStore;
  readonly oidc?: OidcOptions;
  readonly agentMode?: AuthServiceOptions['agentMode'];
  readonly wakes?: AuthServiceOptions['wakes'];
  /** Default: a clock that stands still. */
  readonly clock?: TestClock;
}

type ModelOptions = Pick<AuthServiceOptions, 'secretBox' | 'models' | 'cloudApi'>;

/** Options without a configured model, with new root keys and a hosted service that accepts every key. */
export function modelOptions(options: Partial<ModelOptions> = {}): ModelOptions {
  const rootKey = { id: 'test', bytes: randomBytes(32) };
  return {
    secretBox: createAesGcmSecretBox(async () => [rootKey]),
    models: { configured: null, changed: async () => {} },
    cloudApi: { checkKey: async () => {} },
    ...options,
  };
}

/** Starts the auth service on the memory store and the in-process bus. */
export async function startAuth(options: TestAuthOptions = {}): Promise<TestAuth> {
  const clock = options.clock ?? testClock();
  const ids: IdSource = { uuid: randomUUID, ordered: () => randomUUID() };
  const store = options.store ?? createMemoryDocumentStore();
  // All collections: budgets count data of several services.
  await store.prepare(collections);
  const bus = createInProcessBus();
  const messenger = createMessenger(bus, unsignedPrincipals);
  const warnings: string[] = [];
  const ignore = () => {};
  const logger = { debug: ignore, info: ignore, warn: (event: string) => warnings.push(event), error: ignore };
  const eventLog = createEventLog({ store, clock, ids });
  const service = createAuthService({
    store,
    eventLog,
    audit: createAuditLog(store, clock),
    messenger,
    clock,
    ids,
    logger,
    ...modelOptions(options.models),
    passwords: options.passwords ?? quickPasswords(),
    settings: { ...AUTH_SETTINGS, posture: required, ...options.settings },
    secrets: { jwt: 'a secret for tests only', defaultUserPassword: null, ...options.secrets },
    mail: { ...NO_MAIL, ...options.mail },
    oidc: options.oidc,
    limiter: createMemoryRateLimiter({ clock }),
    ...(options.agentMode === undefined ? {} : { agentMode: options.agentMode }),
    ...(options.wakes === undefined ? {} : { wakes: options.wakes }),
  });
  await service.start();
  const authenticate = async (...credentials: readonly Credential[]) =>
    (await messenger.call('auth.Authenticate', { credentials }, CALL)).principal;
  return {
    store,
    messenger,
    clock,
    warnings,
    authenticate,
    routes: service.routes,
    call: (method, path, request) => callRoute(service.routes, method, path, request),
    async events() {
      return (await eventLog.read(SYSTEM_SCOPE, { after: 0, limit: 1000 })).map(({ type }) => type);
    },
    async addUser(user = {}) {
      const id = asId<UserId>(randomUUID());
      const flags = { isActive: true, isSuperuser: false, isVerified: false };
      const rest = { email: `${id}@example.com`, passwordHash: '!', tenant: PERSONAL_TENANT, parentId: null };
      const createdAt = clock.now().toISOString();
      const added = { id, ...flags, ...rest, createdAt, ...user };
      await store.commit({ tenant: PERSONAL_TENANT }, [createUsers(store).insertWrite(added)]);
      const { email, tenant, isSuperuser, parentId } = added;
      return { id: added.id, email, tenant, isSuperuser, parentId };
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      await bus.drain();
    },
  };
}

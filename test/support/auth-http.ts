import { randomUUID } from 'node:crypto';
import { apiKeyHash, apiKeyPrefix, newApiKeyText } from '../../services/auth/credentials/api-key-text.ts';
import { createMemberships } from '../../services/auth/repositories/memberships.ts';
import type { TenantId, UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import type { HttpSettings } from '../../services/common/platform/http/settings.ts';
import { createApiKeys } from '../../services/common/records/auth/api-keys.ts';
import { createTenants } from '../../services/common/records/auth/tenants.ts';
import { createUsers, type NewUser, type User } from '../../services/common/records/auth/users.ts';
import { startAuth, type TestAuth, type TestAuthOptions } from './auth-service.ts';
import { type RunningApp, runApp } from './http-app.ts';

/** An account with an API key. */
export interface Person {
  readonly principal: Principal;
  readonly key: string;
}

/** The real auth service behind a real HTTP server. */
export interface AuthHttp extends AsyncDisposable {
  readonly auth: TestAuth;
  readonly app: RunningApp;
  /** Writes an account directly to the store. */
  addPerson(user?: Partial<NewUser>): Promise<Person>;
  /** Writes a tenant with an owner who works in it. */
  addTenant(name?: string): Promise<Person & { readonly tenant: TenantId }>;
  join(tenant: TenantId, person: Person): Promise<void>;
  leave(tenant: TenantId, id: string): Promise<void>;
  /** Creates an API key of an account. */
  keyFor(id: string): Promise<string>;
  /** Changes the account in the store directly. */
  changeAccount(id: string, change: Partial<User>): Promise<void>;
  request(person: Person | null, method: string, path: string, body?: unknown, contentType?: string): Promise<Response>;
}

interface AuthHttpOptions extends TestAuthOptions {
  readonly http?: Partial<HttpSettings>;
}

export async function startAuthHttp({ http, ...options }: AuthHttpOptions = {}): Promise<AuthHttp> {
  const auth = await startAuth(options);
  const { store, messenger, clock } = auth;
  const app = await runApp({
    routes: auth.routes,
    authenticate: (credentials, strict, context, circumstances) =>
      messenger.call('auth.Authenticate', { credentials, strict, ...circumstances }, context),
    ...(http === undefined ? {} : { settings: http }),
  });
  const now = () => clock.now().toISOString();
  const keyFor = async (id: string): Promise<string> => {
    const text = newApiKeyText();
    const limits = { label: null, expiresAt: null, permissions: null, datasets: null, tenant: null };
    const parts = { id: randomUUID(), userId: asId<UserId>(id), hash: apiKeyHash(text), prefix: apiKeyPrefix(text) };
    const key = { ...parts, ...limits, name: null, lastUsedAt: null, createdAt: now() };
    await store.commit({ tenant: PERSONAL_TENANT }, [createApiKeys(store).insertWrite(key)]);
    return text;
  };
  const addPerson = async (user: Partial<NewUser> = {}): Promise<Person> => {
    const principal = await auth.addUser(user);
    return { principal, key: await keyFor(principal.id) };
  };
  const join = async (tenant: TenantId, { principal }: Person): Promise<void> => {
    await store.commit({ tenant }, [createMemberships(store).insertWrite(tenant, principal.id, now())]);
  };
  return {
    auth,
    app,
    addPerson,
    join,
    keyFor,
    async leave(tenant, id) {
      await store.commit({ tenant }, [createMemberships(store).removeWrite(tenant, asId(id))]);
    },
    async changeAccount(id, change) {
      const users = createUsers(store);
      const user = await users.get(asId(id));
      if (user === null) throw new Error(`no account ${id}`);
      await store.commit({ tenant: PERSONAL_TENANT }, [users.replaceWrite({ ...user, ...change })]);
    },
    async addTenant(name = 'acme') {
      const tenant = asId<TenantId>(randomUUID());
      const owner = await addPerson({ tenant });
      const createdAt = now();
      const write = createTenants(store).insertWrite({ id: tenant, name, ownerId: owner.principal.id, createdAt });
      await store.commit({ tenant }, [write]);
      await join(tenant, owner);
      return { ...owner, tenant };
    },
    request: (person, method, path, body, contentType = 'application/json') =>
      fetch(app.url + path, {
        method,
        headers: {
          ...(person === null ? {} : { 'x-api-key': person.key }),
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async [Symbol.asyncDispose]() {
      await app.stop();
      await auth[Symbol.asyncDispose]();
    },
  };
}

/** Reads the account from the store. */
export async function accountOf({ auth }: AuthHttp, id: string) {
  return createUsers(auth.store).get(asId(id));
}

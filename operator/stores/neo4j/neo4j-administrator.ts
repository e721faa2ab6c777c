import neo4j, { type Driver } from 'neo4j-driver';
import type { Realm } from '../realm.ts';
import { namesOf } from '../realm-names.ts';
import type { Credential, Provision, RealmCredentials, StoreAdministrator } from '../store-administrator.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { administratorError } from './administrator-errors.ts';
import { type Ask, createAsk, type GraphHome } from './graph-home.ts';
import { ownDatabase } from './own-database.ts';
import { sharedDatabase } from './shared-database.ts';

export interface Neo4jAdministratorOptions {
  /** `neo4j://`, `bolt://` or their `+s` forms, without credentials. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Where the edition has several databases each realm has one, and users that reach nothing else. Elsewhere its graph is in
 * the common database under a namespace, and its users, who end with it, are administrators as all users are there.
 */
export function createNeo4jAdministrator(options: Neo4jAdministratorOptions): StoreAdministrator {
  const { url, user, password } = options;
  const store = `Neo4j at ${url.replace(/\/\/[^/@]*@/u, '//')}`;
  let driver: Driver | null = null;
  const guarded = async <T>(signal: AbortSignal, work: (ask: Ask, home: GraphHome) => Promise<T>): Promise<T> => {
    try {
      return await unlessAborted(signal, async () => {
        driver ??= neo4j.driver(url, neo4j.auth.basic(user, password), {
          disableLosslessIntegers: true,
          connectionTimeout: 5_000,
          connectionAcquisitionTimeout: 10_000,
          connectionLivenessCheckTimeout: 30_000,
          maxConnectionPoolSize: 4,
          maxTransactionRetryTime: 2_000,
          telemetryDisabled: true,
          userAgent: 'engram operator',
        });
        const ask = createAsk(driver, signal);
        return work(ask, (await hasDatabases(ask)) ? ownDatabase(ask, store) : sharedDatabase(ask, store));
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw administratorError(error, store);
    }
  };
  return {
    driver: 'neo4j',
    roles: ['Graph'],
    makesUsers: true,
    async ensure(realm, credentials, signal) {
      const names = namesOf(realm);
      return guarded(signal, async (ask, home) => {
        await home.claim(realm);
        const wanted = wantedOf(credentials);
        for (const one of wanted) {
          await ensureUser(ask, names.user(one.slot), one.password);
          await home.admit(realm, names.user(one.slot));
        }
        for (const name of await usersOf(ask, realm)) {
          if (!wanted.some(({ slot }) => names.user(slot) === name)) await dropUser(ask, name);
        }
        return provisionOf(realm, credentials.current, home);
      });
    },
    async remove(realm, signal) {
      namesOf(realm);
      await guarded(signal, async (ask, home) => {
        await home.requireOurs(realm);
        // First, so that nobody writes what was just removed.
        for (const name of await usersOf(ask, realm)) await dropUser(ask, name);
        await home.remove(realm);
      });
    },
    async residue(realm, signal) {
      namesOf(realm);
      return guarded(signal, async (ask, home) => (await usersOf(ask, realm)).length + (await home.residue(realm)));
    },
    async close() {
      await driver?.close();
    },
  };

  function provisionOf(realm: Realm, credential: Credential, home: GraphHome): Provision {
    return {
      settings: {
        ENGRAM_NEO4J_URL: url,
        ENGRAM_NEO4J_USER: namesOf(realm).user(credential.slot),
        ...home.settings(realm),
      },
      secrets: { ENGRAM_NEO4J_PASSWORD: credential.password },
      files: {},
      stores: [
        {
          role: 'Graph',
          driver: 'neo4j',
          name: namesOf(realm).dashed,
          isolation: home.isolation,
          ownCredentials: true,
        },
      ],
    };
  }
}

async function hasDatabases(ask: Ask): Promise<boolean> {
  const [kernel] = await ask<{ edition: string }>(
    null,
    "CALL dbms.components() YIELD name, edition WHERE name = 'Neo4j Kernel' RETURN edition",
  );
  return kernel?.edition !== 'community';
}

function wantedOf({ current, previous }: RealmCredentials): readonly Credential[] {
  return previous === null || previous.slot === current.slot ? [current] : [current, previous];
}

async function usersOf(ask: Ask, realm: Realm): Promise<readonly string[]> {
  const names = namesOf(realm);
  const found = await ask<{ user: string }>('system', 'SHOW USERS YIELD user WHERE user IN $names RETURN user', {
    names: [names.user('a'), names.user('b')],
  });
  return found.map(({ user }) => user);
}

async function ensureUser(ask: Ask, name: string, password: string): Promise<void> {
  const withPassword = 'SET PASSWORD $password CHANGE NOT REQUIRED';
  // `IF NOT EXISTS` does not hold while another process makes the same.
  await ask('system', `CREATE USER $name IF NOT EXISTS ${withPassword}`, { name, password }).catch(
    unlessSaid(/already exists/),
  );
  await ask('system', `ALTER USER $name ${withPassword}`, { name, password }).catch(unlessSaid(/cannot be the same/));
}

function unlessSaid(words: RegExp): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Error) || !words.test(error.message)) throw error;
  };
}

async function dropUser(ask: Ask, name: string): Promise<void> {
  await ask('system', 'DROP USER $name IF EXISTS', { name });
}

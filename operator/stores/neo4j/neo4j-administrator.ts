import neo4j, { type Driver } from 'neo4j-driver';
import { abortable } from '../../../services/common/platform/async/abortable.ts';
import { translatingErrors } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import { type Credential, type Provision, type StoreAdministrator, validCredentials } from '../store-administrator.ts';
import { ownDatabase } from './own-database.ts';
import { type Ask, administratorError, createAsk, type RealmGraph } from './realm-graph.ts';
import { sharedDatabase } from './shared-database.ts';

interface Neo4jAdministratorOptions {
  /** `neo4j://`, `bolt://` or their `+s` forms, without credentials. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Gives each realm a database and users that reach nothing else, if the edition has several databases. Otherwise its graph is
 * in a namespace of the common database, and its users are administrators, as all users of that edition.
 */
export function createNeo4jAdministrator(options: Neo4jAdministratorOptions): StoreAdministrator {
  const { url } = options;
  const store = `Neo4j at ${url.replace(/\/\/[^/@]*@/u, '//')}`;
  let driver: Driver | null = null;
  const translated = (error: unknown) => administratorError(error, store);
  const guarded = <T>(signal: AbortSignal, work: (ask: Ask, home: RealmGraph) => Promise<T>): Promise<T> =>
    translatingErrors(signal, translated, () =>
      abortable(
        (async () => {
          driver ??= openDriver(options);
          const ask = createAsk(driver, signal);
          return work(ask, (await hasDatabases(ask)) ? ownDatabase(ask, store) : sharedDatabase(ask, store));
        })(),
        signal,
      ),
    );
  return {
    driver: 'neo4j',
    roles: ['Graph'],
    makesUsers: true,
    async ensure(realm, credentials, signal) {
      const names = namesOf(realm);
      return guarded(signal, async (ask, home) => {
        await home.claim(realm);
        const valid = validCredentials(credentials);
        for (const one of valid) {
          await ensureUser(ask, names.user(one.slot), one.password);
          await home.admit(realm, names.user(one.slot));
        }
        for (const name of await usersOf(ask, realm)) {
          if (!valid.some(({ slot }) => names.user(slot) === name)) await dropUser(ask, name);
        }
        return provisionOf(url, realm, credentials.current, home);
      });
    },
    async remove(realm, signal) {
      namesOf(realm);
      await guarded(signal, async (ask, home) => {
        await home.requireOurs(realm);
        // Users go first, so that no data is written after its removal.
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
}

function openDriver({ url, user, password }: Neo4jAdministratorOptions): Driver {
  return neo4j.driver(url, neo4j.auth.basic(user, password), {
    disableLosslessIntegers: true,
    connectionTimeout: 5_000,
    connectionAcquisitionTimeout: 10_000,
    connectionLivenessCheckTimeout: 30_000,
    maxConnectionPoolSize: 4,
    maxTransactionRetryTime: 2_000,
    telemetryDisabled: true,
    userAgent: 'engram operator',
  });
}

function provisionOf(url: string, realm: Realm, { slot, password }: Credential, home: RealmGraph): Provision {
  const names = namesOf(realm);
  return {
    settings: { ENGRAM_NEO4J_URL: url, ENGRAM_NEO4J_USER: names.user(slot), ...home.settings(realm) },
    secrets: { ENGRAM_NEO4J_PASSWORD: password },
    files: {},
    stores: [{ role: 'Graph', driver: 'neo4j', name: names.dashed, isolation: home.isolation, ownCredentials: true }],
  };
}

async function hasDatabases(ask: Ask): Promise<boolean> {
  const [kernel] = await ask<{ edition: string }>(
    null,
    "CALL dbms.components() YIELD name, edition WHERE name = 'Neo4j Kernel' RETURN edition",
  );
  return kernel?.edition !== 'community';
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
  // `IF NOT EXISTS` does not help while another process creates the same.
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

import { readFileSync } from 'node:fs';
import { credsAuthenticator, type JetStreamManager, type NatsConnection, nkeys } from 'nats';
import { failed, refused, requireOwner } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import type { Credential, Provision, StoreAdministrator } from '../store-administrator.ts';
import {
  accountClaims,
  accountJwt,
  claimsOf,
  credentialsOf,
  deletionJwt,
  derivedKeys,
  type KeyPair,
  ownerOf,
  signerOf,
  userJwt,
} from './account-jwts.ts';
import { addressesOf, storeAt, TIMEOUT_MS, withConnection } from './connection.ts';

interface NatsAccountAdministratorOptions {
  readonly url: string;
  readonly caFile?: string;
  /** Seed of the servers' operator, or of one of its signing keys. Keys of accounts are derived from it: it must not change. */
  readonly signingKeyFile: string;
  /** Credentials of a user of the system account. */
  readonly systemCredentialsFile: string;
}

/**
 * Gives each realm an account, on servers in operator mode with a `resolver` of type `full` and `allow_delete`. Each password
 * determines the key that signs a user; the account lists the valid keys.
 */
export function createNatsAccountAdministrator(options: NatsAccountAdministratorOptions): StoreAdministrator {
  const { signingKeyFile, systemCredentialsFile } = options;
  const store = storeAt(options.url);
  const seed = () => readFileSync(signingKeyFile, 'utf8').trim();
  const keysOf = (realm: Realm) => derivedKeys('account', seed(), namesOf(realm).underscored);
  const system = <T>(signal: AbortSignal, work: (connection: NatsConnection) => Promise<T>): Promise<T> =>
    withConnection(
      options,
      {
        authenticator: () => credsAuthenticator(readFileSync(systemCredentialsFile)),
        look: 'look at ENGRAM_OPERATOR_NATS_SYSTEM_CREDENTIALS_FILE, which is to be of the system account',
      },
      signal,
      work,
    );

  /** Runs work as a user of the account, signed by the account's own key. */
  function inAccount<T>(account: KeyPair, signal: AbortSignal, work: (manager: JetStreamManager) => Promise<T>) {
    const user = nkeys.createUser();
    const login = credentialsOf(userJwt(account, account.getPublicKey(), user), user);
    return withConnection(
      options,
      {
        authenticator: () => credsAuthenticator(new TextEncoder().encode(login)),
        look: 'look at ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE, which is to be a key of its operator',
      },
      signal,
      async (connection) => work(await connection.jetstreamManager({ timeout: TIMEOUT_MS })),
    );
  }

  /** Returns the claims of the account; null when there is none. Throws when it belongs to another owner. */
  async function ownClaims(connection: NatsConnection, realm: Realm) {
    const found = await lookUpClaims(connection, keysOf(realm).getPublicKey());
    if (found !== null) requireOwner(realm, ownerOf(found), store, `The account ${namesOf(realm).underscored}`);
    return found;
  }

  return {
    driver: 'nats',
    roles: ['Bus'],
    makesUsers: true,
    async ensure(realm, credentials, signal) {
      const account = keysOf(realm);
      const wanted = accountClaims(realm, credentials);
      await system(signal, async (connection) => {
        const found = await ownClaims(connection, realm);
        if (JSON.stringify(found?.['signing_keys']) === JSON.stringify(wanted.signing_keys)) return;
        await updateAccount(connection, accountJwt(seed(), account, realm, credentials), store);
      });
      // The server stores an account of any signer; only its use shows whether the server trusts it.
      await inAccount(account, signal, (manager) => manager.getAccountInfo());
      return provisionOf(options, realm, credentials.current, account.getPublicKey());
    },
    async remove(realm, signal) {
      const account = keysOf(realm);
      const found = await system(signal, (connection) => ownClaims(connection, realm));
      if (found === null) return;
      await inAccount(account, signal, async (manager) => {
        for (const { config } of await Array.fromAsync(manager.streams.list()))
          await manager.streams.delete(config.name);
      });
      const jwt = deletionJwt(seed(), account);
      await system(signal, (connection) => deleteAccount(connection, jwt, store));
    },
    async residue(realm, signal) {
      const account = keysOf(realm);
      const found = await system(signal, (connection) => ownClaims(connection, realm));
      if (found === null) return 0;
      const streams = await inAccount(account, signal, (manager) => Array.fromAsync(manager.streams.list()));
      return 1 + streams.length;
    },
    async close() {},
  };
}

function provisionOf(
  { url, caFile }: NatsAccountAdministratorOptions,
  realm: Realm,
  credential: Credential,
  account: string,
): Provision {
  const names = namesOf(realm);
  const user = derivedKeys('user', credential.password, realm.name);
  const jwt = userJwt(signerOf(realm, credential), account, user);
  return {
    settings: { ENGRAM_NATS_SUBJECT_PREFIX: names.subject },
    secrets: { ENGRAM_NATS_URL: addressesOf(url).join(',') },
    files: {
      ENGRAM_NATS_CREDENTIALS_FILE: credentialsOf(jwt, user),
      ...(caFile === undefined ? {} : { ENGRAM_NATS_CA_FILE: readFileSync(caFile, 'utf8') }),
    },
    stores: [{ role: 'Bus', driver: 'nats', name: names.underscored, isolation: 'Database', ownCredentials: true }],
  };
}

/** Looks up the claims of an account by its public key, as a user of the system account; null when there is none. */
async function lookUpClaims(connection: NatsConnection, account: string) {
  return claimsOf(await ask(connection, `$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`, ''));
}

async function updateAccount(connection: NatsConnection, jwt: string, store: string): Promise<void> {
  await change(connection, '$SYS.REQ.CLAIMS.UPDATE', jwt, store);
}

async function deleteAccount(connection: NatsConnection, jwt: string, store: string): Promise<void> {
  await change(connection, '$SYS.REQ.CLAIMS.DELETE', jwt, store);
}

async function ask(connection: NatsConnection, subject: string, payload: string): Promise<string> {
  const answer = await connection.request(subject, new TextEncoder().encode(payload), { timeout: TIMEOUT_MS });
  return new TextDecoder().decode(answer.data);
}

/** Sends a change; the server answers in JSON. */
async function change(connection: NatsConnection, subject: string, jwt: string, store: string): Promise<void> {
  const answer = await ask(connection, subject, jwt);
  const { error } = JSON.parse(answer) as {
    readonly error?: { readonly code?: number; readonly description?: string };
  };
  if (error === undefined) return;
  const { code = 500, description = 'no reason given' } = error;
  if (code >= 500 && !/sign|trust|delet/i.test(description)) throw failed(store, description, undefined);
  throw refused(store, `it needs a resolver of type full with allow_delete: ${description}`, undefined);
}

import { readFileSync } from 'node:fs';
import { credsAuthenticator, type JetStreamManager, type NatsConnection, nkeys } from 'nats';
import { failed, refused, requireOwner } from '../administrator-errors.ts';
import type { Realm } from '../realm.ts';
import { namesOf } from '../realm-names.ts';
import type { Credential, Provision, RealmCredentials, StoreAdministrator } from '../store-administrator.ts';
import { addressesOf, storeAt, TIMEOUT_MS, withConnection } from './connection.ts';
import { claimsOf, credentialsOf, signedJwt } from './jwt.ts';
import { derivedKeys, type KeyPair } from './nkeys.ts';

export interface NatsAccountAdministratorOptions {
  readonly url: string;
  readonly caFile?: string;
  /** Seed of the servers' operator, or of a signing key of it. The accounts' own keys are made from it: it must not change. */
  readonly signingKeyFile: string;
  /** Of a user of the system account. */
  readonly systemCredentialsFile: string;
}

const MARK = 'Engram, owner ';
/** Users' JWTs are the same each time; what ends them is that the account does not know their signer any more. */
const ISSUED_AT = 1_767_225_600;
const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const ACCOUNT_LIMITS = {
  ...UNLIMITED,
  ...{ imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
  ...{ mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 },
};

/**
 * An account of each realm, on servers in operator mode that take accounts from their system account (`resolver` of type
 * `full` with `allow_delete`). Each password gives the key that signs a user; the account lists those that are valid.
 */
export function createNatsAccountAdministrator(options: NatsAccountAdministratorOptions): StoreAdministrator {
  const { url, caFile, signingKeyFile, systemCredentialsFile } = options;
  const store = storeAt(url);
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

  /** As a user of the account, whom its own key has signed. */
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

  async function claims(connection: NatsConnection, realm: Realm) {
    const answer = await ask(connection, `$SYS.REQ.ACCOUNT.${keysOf(realm).getPublicKey()}.CLAIMS.LOOKUP`, '');
    const found = claimsOf(answer);
    if (found === null) return null;
    const description = String(found['description'] ?? '');
    const owner = description.startsWith(MARK) ? description.slice(MARK.length) : null;
    requireOwner(realm, owner, store, `The account ${namesOf(realm).underscored}`);
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
        const found = await claims(connection, realm);
        if (JSON.stringify(found?.['signing_keys']) === JSON.stringify(wanted.signing_keys)) return;
        const jwt = signedJwt(nkeys.fromSeed(new TextEncoder().encode(seed())), {
          subject: account.getPublicKey(),
          name: namesOf(realm).underscored,
          issuedAt: Math.floor(Date.now() / 1000),
          claims: wanted,
        });
        await change(connection, '$SYS.REQ.CLAIMS.UPDATE', jwt, store);
      });
      // The server keeps an account of any signer; whether it trusts that shows in use.
      await inAccount(account, signal, (manager) => manager.getAccountInfo());
      return provisionOf(realm, credentials.current, account.getPublicKey());
    },
    async remove(realm, signal) {
      const account = keysOf(realm);
      const found = await system(signal, (connection) => claims(connection, realm));
      if (found === null) return;
      await inAccount(account, signal, async (manager) => {
        for (const { config } of await Array.fromAsync(manager.streams.list()))
          await manager.streams.delete(config.name);
      });
      const operator = nkeys.fromSeed(new TextEncoder().encode(seed()));
      const jwt = signedJwt(operator, {
        subject: operator.getPublicKey(),
        name: 'engram operator',
        issuedAt: Math.floor(Date.now() / 1000),
        claims: { type: 'generic', accounts: [account.getPublicKey()] },
      });
      await system(signal, (connection) => change(connection, '$SYS.REQ.CLAIMS.DELETE', jwt, store));
    },
    async residue(realm, signal) {
      const account = keysOf(realm);
      const found = await system(signal, (connection) => claims(connection, realm));
      if (found === null) return 0;
      const streams = await inAccount(account, signal, (manager) => Array.fromAsync(manager.streams.list()));
      return 1 + streams.length;
    },
    async close() {},
  };

  function provisionOf(realm: Realm, credential: Credential, account: string): Provision {
    const user = derivedKeys('user', credential.password, realm.name);
    const jwt = userJwt(signerOf(realm, credential), account, user);
    return {
      settings: { ENGRAM_NATS_SUBJECT_PREFIX: namesOf(realm).subject },
      secrets: { ENGRAM_NATS_URL: addressesOf(url).join(',') },
      files: {
        ENGRAM_NATS_CREDENTIALS_FILE: credentialsOf(jwt, user),
        ...(caFile === undefined ? {} : { ENGRAM_NATS_CA_FILE: readFileSync(caFile, 'utf8') }),
      },
      stores: [
        {
          role: 'Bus',
          driver: 'nats',
          name: namesOf(realm).underscored,
          isolation: 'Database',
          ownCredentials: true,
        },
      ],
    };
  }
}

function signerOf(realm: Realm, { password }: Credential): KeyPair {
  return derivedKeys('account', password, realm.name);
}

function accountClaims(realm: Realm, { current, previous }: RealmCredentials) {
  const valid = previous === null || previous.slot === current.slot ? [current] : [current, previous];
  return {
    type: 'account',
    description: MARK + realm.ownerUid,
    limits: ACCOUNT_LIMITS,
    signing_keys: valid.map((one) => signerOf(realm, one).getPublicKey()).toSorted(),
  };
}

function userJwt(signer: KeyPair, account: string, user: KeyPair): string {
  return signedJwt(signer, {
    subject: user.getPublicKey(),
    name: 'engram',
    issuedAt: ISSUED_AT,
    claims: { type: 'user', ...UNLIMITED, pub: {}, sub: {}, issuer_account: account },
  });
}

async function ask(connection: NatsConnection, subject: string, payload: string): Promise<string> {
  const answer = await connection.request(subject, new TextEncoder().encode(payload), { timeout: TIMEOUT_MS });
  return new TextDecoder().decode(answer.data);
}

/** The server says in JSON whether it did it. */
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

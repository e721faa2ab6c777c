import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { credsAuthenticator, type JetStreamManager, type NatsConnection, nkeys } from 'nats';
import { sha256OfJson } from '../../../services/common/kernel/hashes.ts';
import { parseJson } from '../../../services/common/kernel/json.ts';
import { isRecord } from '../../../services/common/kernel/objects.ts';
import { failed, refused, requireOwner } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import {
  type Credential,
  type Provision,
  type RealmCredentials,
  type StoreAdministrator,
  validCredentials,
} from '../store-administrator.ts';
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

const MARK = 'Engram, owner ';
/** JWTs of users are deterministic; they become invalid when the account drops their signing key. */
const ISSUED_AT = 1_767_225_600;
const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const ACCOUNT_LIMITS = {
  ...UNLIMITED,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1,
  mem_storage: -1,
  disk_storage: -1,
  streams: -1,
  consumer: -1,
};

/** Claims of the account of a realm: its owner and the keys that sign valid users. */
function accountClaims(realm: Realm, credentials: RealmCredentials) {
  return {
    type: 'account',
    description: MARK + realm.ownerUid,
    limits: ACCOUNT_LIMITS,
    signing_keys: validCredentials(credentials)
      .map((one) => signerOf(realm, one).getPublicKey())
      .toSorted(),
  };
}

/** Returns the owner in the claims of an account; null when there is none. */
function ownerOf(claims: Readonly<Record<string, unknown>>): string | null {
  const description = String(claims['description'] ?? '');
  return description.startsWith(MARK) ? description.slice(MARK.length) : null;
}

/** Makes the JWT of an account. `seed`: of the servers' operator, or of one of its signing keys. */
function accountJwt(seed: string, account: KeyPair, realm: Realm, credentials: RealmCredentials): string {
  return signedJwt(pairOf(seed), {
    subject: account.getPublicKey(),
    name: namesOf(realm).underscored,
    issuedAt: now(),
    claims: accountClaims(realm, credentials),
  });
}

function deletionJwt(seed: string, account: KeyPair): string {
  const operator = pairOf(seed);
  return signedJwt(operator, {
    subject: operator.getPublicKey(),
    name: 'engram operator',
    issuedAt: now(),
    claims: { type: 'generic', accounts: [account.getPublicKey()] },
  });
}

/** Makes the JWT of a user. `account`: public key of the account; `signer` may be another key of it. */
function userJwt(signer: KeyPair, account: string, user: KeyPair): string {
  return signedJwt(signer, {
    subject: user.getPublicKey(),
    name: 'engram',
    issuedAt: ISSUED_AT,
    claims: { type: 'user', ...UNLIMITED, pub: {}, sub: {}, issuer_account: account },
  });
}

/** Returns the signing key of the account for the user with this password. */
function signerOf(realm: Realm, { password }: Credential): KeyPair {
  return derivedKeys('account', password, realm.name);
}

function pairOf(seed: string): KeyPair {
  return nkeys.fromSeed(new TextEncoder().encode(seed));
}

/** Seconds since 1970. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Content of a JWT about `subject`; `claims` are in the field `nats`. */
interface Statement {
  readonly subject: string;
  readonly name: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signs a JWT as NATS does, with an algorithm of its own. Deterministic, unlike `@nats-io/jwt`, which takes the time itself. */
export function signedJwt(issuer: KeyPair, { subject, name, issuedAt, claims }: Statement): string {
  const content = { iat: issuedAt, iss: issuer.getPublicKey(), sub: subject, name, nats: { ...claims, version: 2 } };
  const jti = sha256OfJson(content);
  const text = [
    { typ: 'JWT', alg: 'ed25519-nkey' },
    { jti, ...content },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString('base64url')}`;
}

/** Returns the field `nats` of a JWT from the server, which has verified it; null when it cannot be read. */
function claimsOf(jwt: string): Readonly<Record<string, unknown>> | null {
  const content = parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  const claims = isRecord(content) ? content['nats'] : null;
  return isRecord(claims) ? claims : null;
}

/** Makes the content of a credentials file, as `nsc` does. */
export function credentialsOf(jwt: string, user: KeyPair): string {
  const seed = new TextDecoder().decode(user.getSeed());
  return [
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ].join('\n');
}

type KeyPair = ReturnType<typeof nkeys.createAccount>;

/** Prefix bytes: public keys begin with `A` or `U`, their seeds with `SA` or `SU`. */
const ROLES = { account: 0, user: 20 << 3 } as const;
const SEED = 18 << 3;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Derives a key pair from a secret for one purpose. Neither the secret nor a pair for another purpose can be derived from it. */
function derivedKeys(role: keyof typeof ROLES, secret: string, purpose: string): KeyPair {
  const raw = createHmac('sha256', secret).update(`engram ${role} ${purpose}`).digest();
  return nkeys.fromSeed(new TextEncoder().encode(encodedSeed(ROLES[role], raw)));
}

/** Encodes a seed as nkeys do, in base 32: five bits of kind, eight of role, 32 bytes, a check sum. `nkeys.js` exports no encoder. */
function encodedSeed(role: number, raw: Uint8Array): string {
  const bytes = new Uint8Array([SEED | (role >> 5), (role & 31) << 3, ...raw]);
  const sum = checkSum(bytes);
  return base32(new Uint8Array([...bytes, sum & 0xff, sum >> 8]));
}

/** CRC-16 of XMODEM. */
function checkSum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1) & 0xffff;
  }
  return sum;
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

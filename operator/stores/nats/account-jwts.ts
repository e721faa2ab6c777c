import { createHmac } from 'node:crypto';
import { nkeys } from 'nats';
import { sha256OfJson } from '../../../services/common/kernel/hashes.ts';
import { namesOf, type Realm } from '../realm.ts';
import { type Credential, type RealmCredentials, validCredentials } from '../store-administrator.ts';

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
export function accountClaims(realm: Realm, credentials: RealmCredentials) {
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
export function ownerOf(claims: Readonly<Record<string, unknown>>): string | null {
  const description = String(claims['description'] ?? '');
  return description.startsWith(MARK) ? description.slice(MARK.length) : null;
}

/** Makes the JWT of an account. `seed`: of the servers' operator, or of one of its signing keys. */
export function accountJwt(seed: string, account: KeyPair, realm: Realm, credentials: RealmCredentials): string {
  return signedJwt(pairOf(seed), {
    subject: account.getPublicKey(),
    name: namesOf(realm).underscored,
    issuedAt: now(),
    claims: accountClaims(realm, credentials),
  });
}

export function deletionJwt(seed: string, account: KeyPair): string {
  const operator = pairOf(seed);
  return signedJwt(operator, {
    subject: operator.getPublicKey(),
    name: 'engram operator',
    issuedAt: now(),
    claims: { type: 'generic', accounts: [account.getPublicKey()] },
  });
}

/** Makes the JWT of a user. `account`: public key of the account; `signer` may be another key of it. */
export function userJwt(signer: KeyPair, account: string, user: KeyPair): string {
  return signedJwt(signer, {
    subject: user.getPublicKey(),
    name: 'engram',
    issuedAt: ISSUED_AT,
    claims: { type: 'user', ...UNLIMITED, pub: {}, sub: {}, issuer_account: account },
  });
}

/** Returns the signing key of the account for the user with this password. */
export function signerOf(realm: Realm, { password }: Credential): KeyPair {
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
export interface Statement {
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
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> | null {
  try {
    const content = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as { nats?: unknown };
    return typeof content.nats === 'object' ? (content.nats as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
}

/** Makes the content of a credentials file, as `nsc` does. */
export function credentialsOf(jwt: string, user: KeyPair): string {
  const seed = new TextDecoder().decode(user.getSeed());
  return [
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ].join('\n');
}

export type KeyPair = ReturnType<typeof nkeys.createAccount>;

/** Prefix bytes: public keys begin with `A` or `U`, their seeds with `SA` or `SU`. */
const ROLES = { account: 0, user: 20 << 3 } as const;
const SEED = 18 << 3;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Derives a key pair from a secret for one purpose. Neither the secret nor a pair for another purpose can be derived from it. */
export function derivedKeys(role: keyof typeof ROLES, secret: string, purpose: string): KeyPair {
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

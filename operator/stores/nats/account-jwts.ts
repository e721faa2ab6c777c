import { nkeys } from 'nats';
import type { Realm } from '../realm.ts';
import { namesOf } from '../realm-names.ts';
import type { Credential, RealmCredentials } from '../store-administrator.ts';
import { validCredentials } from '../valid-credentials.ts';
import { signedJwt } from './jwt.ts';
import { derivedKeys, type KeyPair } from './nkeys.ts';

const MARK = 'Engram, owner ';
/** Users' JWTs are the same each time; what ends them is that the account does not know their signer any more. */
const ISSUED_AT = 1_767_225_600;
const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const ACCOUNT_LIMITS = {
  ...UNLIMITED,
  ...{ imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
  ...{ mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 },
};

/** What is said of the account of a realm: its owner, and who signs valid users. */
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

/** Of the claims of an account; null where they tell of none. */
export function ownerOf(claims: Readonly<Record<string, unknown>>): string | null {
  const description = String(claims['description'] ?? '');
  return description.startsWith(MARK) ? description.slice(MARK.length) : null;
}

/** `seed`: of the servers' operator, or of a signing key of it. */
export function accountJwt(seed: string, account: KeyPair, realm: Realm, credentials: RealmCredentials): string {
  return signedJwt(pairOf(seed), {
    subject: account.getPublicKey(),
    name: namesOf(realm).underscored,
    issuedAt: now(),
    claims: accountClaims(realm, credentials),
  });
}

/** By which the servers forget the account. */
export function deletionJwt(seed: string, account: KeyPair): string {
  const operator = pairOf(seed);
  return signedJwt(operator, {
    subject: operator.getPublicKey(),
    name: 'engram operator',
    issuedAt: now(),
    claims: { type: 'generic', accounts: [account.getPublicKey()] },
  });
}

/** `account`: the public key, where `signer` is another key of the account than its own. */
export function userJwt(signer: KeyPair, account: string, user: KeyPair): string {
  return signedJwt(signer, {
    subject: user.getPublicKey(),
    name: 'engram',
    issuedAt: ISSUED_AT,
    claims: { type: 'user', ...UNLIMITED, pub: {}, sub: {}, issuer_account: account },
  });
}

/** The key of the account that signs the user with this password. */
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

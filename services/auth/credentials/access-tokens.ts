import { createHmac, createSecretKey, hkdfSync, type JsonWebKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { TokenKey } from '../../common/platform/config/token-keys.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { User } from '../../common/records/auth/users.ts';

/** Login tokens must not pass as tokens of other kinds (password reset, verification), nor those as login tokens. */
const AUDIENCE = 'fastapi-users:auth';

export interface TokenClaims {
  readonly userId: UserId;
  readonly tokenId: string;
  readonly expiresAt: Date | null;
  readonly fingerprint: string;
}

/** What of an account its tokens depend on. */
export type TokenOwner = Pick<User, 'passwordHash' | 'sessionEpoch'>;

export interface IssuedToken {
  readonly text: string;
  /** `jti`: names the token where its text must not stand. */
  readonly id: string;
}

/**
 * Login tokens of auth-integrations.md §2.3: `sub`, `aud`, `exp`, and `pwd`, an HMAC of the stored password hash, by
 * which a changed password ends every older token, as does a time of being inactive. `jti` is ours: a logout ends one token by it. So is `kid` in the header.
 */
export interface AccessTokens {
  issue(user: Pick<User, 'id'> & TokenOwner): Promise<IssuedToken>;
  /** Null unless signature, algorithm, audience and time are right and all claims are there. */
  read(token: string): Promise<TokenClaims | null>;
  /** The password has not changed since the token was issued, nor was the account inactive. */
  isCurrent(claims: TokenClaims, user: TokenOwner): boolean;
  /** JSON Web Keys with which anybody may verify tokens; none while a secret signs them. */
  readonly publicKeys: readonly JsonWebKey[];
}

export interface AccessTokensOptions extends TokenKeyRingOptions {
  /** 0: tokens do not end by themselves. */
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** With the first token: its 46 modules cost 30 ms, and an open service on loopback never sees one. */
const loadJose = () => import('jose');

export function createAccessTokens({ lifetimeSeconds, clock, ids, ...keys }: AccessTokensOptions): AccessTokens {
  const ring = createTokenKeyRing(keys);

  /** The claims of a token that this key signed; null for any other. */
  const verified = async (token: string, { key, algorithm }: VerifyingKey) => {
    const { errors, jwtVerify } = await loadJose();
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        audience: AUDIENCE,
        requiredClaims: ['sub', 'jti', 'pwd'],
        currentDate: clock.now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  };
  return {
    async issue({ id, ...owner }) {
      const { SignJWT } = await loadJose();
      const { kid, algorithm, key } = ring.signing;
      const tokenId = ids.uuid();
      const token = new SignJWT({ pwd: ring.fingerprint(standOf(owner)) })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid })
        .setSubject(id)
        .setAudience([AUDIENCE])
        .setJti(tokenId);
      if (lifetimeSeconds > 0) token.setExpirationTime(Math.floor(clock.now().getTime() / 1000) + lifetimeSeconds);
      return { text: await token.sign(key), id: tokenId };
    },
    async read(token) {
      const kid = keyIdOf(token);
      for (const candidate of kid === undefined ? [] : ring.candidates(kid)) {
        const payload = await verified(token, candidate);
        if (payload === null) continue;
        const { sub = '', jti = '', exp, pwd } = payload;
        if (!isUuid(sub) || typeof jti !== 'string' || jti === '' || typeof pwd !== 'string') return null;
        const expiresAt = exp === undefined ? null : new Date(exp * 1000);
        return { userId: asId(sub), tokenId: jti, expiresAt, fingerprint: pwd };
      }
      return null;
    },
    isCurrent: ({ fingerprint }, owner) => ring.matches(fingerprint, standOf(owner)),
    publicKeys: ring.publicKeys,
  };
}

/** What must not have changed since a token was issued. Of an account that was never inactive it is the hash alone. */
function standOf({ passwordHash, sessionEpoch }: TokenOwner): string {
  return sessionEpoch === 0 ? passwordHash : `${passwordHash} ${sessionEpoch}`;
}

/** Null for a token without a key id, undefined for what cannot be a token. Nothing is verified here. */
function keyIdOf(token: string): string | null | undefined {
  try {
    const [header = ''] = token.split('.', 1);
    const { kid = null } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid?: unknown };
    return kid === null || typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies tokens of one algorithm. */
export interface VerifyingKey {
  readonly kid: string;
  readonly algorithm: 'HS256' | TokenKey['algorithm'];
  readonly key: KeyObject;
}

/** The keys of login tokens: one signs, all verify, so that tokens outlive a change of keys. */
export interface TokenKeyRing {
  readonly signing: VerifyingKey;
  /**
   * The keys that may have made a token with this `kid`; none for one that is not known. Tokens from before there were key
   * ids have none (null): any of the secrets may have made them, never a key pair.
   */
  candidates(kid: string | null): readonly VerifyingKey[];
  /** JSON Web Keys of the pairs, public halves only. */
  readonly publicKeys: readonly JsonWebKey[];
  /** The `pwd` claim: lower-case hex HMAC-SHA256 of the stored password hash. */
  fingerprint(passwordHash: string): string;
  /** Whether the fingerprint is of this password hash, under any of the secrets. */
  matches(fingerprint: string, passwordHash: string): boolean;
}

export interface TokenKeyRingOptions {
  /** Signs where there are no key pairs; keys the password fingerprints always. */
  readonly secret: Uint8Array | string;
  /** Others whose tokens are accepted. */
  readonly acceptedSecrets?: readonly string[];
  /** The first one signs. */
  readonly keys?: readonly TokenKey[];
}

const KEY_ID_PURPOSE = 'engram login token key id';
const KEY_ID_BYTES = 12;

export function createTokenKeyRing({ secret, acceptedSecrets = [], keys = [] }: TokenKeyRingOptions): TokenKeyRing {
  const secrets = [secret, ...acceptedSecrets].map(secretKey);
  const pairs = keys.map(({ kid, algorithm, publicKey }) => ({ kid, algorithm, key: publicKey }));
  const [first] = keys;
  const [currentSecret] = secrets;
  if (currentSecret === undefined) throw new Error('a key ring needs a secret');
  const fingerprintUnder = ({ key }: VerifyingKey, passwordHash: string) =>
    createHmac('sha256', key).update(passwordHash).digest();
  return {
    signing: first === undefined ? currentSecret : { ...first, key: privateHalf(first) },
    candidates: (kid) => (kid === null ? secrets : [...pairs, ...secrets].filter((candidate) => candidate.kid === kid)),
    publicKeys: keys.map(({ kid, algorithm, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg: algorithm,
      use: 'sig',
    })),
    fingerprint: (passwordHash) => fingerprintUnder(currentSecret, passwordHash).toString('hex'),
    matches(fingerprint, passwordHash) {
      const given = Buffer.from(fingerprint, 'hex');
      return secrets.some((candidate) => {
        const expected = fingerprintUnder(candidate, passwordHash);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}

function secretKey(secret: Uint8Array | string): VerifyingKey {
  const bytes = typeof secret === 'string' ? Buffer.from(secret, 'utf8') : Buffer.from(secret);
  if (bytes.length === 0) throw new Error('the secret that signs login tokens is empty');
  // Derived, so that the id tells nothing of the secret that its signatures do not tell.
  const kid = Buffer.from(hkdfSync('sha256', bytes, '', KEY_ID_PURPOSE, KEY_ID_BYTES)).toString('base64url');
  return { kid, algorithm: 'HS256', key: createSecretKey(bytes) };
}

function privateHalf({ privateKey, kid }: TokenKey): KeyObject {
  if (privateKey === null) throw new Error(`the first key (${kid}) signs and must be private`);
  return privateKey;
}

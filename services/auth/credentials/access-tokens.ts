import { createHmac, createSecretKey, hkdfSync, type JsonWebKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { TokenKey } from '../../common/platform/config/token-keys.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { User } from '../../common/records/auth/users.ts';

/** Separates login tokens from tokens of other kinds (password reset, verification). */
const AUDIENCE = 'fastapi-users:auth';

interface TokenClaims {
  readonly userId: UserId;
  readonly tokenId: string;
  readonly expiresAt: Date | null;
  readonly fingerprint: string;
}

/** The fields of an account that its tokens depend on. */
type TokenOwner = Pick<User, 'passwordHash' | 'sessionEpoch'>;

interface IssuedToken {
  readonly text: string;
  /** `jti`: identifies the token in logs. */
  readonly id: string;
}

/**
 * Login tokens (proto/http/auth-integrations.md §2.3): `sub`, `aud`, `exp`, and `pwd`, an HMAC of the stored password hash
 * and the session epoch. A changed password or a deactivation therefore ends every older token. Added here: `jti`, by which a
 * logout ends one token, and `kid` in the header.
 */
export interface AccessTokens {
  issue(user: Pick<User, 'id'> & TokenOwner): Promise<IssuedToken>;
  /** The claims; null unless signature, algorithm, audience and time are valid and no claim is missing. */
  read(token: string): Promise<TokenClaims | null>;
  /** Whether the password has not changed and the account was not deactivated since the token was issued. */
  isCurrent(claims: TokenClaims, user: TokenOwner): boolean;
  /** JSON Web Keys that verify tokens; none while a secret signs them. */
  readonly publicKeys: readonly JsonWebKey[];
}

export interface AccessTokensOptions extends TokenKeyRingOptions {
  /** 0: tokens do not expire. */
  readonly lifetimeSeconds: number;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Loaded with the first token: its 46 modules cost 30 ms, and an open server on loopback issues no tokens. */
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
      const token = new SignJWT({ pwd: ring.fingerprint(boundStateOf(owner)) })
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
    isCurrent: ({ fingerprint }, owner) => ring.matches(fingerprint, boundStateOf(owner)),
    publicKeys: ring.publicKeys,
  };
}

/**
 * The state of an account that a token is bound to: the password hash, with the session epoch once there was a deactivation.
 */
function boundStateOf({ passwordHash, sessionEpoch }: TokenOwner): string {
  return sessionEpoch === 0 ? passwordHash : `${passwordHash} ${sessionEpoch}`;
}

/** The key id of a token: null if it has none, undefined for a text that is no token. Nothing is verified here. */
function keyIdOf(token: string): string | null | undefined {
  try {
    const [header = ''] = token.split('.', 1);
    const { kid = null } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid?: unknown };
    return kid === null || typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** A key that verifies tokens of one algorithm. */
interface VerifyingKey {
  readonly kid: string;
  readonly algorithm: 'HS256' | TokenKey['algorithm'];
  readonly key: KeyObject;
}

/** The keys of login tokens: one signs, all verify, so that tokens stay valid when the keys change. */
interface TokenKeyRing {
  readonly signing: VerifyingKey;
  /**
   * The keys that may have signed a token with this `kid`; none for an unknown one. Tokens of earlier versions have no `kid`
   * (null): any of the secrets may have signed them, but no key pair.
   */
  candidates(kid: string | null): readonly VerifyingKey[];
  /** JSON Web Keys of the pairs, public halves only. */
  readonly publicKeys: readonly JsonWebKey[];
  /** The `pwd` claim: lower-case hex HMAC-SHA256 of the stored password hash. */
  fingerprint(passwordHash: string): string;
  /** Whether it is the fingerprint of this password hash under any of the secrets. */
  matches(fingerprint: string, passwordHash: string): boolean;
}

interface TokenKeyRingOptions {
  /** Signs when there are no key pairs; always keys the password fingerprints. */
  readonly secret: Uint8Array | string;
  /** Further secrets whose tokens are accepted. */
  readonly acceptedSecrets?: readonly string[];
  /** The first key signs. */
  readonly keys?: readonly TokenKey[];
}

const KEY_ID_PURPOSE = 'engram login token key id';
const KEY_ID_BYTES = 12;

function createTokenKeyRing({ secret, acceptedSecrets = [], keys = [] }: TokenKeyRingOptions): TokenKeyRing {
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
  // Derived from the secret, in a way that reveals nothing of it beyond its signatures.
  const kid = Buffer.from(hkdfSync('sha256', bytes, '', KEY_ID_PURPOSE, KEY_ID_BYTES)).toString('base64url');
  return { kid, algorithm: 'HS256', key: createSecretKey(bytes) };
}

function privateHalf({ privateKey, kid }: TokenKey): KeyObject {
  if (privateKey === null) throw new Error(`the first key (${kid}) signs and must be private`);
  return privateKey;
}

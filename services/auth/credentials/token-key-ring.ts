import { createHmac, createSecretKey, hkdfSync, type JsonWebKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { TokenKey } from '../../common/platform/config/token-keys.ts';

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
      ...{ kid, alg: algorithm, use: 'sig' },
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

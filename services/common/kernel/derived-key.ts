import { createPrivateKey, createPublicKey, hkdfSync, type JsonWebKey, type KeyObject } from 'node:crypto';

/** RFC 8410: what stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

interface DerivedKey {
  readonly privateKey: KeyObject;
  /** RFC 8037, without `kid`. */
  readonly publicJwk: JsonWebKey & { readonly x: string };
}

/** The Ed25519 key of a purpose: all replicas that share the secret have the same. At least 16 bytes of secret. */
export function deriveSigningKey(secret: Uint8Array | string, purpose: string): DerivedKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicJwk: { ...jwk, x: jwk.x ?? '' } };
}

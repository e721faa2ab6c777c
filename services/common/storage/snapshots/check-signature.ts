import { createPublicKey, verify } from 'node:crypto';
import { manifestSignedText } from '../../domain/snapshot.ts';

/** Whether the key – `x` of an Ed25519 key in JWK, base64url – has signed the manifest. */
export function isManifestSignedBy(
  x: string,
  { sha256, signature }: { readonly sha256: string; readonly signature: string },
): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(manifestSignedText(sha256)), key, Buffer.from(signature, 'base64url'));
}

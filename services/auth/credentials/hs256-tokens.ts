import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { JWTPayload } from 'jose';

const KEY_BYTES = 32;

/** Loaded with the first token. */
export const loadJose = () => import('jose');

/** The HMAC key of a purpose: all replicas that share the secret have the same. */
export function derivedHmacKey(secret: Uint8Array | string, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES)));
}

/** Returns the claims of a token; null unless signature, algorithm, audience and time are valid and no claim is missing. */
export async function readHs256Token(
  token: string,
  { key, ...rules }: { key: KeyObject; audience: string | string[]; currentDate: Date; requiredClaims?: string[] },
): Promise<JWTPayload | null> {
  const { errors, jwtVerify } = await loadJose();
  try {
    return (await jwtVerify(token, key, { algorithms: ['HS256'], ...rules })).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

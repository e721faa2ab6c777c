import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OPTIONS = { authTagLength: TAG_BYTES };

/** Length of a sealed empty text. */
export const MIN_SEALED_BYTES = NONCE_BYTES + TAG_BYTES;

/** AES-256-GCM: returns nonce, ciphertext and tag. Only the same `associated` bytes open them. */
export function sealText(key: Uint8Array, plain: string, associated: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, OPTIONS);
  cipher.setAAD(associated);
  return Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Throws for bytes that were changed or sealed otherwise. */
export function openText(key: Uint8Array, sealed: Uint8Array, associated: Uint8Array): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), OPTIONS);
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

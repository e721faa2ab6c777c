import { createHmac, timingSafeEqual } from 'node:crypto';

/** The HMAC-SHA256 of the bytes, in hex. */
export function signatureOf(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Whether the text is the HMAC-SHA256 of the bytes in hex, compared in constant time. */
export function isSignature(given: string, secret: string, body: Uint8Array): boolean {
  const right = Buffer.from(signatureOf(secret, body));
  const bytes = Buffer.from(given);
  return bytes.length === right.length && timingSafeEqual(bytes, right);
}

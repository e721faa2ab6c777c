import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether the text is the HMAC-SHA256 of the bytes in hex, compared in constant time. */
export function isSignature(given: string, secret: string, body: Uint8Array): boolean {
  const right = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'));
  const bytes = Buffer.from(given);
  return bytes.length === right.length && timingSafeEqual(bytes, right);
}

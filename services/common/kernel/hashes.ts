import { hash } from 'node:crypto';

/** Returns the SHA-256 of bytes, or of a text as UTF-8, in hex. */
export function sha256(data: string | NodeJS.ArrayBufferView): string {
  return hash('sha256', data);
}

/** Returns the SHA-256 of a value's JSON, in hex. */
export function sha256OfJson(value: unknown): string {
  return sha256(JSON.stringify(value));
}

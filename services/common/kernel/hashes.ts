import { createHash, hash } from 'node:crypto';

type HashEncoding = 'hex' | 'base64' | 'base64url';

/** Returns the SHA-256 of bytes, or of a text as UTF-8. */
export function sha256(data: string | NodeJS.ArrayBufferView, encoding: HashEncoding = 'hex'): string {
  return hash('sha256', data, encoding);
}

/** Returns the SHA-256 of a value's JSON. */
export function sha256OfJson(value: unknown, encoding: HashEncoding = 'hex'): string {
  return sha256(JSON.stringify(value), encoding);
}

/** Counts and hashes bytes as they pass: size, MD5 and SHA-256 in hex. */
export function createContentDigest() {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let sizeBytes = 0;
  return {
    add(chunk: Uint8Array) {
      md5.update(chunk);
      sha256.update(chunk);
      sizeBytes += chunk.byteLength;
    },
    result: () => ({ sizeBytes, md5: md5.digest('hex'), sha256: sha256.digest('hex') }),
  };
}

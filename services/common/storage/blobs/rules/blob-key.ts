import { engramError } from '../../../kernel/errors.ts';

/** In UTF-8 bytes. S3 takes names of 1024 bytes, which hold the scope and escapes too; file systems take parts of 255. */
const MAX_KEY_BYTES = 400;
const MAX_SEGMENT_BYTES = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** `/`-joined, non-empty segments of well-formed Unicode without control characters, neither they nor all of it too long. */
export function isBlobKey(key: string): boolean {
  return (
    key.isWellFormed() &&
    !CONTROL.test(key) &&
    Buffer.byteLength(key) <= MAX_KEY_BYTES &&
    key.split('/').every((segment) => segment !== '' && Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES)
  );
}

export function requireBlobKey(key: string): void {
  if (isBlobKey(key)) return;
  throw engramError(
    'InvalidRequestError',
    `A blob key must be segments of 1 to ${MAX_SEGMENT_BYTES} bytes joined by /, without control characters, of at most ${MAX_KEY_BYTES} bytes`,
  );
}

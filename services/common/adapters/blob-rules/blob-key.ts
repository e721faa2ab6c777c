import { engramError } from '../../domain/errors.ts';

/** Longest key in UTF-8 bytes: what object stores take, and what fits a path after encoding. */
const MAX_KEY_BYTES = 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** `/`-joined, non-empty segments of well-formed Unicode without control characters, at most 1024 UTF-8 bytes together. */
export function isBlobKey(key: string): boolean {
  return (
    key.isWellFormed() &&
    !CONTROL.test(key) &&
    Buffer.byteLength(key) <= MAX_KEY_BYTES &&
    key.split('/').every((segment) => segment !== '')
  );
}

export function requireBlobKey(key: string): void {
  if (isBlobKey(key)) return;
  throw engramError(
    'InvalidRequestError',
    `A blob key must be non-empty segments joined by /, without control characters, of at most ${MAX_KEY_BYTES} bytes`,
  );
}

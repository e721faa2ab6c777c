import { isUtf8 } from 'node:buffer';

export interface DecodedText {
  /** Without byte order mark; may hold U+FFFD where the bytes had NUL or half a surrogate pair. */
  readonly text: string;
  /** Label of the WHATWG encoding standard. */
  readonly encoding: string;
}

/** Maximum NULs in a damaged text; a file with more is binary. */
const TOLERATED_NULS = 8;

/** Minimum bytes and letters to guess Windows-1252; with fewer, a wrong guess is as likely as a right one. */
const MIN_GUESS_BYTES = 64;
const MIN_GUESS_LETTERS = 3;

/**
 * Decodes bytes to text; null when they are not text. Tries in order: byte order mark; a declared encoding whose bytes can
 * look like UTF-8 (UTF-16, ISO-2022-JP); UTF-8; any other declared encoding; UTF-8 with encoded surrogates; Windows-1252 when
 * the bytes are clearly that (western letters between ASCII letters).
 */
export function decodeText(bytes: Uint8Array, declaredCharset?: string): DecodedText | null {
  const decoded = decode(bytes, declaredCharset);
  if (decoded === null || looksBinary(decoded.text)) return null;
  return decoded.text.includes('\0') ? { ...decoded, text: decoded.text.replaceAll('\0', '\ufffd') } : decoded;
}

function decode(bytes: Uint8Array, declaredCharset: string | undefined): DecodedText | null {
  const mark = byteOrderMark(bytes);
  if (mark === 'utf-8') return decodeUtf8(bytes.subarray(3));
  if (mark !== null) return { text: new TextDecoder(mark).decode(bytes), encoding: mark };
  const declared = canonicalEncoding(declaredCharset);
  if (declared !== null && (declared.startsWith('utf-16') || declared === 'iso-2022-jp')) {
    const text = decodeStrictly(bytes, declared);
    if (text !== null) return { text, encoding: declared };
  }
  if (isUtf8(bytes)) return { text: utf8(bytes), encoding: 'utf-8' };
  if (declared !== null && declared !== 'utf-8') {
    const text = decodeStrictly(bytes, declared);
    if (text !== null) return { text, encoding: declared };
  }
  return (
    decodeUtf8(bytes) ??
    (isClearlyWindows1252(bytes)
      ? { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' }
      : null)
  );
}

function byteOrderMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

function canonicalEncoding(label: string | undefined): string | null {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null; // unknown label
  }
}

function decodeStrictly(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Decodes UTF-8, also with separately encoded surrogates (ED A0..BF xx), as some databases and Java programs write them. */
function decodeUtf8(bytes: Uint8Array): DecodedText | null {
  if (isUtf8(bytes)) return { text: utf8(bytes), encoding: 'utf-8' };
  let repaired: Uint8Array | null = null;
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    if (second < 0xa0 || second > 0xbf || third < 0x80 || third > 0xbf) continue;
    repaired ??= Uint8Array.from(bytes);
    repaired.set([0xef, 0xbf, 0xbd], at);
  }
  return repaired !== null && isUtf8(repaired) ? { text: utf8(repaired), encoding: 'utf-8' } : null;
}

/**
 * Whether bytes are Windows-1252: every byte above 0x7F is a western letter beside an ASCII letter, or punctuation, and they
 * are few. Cyrillic, Greek or Japanese in old encodings have long runs of such bytes.
 */
function isClearlyWindows1252(bytes: Uint8Array): boolean {
  if (bytes.length < MIN_GUESS_BYTES) return false;
  let letters = 0;
  let others = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x0c) return false;
    if (byte < 0x80) continue;
    if (byte === 0x81 || byte === 0x8d || byte === 0x8f || byte === 0x90 || byte === 0x9d) return false;
    if (byte >= 0xc0 && byte !== 0xd7 && byte !== 0xf7) {
      if (!isAsciiLetter(bytes[index - 1]) && !isAsciiLetter(bytes[index + 1])) return false;
      letters += 1;
    } else others += 1;
  }
  return (
    letters + others >= MIN_GUESS_LETTERS &&
    (letters + others) * 5 <= bytes.length &&
    others <= letters + bytes.length / 50
  );
}

function isAsciiLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a));
}

/** Whether a text is binary: by NULs in all of it, and by control characters in its first 64 Ki characters. */
function looksBinary(text: string): boolean {
  let nuls = 0;
  for (let at = text.indexOf('\0'); at !== -1; at = text.indexOf('\0', at + 1)) {
    nuls += 1;
    if (nuls > TOLERATED_NULS && nuls * 1_000 > text.length) return true;
  }
  if (nuls * 4 > text.length) return true;
  const length = Math.min(text.length, 65_536);
  let controls = 0;
  for (let index = 0; index < length; index += 1) {
    if (isOddControl(text.charCodeAt(index))) controls += 1;
  }
  return controls > TOLERATED_NULS && controls * 50 > length;
}

/** Whether a control character is unusual in text files, unlike backspace, tab, line feed, form feed, carriage return, escape. */
function isOddControl(code: number): boolean {
  return code < 0x20 && !(code >= 0x08 && code <= 0x0d && code !== 0x0b) && code !== 0x1b;
}

const SPACE = 0;
const NEWLINE = 1;
const LETTER = 2;
const CAPITAL = 3;
const DIGIT = 4;
const SIGN = 5;
const ALPHABETIC = 6;
const SYLLABIC = 7;
const IDEOGRAPH = 8;
/** Thai, Lao, Burmese, Tibetan: no blanks between words. */
const THAI = 9;

/**
 * Estimated o200k tokens of a text, without loading the tokenizer (0.2 s, 64 MB): a walk over character classes with
 * costs fitted to it. Against the exact count of pieces of 1,600 characters: README.md.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const kind = kindOf(text.charCodeAt(at));
    const start = at;
    do at++;
    while (at < text.length && continues(kind, kindOf(text.charCodeAt(at)), at - start));
    tokens += costOf(kind, at - start, start > 0 ? text.charCodeAt(start - 1) : 0);
  }
  return Math.ceil(tokens);
}

/** A capital starts a new piece inside a word (`camelCase`), several in a row belong together (`HTTP`). */
function continues(kind: number, next: number, length: number): boolean {
  if (kind === CAPITAL) return next === LETTER || (next === CAPITAL && length > 0);
  return kind === next;
}

function costOf(kind: number, length: number, before: number): number {
  if (kind === LETTER || kind === CAPITAL) return wordCost(length, kindOf(before));
  if (kind === SPACE) return length > 1 ? 0.6 : 0;
  if (kind === NEWLINE) return kindOf(before) === SIGN ? 0.3 : 0.95;
  if (kind === DIGIT) return Math.ceil(length / 3);
  if (kind === SIGN) return length < 3 ? 0.95 : 0.95 + (length - 2) / 4;
  if (kind === ALPHABETIC) return 0.6 + length * 0.15;
  if (kind === THAI) return length * 0.34;
  return kind === SYLLABIC ? length * 0.58 : length * 0.68;
}

/** Long words are cut at an increasing rate; letters between digits and capitals are noise (hashes, base64). */
function wordCost(length: number, before: number): number {
  if (before === DIGIT || before === CAPITAL) return Math.max(1, length * 0.7);
  if (before === LETTER) return Math.max(1, length * 0.5);
  return length < 4 ? 1 : 1 + (length - 3) * 0.045 + Math.max(0, length - 9) * 0.12;
}

function kindOf(code: number): number {
  if (code < 0x80) {
    if (code >= 0x61 && code <= 0x7a) return LETTER;
    if (code === 0x20 || code === 0x09) return SPACE;
    if (code >= 0x41 && code <= 0x5a) return CAPITAL;
    if (code >= 0x30 && code <= 0x39) return DIGIT;
    return code === 0x0a || code === 0x0d ? NEWLINE : SIGN;
  }
  if (code >= 0xc0 && code < 0x250) return LETTER;
  if (code < 0x370 || (code >= 0x2000 && code < 0x2e80)) return code === 0xa0 ? SPACE : SIGN;
  if (code < 0x2000) return code >= 0xe00 && code < 0x1100 ? THAI : ALPHABETIC;
  if (code >= 0x3000 && code < 0x3040) return SIGN;
  if ((code >= 0x3040 && code < 0x3100) || (code >= 0xac00 && code < 0xd7b0)) return SYLLABIC;
  return IDEOGRAPH;
}

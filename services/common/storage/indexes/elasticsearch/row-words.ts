import { sha256 } from '../../../kernel/hashes.ts';
import type { IndexKind } from '../../ports/index-entry.ts';

/**
 * How tokens are indexed. Each distinct token of a row becomes one keyword `<kind><class> <token>`, where the class says
 * how often the token stands in the row: exactly up to six times, in ranges beyond. Queries so find out frequencies, which
 * the server's own text fields tell only through its ranking, and words of one kind do not slow queries for another down.
 */
interface FrequencyClass {
  readonly code: string;
  /** Frequencies up to this one, from the class before. */
  readonly most: number;
}

export const FREQUENCY_CLASSES: readonly FrequencyClass[] = [
  { code: '1', most: 1 },
  { code: '2', most: 2 },
  { code: '3', most: 3 },
  { code: '4', most: 4 },
  { code: '5', most: 5 },
  { code: '6', most: 6 },
  { code: '7', most: 8 },
  { code: '8', most: 11 },
  { code: '9', most: 15 },
  { code: 'a', most: 23 },
  { code: 'b', most: Number.POSITIVE_INFINITY },
];
const FREQUENCY_OF: ReadonlyMap<string | undefined, number> = new Map(
  FREQUENCY_CLASSES.map(({ code, most }) => [code, most]),
);
/** Highest frequency with a class of its own; rows keep higher ones beside their words. */
const EXACT_UP_TO = 6;

const KIND_CODES: Readonly<Record<IndexKind, string>> = {
  chunk: 'c',
  sentence: 's',
  summary: 'm',
  entity: 'e',
  edge: 'd',
  triplet: 't',
};

/** Longer tokens (data URLs, minified code) are indexed under their hash: the server takes 32 kB at most. */
const MAX_TOKEN_LENGTH = 200;

interface RowWords {
  readonly words: readonly string[];
  /** `<frequency> <word>` of the words whose class leaves it open. */
  readonly often: readonly string[];
  /** Number of tokens. */
  readonly length: number;
}

export function rowWords(kind: IndexKind, tokens: string): RowWords {
  const counts = new Map<string, number>();
  let length = 0;
  for (const token of tokens.split(' ')) {
    if (token === '') continue;
    length += 1;
    counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  const words: string[] = [];
  const often: string[] = [];
  for (const [token, frequency] of counts) {
    const { code } = FREQUENCY_CLASSES.find(({ most }) => frequency <= most) as FrequencyClass;
    const word = wordKey(kind, code, token);
    words.push(word);
    if (frequency > EXACT_UP_TO) often.push(`${frequency} ${word}`);
  }
  return { words, often, length };
}

/** How often each token stands in a row. One that was indexed under its hash comes as its hash, with a blank before. */
export type TokenCounts = ReadonlyMap<string, number>;

export function tokenCounts({
  words,
  often = [],
}: {
  readonly words: readonly string[];
  readonly often?: readonly string[];
}): TokenCounts {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word.slice(KEY_LENGTH), FREQUENCY_OF.get(word[1]) ?? 1);
  for (const entry of often) {
    const blank = entry.indexOf(' ');
    counts.set(entry.slice(blank + 1 + KEY_LENGTH), Number(entry.slice(0, blank)));
  }
  return counts;
}

/** The tokens again, each as often as it stood in the row. */
export function tokensOf(counts: TokenCounts): string {
  return [...counts].flatMap(([token, count]) => new Array<string>(count).fill(token.trimStart())).join(' ');
}

/** The words that stand for a term in rows of a kind, by class; null for what no tokeniser makes. */
export function termWords(kind: IndexKind, term: string): readonly string[] | null {
  if (term === '' || term.includes(' ')) return null;
  return FREQUENCY_CLASSES.map(({ code }) => wordKey(kind, code, term));
}

/** Reads how often a row holds each term. */
export function frequencyReader(terms: readonly string[]) {
  const tokens = terms.map(storedToken);
  return (counts: TokenCounts): readonly number[] => tokens.map((token) => counts.get(token) ?? 0);
}

/** Characters before the token. */
const KEY_LENGTH = 3;

function wordKey(kind: IndexKind, code: string, token: string): string {
  return `${KIND_CODES[kind]}${code} ${storedToken(token)}`;
}

/** A blank before a hash: no token has one. The server's UTF-8 cannot distinguish lone surrogates either. */
export function storedToken(token: string): string {
  if (token.length <= MAX_TOKEN_LENGTH && token.isWellFormed()) return token;
  return ` ${sha256(Buffer.from(token, 'utf16le'), 'base64url')}`;
}

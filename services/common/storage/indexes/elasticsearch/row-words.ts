import { createHash } from 'node:crypto';
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

/** The tokens again, each as often as it stood in the row. One that was indexed under its hash comes as its hash. */
export function rowTokens({
  words,
  often = [],
}: {
  readonly words: readonly string[];
  readonly often?: readonly string[];
}): string {
  const counts = new Map(often.map((entry) => [entry.slice(entry.indexOf(' ') + 1), Number.parseInt(entry, 10)]));
  const tokens = words.flatMap((word) => {
    const count = counts.get(word) ?? FREQUENCY_CLASSES.find(({ code }) => code === word[1])?.most ?? 1;
    return new Array<string>(count).fill(word.slice(2).trimStart());
  });
  return tokens.join(' ');
}

/** The words that stand for a term in rows of a kind, by class; null for what no tokeniser makes. */
export function termWords(kind: IndexKind, term: string): readonly string[] | null {
  if (term === '' || term.includes(' ')) return null;
  return FREQUENCY_CLASSES.map(({ code }) => wordKey(kind, code, term));
}

/** Reads how often a row holds each term. */
export function frequencyReader(kind: IndexKind, terms: readonly string[]) {
  const known = new Map<string, { readonly term: number; readonly frequency: number }>();
  terms.forEach((text, term) => {
    termWords(kind, text)?.forEach((word, at) => {
      known.set(word, { term, frequency: FREQUENCY_CLASSES[at]?.most ?? 0 });
    });
  });
  return (row: Pick<RowWords, 'words' | 'often'>): readonly number[] => {
    const frequencies = terms.map(() => 0);
    for (const word of row.words) {
      const found = known.get(word);
      if (found !== undefined) frequencies[found.term] = found.frequency;
    }
    for (const entry of row.often) {
      const blank = entry.indexOf(' ');
      const found = known.get(entry.slice(blank + 1));
      if (found !== undefined) frequencies[found.term] = Number(entry.slice(0, blank));
    }
    return frequencies;
  };
}

/** Two blanks before a hash: no token has one. The server's UTF-8 cannot distinguish lone surrogates either. */
function wordKey(kind: IndexKind, code: string, token: string): string {
  const key = `${KIND_CODES[kind]}${code} `;
  if (token.length <= MAX_TOKEN_LENGTH && token.isWellFormed()) return key + token;
  return `${key} ${createHash('sha256').update(Buffer.from(token, 'utf16le')).digest('base64url')}`;
}

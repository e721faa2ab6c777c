import { idFor } from '../../common/kernel/ids.ts';
import { isCommonWord } from '../../common/text/language/common-words.ts';
import { nameKey } from '../../common/text/language/fold.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { QueryAnalysis } from './query-analysis.ts';

/** A span of the query that may be the name of an entity. */
export interface QueryName {
  readonly entityId: string;
  readonly name: string;
  /** Positions of words in the query; `until` is exclusive. */
  readonly from: number;
  readonly until: number;
}

const MAX_NAME_WORDS = 10;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’.&/-][\p{L}\p{N}\p{M}]+)*\.?/gu;

/**
 * Returns every span of the query that could name an entity, with the id of that entity: linking is then one look-up in the
 * graph. A single word counts when it is capitalised or has a digit; in a query without capitals, when it is not a common
 * word. A longer span must not begin or end with a stop word in lower case.
 */
export function queryNames(analysis: QueryAnalysis): readonly QueryName[] {
  const words = wordsOf(analysis.text);
  const names = new Map<string, QueryName>();
  const hasCapitals = words.slice(1).some((word) => word.isCapitalised);
  for (let from = 0; from < words.length; from++) {
    for (let until = from + 1; until <= Math.min(words.length, from + MAX_NAME_WORDS); until++) {
      const stretch = words.slice(from, until);
      if (!canBeName(stretch, hasCapitals)) continue;
      for (const name of spellings(analysis.text, stretch)) {
        const entityId = idFor('Entity', nameKey(name));
        if (!names.has(entityId)) names.set(entityId, { entityId, name, from, until });
      }
    }
  }
  return [...names.values()];
}

/** Returns the longest names that do not overlap: `New York City` is not `New York`. */
export function longestNames(linked: readonly QueryName[]): readonly QueryName[] {
  const taken: QueryName[] = [];
  for (const name of linked.toSorted((a, b) => b.until - b.from - (a.until - a.from) || a.from - b.from)) {
    if (taken.every((other) => sameStretch(name, other) || name.until <= other.from || name.from >= other.until)) {
      taken.push(name);
    }
  }
  return taken;
}

function sameStretch(left: QueryName, right: QueryName): boolean {
  return left.from === right.from && left.until === right.until;
}

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isCapitalised: boolean;
  readonly isStopWord: boolean;
  readonly isCommonWord: boolean;
}

function wordsOf(text: string): readonly Word[] {
  return [...text.matchAll(WORD)].map((match) => {
    const word = match[0];
    const bare = word.replace(/['’]s$|\.$/u, '').toLowerCase();
    return {
      text: word,
      start: match.index,
      end: match.index + word.length,
      isCapitalised: /^[\p{Lu}\p{N}]|\p{Ll}\p{Lu}/u.test(word),
      isStopWord: STOP_WORDS.has(bare),
      isCommonWord: isCommonWord(bare),
    };
  });
}

function canBeName(stretch: readonly Word[], hasCapitals: boolean): boolean {
  const first = stretch[0] as Word;
  const last = stretch.at(-1) as Word;
  if (stretch.length === 1) return !first.isStopWord && (hasCapitals ? first.isCapitalised : !first.isCommonWord);
  return (!first.isStopWord || first.isCapitalised) && (!last.isStopWord || last.isCapitalised);
}

/** Returns the spellings of a span: as written, without a possessive ending, without a final full stop. */
function spellings(text: string, stretch: readonly Word[]): readonly string[] {
  const surface = text.slice((stretch[0] as Word).start, (stretch.at(-1) as Word).end).replace(/\s+/gu, ' ');
  return [...new Set([surface, surface.replace(/['’]s$/u, ''), surface.replace(/\.$/u, '')])];
}

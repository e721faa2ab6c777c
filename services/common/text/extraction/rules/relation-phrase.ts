import type { TaggedWord } from './tagger.ts';

/** The words that lead from a verb or copula to the name they end at. */
interface RelationPhrase {
  /** Lemmas of nouns with their prepositions, in order: `seat of bishop of`; '' for a direct object. */
  readonly text: string;
  /** The one that governs the name; null for a direct object. */
  readonly preposition: string | null;
  /** Nouns named on the way. */
  readonly nouns: number;
  /** A noun stands between two prepositions: in `added trains over the bridge at Malmö` Malmö tells of the bridge. */
  readonly isChain: boolean;
}

const PREPOSITIONS = new Set(
  `in on at by for from to with as of into against under over through during after before since until between among across
  near toward towards within without onto along around round behind beyond via upon past aboard beside above below about up down out off away back together`.split(
    /\s+/u,
  ),
);
/** Alternatives of expressions: words of what is not stated, and verbs of what is not done. */
export const UNCERTAIN = "not|n['’]t|never|no|nor|neither|cannot|hardly|would|could|should|might|may";
export const UNDONE_VERBS =
  'try|want|refuse|fail|decline|seek|attempt|hope|plan|intend|wish|threaten|ask|expect|propose|need';
export const PARTICLE = /^(?:up|out|off|down|away|back)$/u;
const POSSESSIVE = /^(?:his|her|its|their|our|my|your)$/iu;
const THING = /^(?:it|them)$/iu;
const PASSED_OVER = /^(?:DET|ADJ|ADV|NUM)$/u;
const MAX_NOUNS = 2;
const MAX_WORDS = 6;

/**
 * Reads the words between a verb and a name. Null when they hold another clause, a pronoun, an aside or more nouns than a
 * relation's name can carry: what is left out would change what is said.
 */
export function readPhrase(words: readonly TaggedWord[]): RelationPhrase | null {
  const parts: string[] = [];
  let noun: string | null = null;
  let nouns = 0;
  let preposition: string | null = null;
  let isChain = false;
  for (const word of words) {
    const lower = word.text.toLowerCase();
    if (PREPOSITIONS.has(lower) && /^(?:ADP|PART|ADV|SCONJ)$/u.test(word.pos)) {
      if (noun !== null) {
        isChain ||= preposition !== null;
        parts.push(noun);
        nouns++;
      }
      parts.push(lower);
      noun = null;
      preposition = lower;
    } else if (word.pos === 'NOUN' || word.pos === 'PROPN') {
      noun = word.lemma;
    } else if (word.pos === 'ADP') {
      return null;
    } else if (!PASSED_OVER.test(word.pos) && !POSSESSIVE.test(lower) && !THING.test(lower) && !isInsideWord(word))
      return null;
  }
  // Nouns directly before the name describe it: `married actress`.
  if (noun !== null && preposition === null && words.some((word) => POSSESSIVE.test(word.text))) return null;
  if (nouns > MAX_NOUNS || parts.length > MAX_WORDS) return null;
  return { text: parts.join(' '), preposition, nouns, isChain };
}

function isInsideWord(word: TaggedWord): boolean {
  return word.text === '-' || /^['’]s?$/u.test(word.text);
}

export function snakeCase(text: string): string {
  return text
    .toLowerCase()
    .replace(/['’]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/gu, '');
}

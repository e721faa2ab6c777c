import type { EntityType } from './entity-type.ts';
import { DEMONYMS } from './gazetteer.ts';
import type { TaggedWord } from './tagger.ts';
import { JUDGING_ADJECTIVES, TYPE_NOUNS, WEAK_WORDS } from './type-words.ts';

/** Returns the definition of a name in a sentence: `is a French physicist and chemist …` or `, the capital of France,`. */
export interface Definition {
  /** The words as written, without the final punctuation. */
  readonly description: string;
  /** `french physicist`: the class in singular, at most four words; null when there is none. */
  readonly className: string | null;
  readonly type: EntityType | null;
}

const MAX_DESCRIPTION_LENGTH = 240;
const MAX_CLASS_WORDS = 4;
const APPOINTING = /^(?:hire|appoint|elect|employ|recruit|nominate|promote)$/u;

/** `end` is where the name ends in the sentence. */
export function definitionAfter(text: string, words: readonly TaggedWord[], end: number): Definition | null {
  const rest = words.filter((word) => word.start >= end && word.pos !== 'SPACE');
  const from = skipParenthesis(rest);
  const opener = rest[from];
  if (opener === undefined) return null;
  if (/^(?:is|was)$/iu.test(opener.text)) return readPhrase(text, rest.slice(from + 1), false);
  // `hired Emil Novak as a developer`
  if (
    opener.text === 'as' &&
    APPOINTING.test(words.findLast((word) => word.end <= end && word.pos === 'VERB')?.lemma ?? '')
  )
    return readPhrase(text, rest.slice(from + 1), true);
  if (opener.text === ',') return readPhrase(text, rest.slice(from + 1), true);
  return null;
}

/** Past `(born 1867)`. */
function skipParenthesis(rest: readonly TaggedWord[]): number {
  if (rest[0]?.text.startsWith('(') !== true) return 0;
  const close = rest.findIndex((word) => word.text.endsWith(')'));
  return close === -1 || close > 24 ? 0 : close + 1;
}

function readPhrase(text: string, rest: readonly TaggedWord[], isApposition: boolean): Definition | null {
  const article = rest[0];
  if (article === undefined || !/^(?:an?|the|one)$/iu.test(article.text)) return null;
  const phrase = nounPhrase(rest.slice(1));
  const head = phrase.findLast((word) => word.pos === 'NOUN');
  if (head === undefined) return null;
  const stop = rest.findIndex(
    (word) => (isApposition ? /^[,.;)]$/u : /^[.;]$/u).test(word.text) && word.start > head.start,
  );
  const last = stop === -1 ? rest.at(-1) : rest[stop - 1];
  const description = cutAtWord(text.slice(article.start, last?.end ?? head.end).replace(/\s+/gu, ' '));
  const nouns = classWords(phrase.slice(0, phrase.indexOf(head) + 1));
  const isIndefinite = /^an?$/iu.test(article.text);
  return {
    description,
    className: isIndefinite && nouns !== null && !isVague(nouns) ? classNameOf(nouns) : null,
    type: (TYPE_NOUNS.get(head.lemma.toLowerCase()) as EntityType | undefined) ?? null,
  };
}

/** `is a place`, `is a good man`: true of too much. */
function isVague(words: readonly TaggedWord[]): boolean {
  const head = words.at(-1)?.lemma.toLowerCase() ?? '';
  return WEAK_WORDS.has(head) || (words.length === 1 && /^(?:place|entity|person|man|woman|thing|one)$/u.test(head));
}

/** Up to its last noun: adjectives and participles before, `woman's` and `short and long` inside, no clause behind. */
function nounPhrase(rest: readonly TaggedWord[]): TaggedWord[] {
  const phrase: TaggedWord[] = [];
  for (const [at, word] of rest.entries()) {
    // `census-designated place`, `live-in-studio album`, `baseball left fielder`
    const isInner = rest[at - 1]?.text === '-' || (rest[at + 1]?.text === '-' && word.pos !== 'PUNCT');
    const isTagError = /^(?:left|right|set)$/u.test(word.text) && rest[at + 1]?.pos === 'NOUN';
    if (isInner || isTagError) {
      phrase.push(word);
      continue;
    }
    const hasNoun = phrase.some((one, place) => one.pos === 'NOUN' && !isHyphenated(phrase, place));
    const isWord = /^(?:NOUN|ADJ|PROPN|NUM)$/u.test(word.pos) || word.text === '-' || /^['’]s$/u.test(word.text);
    const isModifier =
      !hasNoun && (word.pos === 'ADV' || (word.pos === 'VERB' && /(?:ed|ing|known)$/u.test(word.text)));
    const joins = !hasNoun && word.pos === 'CCONJ' && /^(?:ADJ|NOUN|VERB)$/u.test(rest[at + 1]?.pos ?? '');
    if (!isWord && !isModifier && !joins && !isSharedHead(phrase, rest.slice(at))) break;
    phrase.push(word);
  }
  return phrase;
}

/** `film and voice actress`: the person is behind the `and`. */
function isSharedHead(phrase: readonly TaggedWord[], rest: readonly TaggedWord[]): boolean {
  if (rest[0]?.pos !== 'CCONJ' || TYPE_NOUNS.get(phrase.at(-1)?.lemma.toLowerCase() ?? '') === 'Person') return false;
  const end = rest.findIndex((word, at) => at > 0 && word.pos !== 'NOUN');
  const last = rest[(end === -1 ? rest.length : end) - 1];
  return TYPE_NOUNS.get(last?.lemma.toLowerCase() ?? '') === 'Person';
}

/** Returns the class: nouns and adjectives after the last `and`; null when it contains a name or is too long. */
function classWords(phrase: readonly TaggedWord[]): readonly TaggedWord[] | null {
  const from = phrase.findLastIndex((word) => word.pos === 'CCONJ') + 1;
  const own = phrase.slice(from);
  const words = own.filter((word, at) => isClassWord(word) && (at === own.length - 1 || !isHyphenated(own, at)));
  const hasName = words.some((word) => word.pos === 'PROPN' && !DEMONYMS.has(word.text.toLowerCase()));
  return hasName || words.length > MAX_CLASS_WORDS ? null : words;
}

function isClassWord(word: TaggedWord): boolean {
  if (JUDGING_ADJECTIVES.has(word.text.toLowerCase())) return false;
  return /^(?:NOUN|ADJ|PROPN)$/u.test(word.pos) || /^(?:left|right)$/u.test(word.text);
}

function isHyphenated(words: readonly TaggedWord[], at: number): boolean {
  return words[at - 1]?.text === '-' || words[at + 1]?.text === '-';
}

function classNameOf(words: readonly TaggedWord[]): string {
  const last = words.at(-1);
  return [...words.slice(0, -1).map((word) => word.text), last?.lemma ?? ''].join(' ').toLowerCase();
}

function cutAtWord(text: string): string {
  if (text.length <= MAX_DESCRIPTION_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf(' ', MAX_DESCRIPTION_LENGTH))}…`;
}

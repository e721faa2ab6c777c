import { isCommonWord, wordInformation } from '../../language/common-words.ts';
import { STOP_WORDS } from '../../language/stop-words.ts';
import { wordTable } from '../../words/word-table.ts';
import type { AnalysedSentence } from './mention.ts';
import type { TaggedWord } from './tagger.ts';
import { JUDGING_ADJECTIVES, WEAK_WORDS } from './type-words.ts';

interface Concept {
  /** Lower case, last noun in singular. */
  readonly name: string;
  readonly sentences: readonly number[];
  /** Concepts that a text is about, rather than words that occur in it. */
  readonly isTopic: boolean;
}

/** `ln` of the frequency rank: words commoner than about the 400th are too general to connect texts. */
const MIN_INFORMATION = 5;
const MAX_WORDS = 3;
/** A text this short is about what it names once. */
const SENTENCES_OF_NOTE = 2;
/** Number of names above which a text is about its names. */
const NAMES_OF_TOPIC_TEXT = 3;
/** Frequency rank of a noun that a text is about by itself: `quicksort`, `treehouse`, and not `sky`, `file` or `crowd`. */
const MIN_RANK_OF_TOPIC = 8000;
/** Acts, qualities and measures: `donation`, `whiteness`, `approach`. */
const ABSTRACT = /(?:tion|sion|ment|ness|ity|ance|ence|ship|ism|ing|ure|age|ly|al|th)$/u;
/**
 * The subjects of a text that have no capital: noun phrases, by how rare their words are and how often they occur. Texts
 * with few names get more of them, because otherwise nothing would connect them.
 */
export function conceptsOf(sentences: readonly AnalysedSentence[], nameCount: number): Concept[] {
  const found = new Map<string, Found>();
  for (const [index, { words, mentions, language }] of sentences.entries()) {
    // The tagger knows English.
    if (language !== null) continue;
    const isFree = (word: TaggedWord): boolean => !mentions.some((one) => word.start < one.end && one.start < word.end);
    for (const phrase of nounPhrases(words, isFree)) {
      const name = nameOf(phrase);
      const entry = found.get(name) ?? {
        count: 0,
        sentences: new Set<number>(),
        score: informationOf(phrase),
        isThing: isThing(phrase),
      };
      entry.count++;
      entry.sentences.add(index);
      found.set(name, entry);
    }
  }
  const limit = Math.max(2, 6 - nameCount);
  const isShort = sentences.length <= SENTENCES_OF_NOTE;
  return [...found]
    .filter(([, entry]) => entry.score >= MIN_INFORMATION)
    .map(([name, entry]) => ({ name, entry, rank: entry.score * Math.sqrt(entry.count) }))
    .sort((left, right) => right.rank - left.rank || (left.name < right.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name, entry }) => ({
      name,
      sentences: [...entry.sentences],
      isTopic: entry.isThing && (entry.count > 1 || (isShort && nameCount < NAMES_OF_TOPIC_TEXT)),
    }));
}

interface Found {
  count: number;
  readonly sentences: Set<number>;
  readonly score: number;
  readonly isThing: boolean;
}

/** Nouns that make one term (`beef stew recipe`), or one noun that is neither ordinary nor abstract (`treehouse`). */
function isThing(phrase: readonly TaggedWord[]): boolean {
  const nouns = phrase.filter((word) => word.pos === 'NOUN');
  if (phrase.some((word) => JUDGING_ADJECTIVES.has(word.text.toLowerCase()))) return false;
  if (nouns.length > 1) return nouns.length === phrase.length || phrase.length === MAX_WORDS;
  const [only] = phrase;
  if (phrase.length > 1 || only === undefined) return false;
  const lower = only.lemma.toLowerCase();
  return !isCommonWord(lower) && !ABSTRACT.test(lower) && isRare(lower) && isRare(only.text.toLowerCase());
}

function isRare(word: string): boolean {
  return (wordTable().find(word)?.rank ?? MIN_RANK_OF_TOPIC) >= MIN_RANK_OF_TOPIC;
}

function* nounPhrases(words: readonly TaggedWord[], isFree: (word: TaggedWord) => boolean): Generator<TaggedWord[]> {
  let run: TaggedWord[] = [];
  for (const word of [...words, null]) {
    const isPart = word !== null && (word.pos === 'NOUN' || word.pos === 'ADJ') && isFree(word) && isWord(word);
    if (isPart) {
      run.push(word);
      continue;
    }
    while (run.length > 0 && run.at(-1)?.pos !== 'NOUN') run.pop();
    if (run.length > 0) yield run.slice(-MAX_WORDS);
    run = [];
  }
}

function isWord(word: TaggedWord): boolean {
  const lower = word.text.toLowerCase();
  return lower.length > 2 && /^[\p{L}-]+$/u.test(lower) && !WEAK_WORDS.has(lower) && !STOP_WORDS.has(lower);
}

function nameOf(phrase: readonly TaggedWord[]): string {
  const head = phrase.at(-1) as TaggedWord;
  return [...phrase.slice(0, -1).map((word) => word.text.toLowerCase()), head.lemma.toLowerCase()].join(' ');
}

/** That of the rarest word, and a little for each further one. */
function informationOf(phrase: readonly TaggedWord[]): number {
  const best = Math.max(
    ...phrase.map((word) => Math.min(wordInformation(word.text.toLowerCase()), wordInformation(word.lemma))),
  );
  return best + (phrase.length - 1) * 0.8;
}

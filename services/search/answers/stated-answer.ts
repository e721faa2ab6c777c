import { OWNER_NAME } from '../../common/domain/speaker.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import type { Fact, KnownEntity } from './knowledge.ts';
import { type Question, withoutStopWords, wordsOf } from './question.ts';
import type { RankedSentence } from './rank-sentences.ts';
import { verbatimOf } from './statements.ts';
import { likenessToRoles } from './word-kinds.ts';

/** An end of a relation that a question asks for, with the sentence that states it. */
export interface StatedAnswer {
  readonly text: string;
  readonly sentence: RankedSentence;
}

const SENTENCES_READ = 10;
/** Minimum probability of the sentence as a share of that of the best one. */
const MIN_SHARE = 0.15;
/** Maximum share of the question's information that the sentence may miss. */
const MAX_MISSING = 0.6;
/** Minimum likeness of the verbs of question and relation, of what is asked for and the answer, and of a word and persons. */
const MIN_LIKENESS = { verb: 0.55, focus: 0.4, role: 0.4 } as const;

/** "What did Ada write?": the subject is named, the object is asked for; "Who wrote it?" is the other way round. */
const ASKS_FOR_OBJECT = /\b(?:what|which|who|whom|where|when)\b.*?\b(?:do|does|did|has|have|had)\s/iu;
const ASKS_FOR_SUBJECT = /^(?:who|what|which\s+\p{Ll}+)\s+(?!(?:is|are|was|were|am)\b)\p{Ll}+/iu;

/** Returns the end of a relation whose other end and verb are in the question; null when no relation answers it. */
export function statedAnswer(
  question: Question,
  ranked: readonly RankedSentence[],
  facts: readonly Fact[],
): StatedAnswer | null {
  const isObject = ASKS_FOR_OBJECT.test(question.text);
  if (!isObject && !ASKS_FOR_SUBJECT.test(question.text)) return null;
  const least = MIN_SHARE * (ranked[0]?.probability ?? 0);
  for (const sentence of ranked.slice(0, SENTENCES_READ)) {
    if (sentence.probability < least || sentence.features.missing > MAX_MISSING) continue;
    for (const fact of facts) {
      const [given, wanted] = isObject ? [fact.source, fact.target] : [fact.target, fact.source];
      const isStated =
        fact.chunkId === sentence.passage.id && verbatimOf(sentence.statement).includes(fact.text.trim());
      if (!isStated || !isNamed(given, question) || isNamed(wanted, question)) continue;
      if ((isWanted(wanted, question) || isAskedByPreposition(fact, question)) && isVerbOf(fact, given, question)) {
        return { text: asWritten(wanted.name, sentence.statement.text), sentence };
      }
    }
  }
  return null;
}

/** Whether a question names an entity; a person also by one of the names. */
function isNamed({ name, type }: KnownEntity, { text }: Question): boolean {
  if (name === OWNER_NAME) return SPEAKER.test(text);
  const asked = new Set(wordsOf(text).map(stemOf));
  const words = withoutStopWords(name);
  if (type === 'Person' && name.includes(' ')) {
    const others = text.slice(1).match(/(?<=\p{Lu}\p{Ll}+ )\p{Lu}\p{Ll}+/gu) ?? [];
    return (
      words.some((word) => new RegExp(`\\b${word}\\b`, 'iu').test(text) && asked.has(stemOf(word))) &&
      others.every((other) => words.includes(other.toLowerCase()))
    );
  }
  return words.length > 0 && words.every((word) => asked.has(stemOf(word)));
}

/** Names the owner of the notes as subject or object of a question. */
const SPEAKER = /\b(?:(?:do|does|did|have|had) (?:i|we)|me|us)\b/iu;

function isWanted({ name, type }: KnownEntity, { type: asked, focus }: Question): boolean {
  const words = withoutStopWords(name);
  if (asked === 'person') return type === 'Person' || likenessToRoles(words.at(-1) ?? '') >= MIN_LIKENESS.role;
  if (asked === 'place') return type === 'Place';
  if (asked !== 'thing' || /^\d/u.test(name)) return false;
  if (focus === null || STOP_WORDS.has(focus)) return true;
  return likeness(focus, [...words, type.toLowerCase()]) >= MIN_LIKENESS.focus;
}

/** `On which computer did I write it?` asks for the end of `write_on`. */
function isAskedByPreposition({ relation }: Fact, { text }: Question): boolean {
  const preposition = /^(\p{L}+) (?:what|which|whom)\b/iu.exec(text)?.[1]?.toLowerCase();
  return preposition !== undefined && relation.split('_').at(-1) === preposition;
}

function isVerbOf({ relation }: Fact, given: KnownEntity, { text, focus }: Question): boolean {
  const verb = relation.split('_')[0] ?? '';
  const named = new Set([...wordsOf(given.name), focus]);
  const words = withoutStopWords(text).filter((word) => !named.has(word));
  return !STOP_WORDS.has(verb) && likeness(verb, words) >= MIN_LIKENESS.verb;
}

function likeness(word: string, others: readonly string[]): number {
  const stem = stemOf(word);
  return Math.max(0, ...others.map((other) => (stemOf(other) === stem ? 1 : wordTable().similarity(word, other))));
}

function asWritten(name: string, sentence: string): string {
  const at = sentence.toLowerCase().indexOf(name.toLowerCase());
  return at < 0 ? name : sentence.slice(at, at + name.length);
}

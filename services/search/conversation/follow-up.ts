import type { QaEntry } from '../../common/domain/session.ts';
import { names } from '../../common/text/language/names.ts';
import { REQUEST_STOP_WORDS, STOP_WORDS } from '../../common/text/language/stop-words.ts';

type Turn = Pick<QaEntry, 'question' | 'answer'>;

const PREVIOUS_TURNS = 2;
const MAX_LENGTH = 2000;

const REFERS_BACK =
  /\b(?:he|she|him|her|hers|his|they|them|their|theirs|it|its|this|that|these|those|there|the (?:former|latter|same)|(?:an)?other one)\b/iu;

/** Questions with more content words are found without resolving what they refer to. */
const MAX_CONTENT_WORDS = 2;

/** Whether a question refers to earlier turns: no content words, or few of them with a pronoun and without a name. */
export function refersBack(query: string): boolean {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return false;
  const content = words.filter(isContentWord).length;
  if (content === 0) return true;
  return content <= MAX_CONTENT_WORDS && REFERS_BACK.test(query) && names(query).length === 0;
}

/**
 * Returns the follow-up query for a model's answer: the last two turns and then the question, at most 2,000 characters;
 * answers are cut before questions. Null without turns (search-recall.md §4.4).
 */
export function followUpQuery(query: string, turns: readonly Turn[]): string | null {
  if (query.trim() === '' || turns.length === 0) return null;
  const last = turns.slice(-PREVIOUS_TURNS);
  const questions = last.map(({ question }) => question);
  const left = MAX_LENGTH - query.length - questions.join('\n').length - 2 * PREVIOUS_TURNS;
  const share = Math.max(0, Math.floor(left / last.length));
  const text = last.flatMap(({ question, answer }) => [question, answer.slice(0, share)]).filter((part) => part !== '');
  return [...cutToEnd(text.join('\n'), MAX_LENGTH - query.length - 1), query].join('\n').slice(0, MAX_LENGTH);
}

/**
 * Returns the follow-up query for quotes, without a model: the last question that stands alone, then this one. Answers are
 * left out, because their words would find the same sentences again. Null for a question that stands alone.
 */
export function contextualQuestion(query: string, turns: readonly Turn[]): string | null {
  if (!refersBack(query)) return null;
  const before = turns.toReversed().find(({ question }) => standsAlone(question));
  return before === undefined ? null : `${before.question.slice(0, MAX_LENGTH)}\n${query}`;
}

function standsAlone(question: string): boolean {
  return question.trim() !== '' && !refersBack(question);
}

function isContentWord(word: string): boolean {
  return !STOP_WORDS.has(word) && !REQUEST_STOP_WORDS.has(word);
}

/** Keeps the end of a text, which is nearer to the question. */
function cutToEnd(text: string, length: number): readonly string[] {
  return length <= 0 ? [] : [text.slice(-length)];
}

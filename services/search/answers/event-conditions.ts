import { stemOf } from '../../common/text/language/tokenize.ts';
import { EVENTS } from './event-words.ts';
import { isForeignText } from './foreign-text.ts';
import { type Asked, asksForTimeOfDay, contentWords } from './question.ts';
import { CALENDAR_NAMES, CURRENCIES, MONTHS, NUMERALS } from './spans.ts';

/** A sentence with what stands above and before it. */
export interface Said {
  readonly text: string;
  readonly context: string;
}

/**
 * Whether sentences have no word of the event that a question asks about: `We visited Ewan in Tromsø.` for "When did Ewan move to
 * Norway?" Of a date only the best one is read: others have dates of other events.
 */
export function isEventUnsaid({ text, type }: Asked, said: readonly Said[]): boolean {
  const event = EVENTS.find(({ asked, types }) => types.includes(type) && asked.test(text));
  if (event === undefined) return false;
  // What is said in another language has none of these words.
  const isSilent = (one: Said) =>
    !event.said.test(`${one.text} ${one.context}`.replace(RETIRED_KIND, '')) && !isForeignText(one.text);
  return (type === 'date' || event.isOfBest ? said.slice(0, 1) : said).every(isSilent);
}

const BIRTH_ASKED = /\b(?:born|birth\p{L}*|old|age[ds]?|live[ds]?)\b/iu;
/** A birth with its date, or two dates of a life, in brackets: `(born 25 October 1961)`, `(1600–1683)`. */
const LIFE_DATES = /\((?:[^()]*\bborn\b|(?:c\. ?)?[^()]{0,30}\d{4} ?[–-])[^()]*\)/giu;
/** Tells that a person has retired, and not when: `is a retired judoka`. */
const RETIRED_KIND = /\b(?:an?|the|former,?) retired (?=\p{L})/giu;

/** Whether the only dates of a sentence are those of a life when a question asks when something else was. */
export const isDateOfLife = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'date' &&
  !BIRTH_ASKED.test(text) &&
  !/\b(?:die[ds]?|death)\b/iu.test(text) &&
  sentence.search(LIFE_DATES) >= 0 &&
  !/\d{3}|\b(?:ago|since|yesterday|century)\b/u.test(sentence.replace(LIFE_DATES, ''));

const BORN_WHERE = /\bwhere (?:was|were|is|are) .{1,60} born\b/iu;
const BORN = /\bborn\b/iu;
/** Tells where somebody is from: `born … in Bonn`, `born 1961, Bonn`, `Bonn-born`. */
const BORN_PLACE = new RegExp(
  `\\b[Bb]orn\\b[^.;]*?(?:\\b(?:in|at|near|on|to|from|outside|aboard) (?:the )?(?!\\d|(?:${MONTHS})\\b)\\p{L}|\\d{4}, \\p{Lu})|-born\\b|\\b(?:birthplace|native|hometown|home town|hails?|came from|comes from|grew up|raised)\\b|\\bin \\p{Lu}[\\p{L} ]+ (?:was|were) born\\b`,
  'u',
);

/** Whether a sentence tells of a birth and of no place of it when a question asks where somebody was born. */
export const isBirthWithoutPlace = ({ text }: Asked, sentence: string): boolean =>
  BORN_WHERE.test(text) && BORN.test(sentence) && !BORN_PLACE.test(sentence);

const PLANNED = /\b(?:plan(?:ned|ning)?|scheduled|due|supposed|going to|meant|set)\b/iu;
const PAST_ASKED = /\b(?:was|were|did)\b/iu;
const FUTURE = /\b(?:will|shall|(?:is|are) going to)\b/iu;
const PAST = /\b(?:was|were|did|had|has|have|\p{L}{2,}ed|said|told|made|got|took|came|went|began)\b/iu;

/** Whether a sentence tells only of the future when a question asks when something was. */
export const isYetToCome = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'date' && PAST_ASKED.test(text) && !PLANNED.test(text) && FUTURE.test(sentence) && !PAST.test(sentence);

const TODO = /^(?:[-*•] )?(?:\[ ?\] )?(?:to ?do|action)\b:?/iu;

const OBLIGED = /\b(?:have|has|had) to\b|\b(?:deadline|todo)\b/iu;

/** Whether a sentence only says that something is to be done when a question asks when it was done. */
export const isOnlyToDo = ({ text, type }: Asked, sentence: string): boolean =>
  (type === 'date' || type === 'yes-no') &&
  PAST_ASKED.test(text) &&
  !PLANNED.test(text) &&
  !OBLIGED.test(text) &&
  TODO.test(sentence);

const CLOCK_OF_PURPOSE =
  /(?<!\d)(?:\d{1,2}(?:[:.]\d\d)? ?(?:AM|PM|am|pm|o['’]clock)|\d{1,2}:\d\d|noon|midnight) to (\p{Ll}+)/u;
const DAY = new RegExp(`\\b(?:1\\d|20)\\d\\d\\b|\\b(?:${CALENDAR_NAMES}|winter|spring|summer|autumn)\\b`, 'u');

/**
 * Whether the only time of a sentence is an hour of something else, done for the sake of what a question asks the date of: `I rose
 * at 4 AM to climb the hill` for "When did I climb the hill?"
 */
export function isHourOfOther(question: Asked, sentence: string): boolean {
  if (question.type !== 'date' || !PAST_ASKED.test(question.text) || asksForTimeOfDay(question)) return false;
  const found = CLOCK_OF_PURPOSE.exec(sentence);
  if (found === null || DAY.test(sentence)) return false;
  const asked = contentWords(question.text).map(stemOf);
  const isAsked = (text: string) => contentWords(text).some((word) => asked.includes(stemOf(word)));
  return isAsked(sentence.slice(found.index)) && !isAsked(sentence.slice(0, found.index));
}

const ASKS_FOR_COUNT = new RegExp(`\\bhow many (?!(?:${CURRENCIES})\\b)\\p{L}`, 'iu');
const MONEY = new RegExp(`[$€£¥] ?\\d[\\d.,]*|\\d[\\d.,]* ?(?:[$€£¥]|(?:${CURRENCIES})\\b)`, 'giu');
const NUMERAL = new RegExp(`\\d|\\b(?:${NUMERALS}|an?|no|none|both|all|only)\\b`, 'iu');

/** Whether amounts of money are all the numbers of a sentence when a question asks how many there are of something else. */
export const isMoneyForCount = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'number' &&
  ASKS_FOR_COUNT.test(text) &&
  sentence.search(MONEY) >= 0 &&
  !NUMERAL.test(sentence.replace(MONEY, ''));

const DONE_ASKED = /^(?:did|has|have|had|was|were)\b/iu;
const WISH =
  /\b(?:would like|hope[sd]?|wish(?:es|ed)?|ask(?:s|ed)? for|request(?:s|ed)?|propose[sd]?|suggest(?:s|ed)?|plan(?:s|ned)? to|applied for)\b/iu;

/** Whether a sentence tells only of a wish when a question asks whether something was done: `Our pupils would like a crossing.` */
export const isOnlyWished = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'yes-no' && DONE_ASKED.test(text.trim()) && WISH.test(sentence) && !WISH.test(text);

const REASON = /\b(?:because|since|as|due to|thanks to|owing to)\b/giu;

/** Whether what a question asks the reason of is itself the reason of something else: `Ada is in the chair, as Tom is ill.` */
export function isReasonOfOther({ text, type }: Asked, sentence: string): boolean {
  const marks = type === 'reason' ? [...sentence.matchAll(REASON)] : [];
  const [mark, ...others] = marks;
  if (mark === undefined || others.length > 0) return false;
  const asked = contentWords(text).map(stemOf);
  const stems = (part: string) => contentWords(part).map(stemOf);
  const [before, behind] = [stems(sentence.slice(0, mark.index)), stems(sentence.slice(mark.index))];
  const isIn = (part: readonly string[]) => asked.some((stem) => part.includes(stem));
  return before.length > 0 && isIn(behind) && !isIn(before);
}

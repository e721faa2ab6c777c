import { keptByText } from '../../common/kernel/recently-used.ts';
import { MONTHS as ALL_MONTHS } from '../../common/text/language/calendar-words.ts';
import { isCommonWord } from '../../common/text/language/common-words.ts';
import { isFunctionWord, STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { turnsOf } from '../../common/text/language/turns.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { kindOf } from '../retrieval/word-likeness.ts';
import type { AnswerType } from './question.ts';
import { isVerb, likenessToRoles } from './word-kinds.ts';

/** A part of a sentence that may be a short answer. */
export interface Span {
  readonly text: string;
  readonly start: number;
  readonly kind: SpanKind;
}

/**
 * `role`: a person without a name, such as `my uncle`. `title`: in quotes. `phrase`: words without a capital after an article,
 * a preposition or a form of "be". `kind`: of the kind of thing that a question names.
 */
type SpanKind = 'name' | 'role' | 'date' | 'number' | 'title' | 'phrase' | 'kind';

/** The kinds that are seen without the question. */
export type WrittenKind = Exclude<SpanKind, 'kind'>;

/** The kinds that answers of a type have; a type that is absent takes a sentence, such as a reason. */
export const KINDS_OF: Readonly<Partial<Record<AnswerType, readonly WrittenKind[]>>> = {
  person: ['name', 'role'],
  place: ['name', 'phrase'],
  date: ['date'],
  number: ['number'],
  thing: ['name', 'title'],
};

/** Alternatives of expressions. */
export const MONTHS = 'January|February|March|April|May|June|July|August|September|October|November|December';
export const WEEKDAYS = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?';
export const NUMERALS =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|several';
export const CURRENCIES = 'EUR|USD|GBP|CHF|euros?|pounds?|dollars?|francs?|crowns?|cents?|yen|bucks';
export const TIME_UNITS = 'seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?';
export const LENGTH_UNITS = 'km|kilomet\\p{L}+|met(?:er|re)s?|miles?';
export const CALENDAR_NAMES = `${WEEKDAYS}|${MONTHS}`;
/** `Zurich 180 euros` */
export const MEASURED = new RegExp(`[$€£¥%]|(?:^|\\s)(?:${CURRENCIES}|${TIME_UNITS}|${LENGTH_UNITS}|kg)$`, 'iu');
/** Also of German, Spanish and French; `Mars` is no month. */
const MONTH = `(?:${MONTHS}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|${[...ALL_MONTHS.keys()]
  .filter((month) => !MONTHS.toLowerCase().split('|').includes(month))
  .map((month) => (month === 'mars' ? month : `[${month[0]}${month[0]?.toUpperCase()}]${month.slice(1)}`))
  .join('|')})`;
/** `the tenth of the following month`, `the 1st of each quarter`. */
export const DAY_OF_EACH =
  '(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|fifteenth|twentieth|last(?: \\p{Ll}+)?|\\d{1,2}(?:st|nd|rd|th)) (?:day )?of (?:the|each|every|this) (?:\\p{Ll}+ )?(?:month|quarter|year|week)';
const DAY = '\\d{1,2}(?:st|nd|rd|th)?';
const DATE = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:early|late|mid)[- ])?(?:${DAY_OF_EACH}|\\d{4}-\\d\\d-\\d\\d|${MONTH}\\.? ${DAY},? \\d{4}|${DAY}\\.? (?:of |de )?${MONTH},?(?: (?:del? )?\\d{4})?|${MONTH},? \\d{4}|${MONTH} ${DAY}|(?:(?:spring|summer|autumn|fall|winter) (?:of )?)?(?:1\\d|20)\\d\\d(?:[–-]\\d{2,4}|s)?|\\d{1,2}(?:st|nd|rd|th) century(?: (?:BC|AD))?|\\d+ (?:BC|AD|BCE|CE)|\\d{1,2}(?::\\d\\d)? ?(?:AM|PM|am|pm|a\\.m\\.|p\\.m\\.)|\\d{1,2}:\\d\\d)(?![\\p{L}\\p{N}])`,
  'gu',
);
const CLOCK = '\\d{1,2}(?::\\d\\d)? ?(?:AM|PM|am|pm|a\\.m\\.|p\\.m\\.)|\\d{1,2}:\\d\\d';
/** A time of the day, or two that it lies between: `between 9 and 10 in the morning`, `19.30 Uhr`, `a las 8`. */
const TIME_OF_DAY = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:between|from|zwischen|von|entre|de|desde) (?:las )?\\d{1,2}(?:[:.]\\d\\d)? (?:and|to|until|till|und|bis|y|a|hasta) (?:las )?)?(?:${CLOCK}|\\d{1,2}(?:[:.]\\d\\d)? (?:Uhr|o['’]clock|heures)|(?<=\\b(?:at|las|between|from|zwischen|von|entre) )\\d{1,2}(?![\\d.:/-]|\\.? \\p{L}{3})|(?<=\\b(?:and|to|until|und|bis|y|las) )\\d{1,2}(?![\\d.:/-])|(?:half|quarter|ten|twenty) (?:past|to) \\p{Ll}+|noon|midnight|midday|Mittag|Mitternacht)(?: in the (?:morning|afternoon|evening)| at night)?(?![\\p{L}\\p{N}])`,
  'u',
);
/** Returns the time of the day that a sentence gives, but for when it was said; null without one. */
export function timeOfDayIn(sentence: string): string | null {
  const [turn] = turnsOf(sentence);
  const said = turn?.start === 0 ? sentence.slice(turn.saidAt) : sentence;
  return TIME_OF_DAY.exec(said)?.[0] ?? null;
}

/** With the time of day, and the day of the week before it: `Thursdays at 10:00`, `24 September at 19:30`. */
const DATE_AND_TIME = new RegExp(
  `(?<![\\p{L}\\p{N}])${WEEKDAYS}(?: at|,)? (?:${CLOCK})(?![\\p{L}\\p{N}])|${DATE.source}(?: at (?:${CLOCK})(?![\\p{L}\\p{N}]))?`,
  'gu',
);
const RELATIVE_DATE =
  /(?<![\p{L}\p{N}])(?:yesterday|last night|tonight|tomorrow|^today|today(?=[.!]?$)|this (?:morning|afternoon|evening|weekend)|(?<=\bon |\bevery )(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:last|next) (?:week|weekend|month|year|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:an?|\d+|two|three|four|five|six|seven|eight|nine|ten) (?:day|week|month|year)s? ago)(?![\p{L}\p{N}])/giu;
const NUMERAL = `(?:\\d[\\d,.]*\\d|\\d|${NUMERALS})`;
/** A phone number with the code of its country. */
const PHONE = /(?<![\p{L}\p{N}+])\+\d{1,3}[ ()./–-]{0,2}\d[\d ()./–-]{4,}\d(?!\d)/gu;
/** With its currency or unit: `$ 3.5 million`, `four hours`, `12 tomato plants`. */
const NUMBER = new RegExp(
  `(?:(?:[$€£¥]|(?<![\\p{L}\\p{N}])(?:EUR|USD|GBP|CHF|US\\$)) ?)?(?<![\\p{L}\\p{N}])${NUMERAL}(?:[ -](?:and )?${NUMERAL})*(?![\\p{L}\\p{N}])%?(?: (\\p{Ll}[\\p{L}-]*)(?:(?<!s) (\\p{Ll}[\\p{L}-]*s)(?![\\p{L}\\p{N}]))?)?`,
  'giu',
);
const PARTICLE = 'of|the|de|la|von|van|du|del|da|bin|ibn|for|and|&';
const CAPITAL = "\\p{Lu}[\\p{L}\\p{N}'’.-]*";
const NAME = new RegExp(
  `(?<![\\p{L}\\p{N}])${CAPITAL}(?:\\s+(?:${CAPITAL}|\\d{1,4}(?![\\p{L}\\p{N}])|(?:${PARTICLE})(?:\\s+the)?(?=\\s+\\p{Lu})))*`,
  'gu',
);
const TITLE = /"([^"]{2,60})"|“([^”]{2,60})”|«([^»]{2,60})»/gu;
const PHRASE =
  /(?<![\p{L}\p{N}])(?:the|an?|its|their|his|her|my|our|as|is|are|was|were|of|by|in|on|at|to|from|with|called|named)\s+((?:[\p{L}][\p{L}'’-]*\s+){0,3}\p{Ll}[\p{L}'’-]*)/gu;
const ROLE =
  /(?<![\p{L}\p{N}])(?:([Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Yy]our)|[Tt]he|[Aa]n?)\s+((?:\p{Ll}[\p{L}'’-]*\s+){0,2}\p{Ll}[\p{L}'’-]*)/gu;
/** Minimum likeness of a word to those of persons. */
const MIN_ROLE = 0.4;
const OPENING = new RegExp(`^(?:${[...STOP_WORDS].join('|')}|today|yesterday)\\s+`, 'iu');

/** Returns the spans of a sentence of some kinds. A span that is of several kinds is the first of them. */
export function spansOf(sentence: string, kinds: readonly WrittenKind[]): readonly Span[] {
  const found = kinds.flatMap((kind) => spansOfOne(kind, sentence));
  return found.filter(
    (span, at) => found.findIndex(({ start, text }) => start === span.start && text === span.text) === at,
  );
}

/** Sentences whose spans of a kind are kept: a question asks for them several times, and passages answer many questions. */
const CACHED_SENTENCES = 4000;
const finders = new Map<WrittenKind, (sentence: string) => readonly Span[]>();

function spansOfOne(kind: WrittenKind, sentence: string): readonly Span[] {
  const known = finders.get(kind);
  if (known !== undefined) return known(sentence);
  const find = keptByText(CACHED_SENTENCES, (text): readonly Span[] => {
    const found: Span[] = [];
    FINDERS[kind](text, (written, start, kindOfSpan) => {
      const clean = written.replace(/['’]s$/u, '').replace(/[\s.,'’]+$/u, '');
      if (clean.length > 1 || kindOfSpan === 'number') found.push({ text: clean, start, kind: kindOfSpan });
    });
    return found;
  });
  finders.set(kind, find);
  return find(sentence);
}

/** Minimum certainty that a word is of a kind. */
const MIN_OF_KIND = 0.3;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu;

/** Returns the words of a sentence that are of a kind of thing, with those that describe them: `acoustic guitar`. */
export function spansOfKind(sentence: string, kind: string): readonly Span[] {
  const ofKind = kindOf(kind);
  if (ofKind === null) return [];
  return [...sentence.matchAll(WORD)].flatMap((match, at, all) => {
    const word = match[0].toLowerCase();
    if (STOP_WORDS.has(word) || ofKind(wordSenses().row(word)) < MIN_OF_KIND) return [];
    let first = at;
    while (at - first < MAX_DESCRIBING && describes(sentence, all[first - 1], all[first])) first -= 1;
    const start = all[first]?.index ?? match.index;
    return [{ text: sentence.slice(start, match.index + match[0].length), start, kind: 'kind' as const }];
  });
}

const MAX_DESCRIBING = 2;

/** Whether a word stands right before another and is an adjective or a noun. */
function describes(sentence: string, word: RegExpExecArray | undefined, next: RegExpExecArray | undefined): boolean {
  if (word === undefined || next === undefined) return false;
  const lower = word[0].toLowerCase();
  if (sentence.slice(word.index + word[0].length, next.index) !== ' ' || STOP_WORDS.has(lower)) return false;
  const row = wordSenses().row(lower);
  return row >= 0 && wordSenses().partsOf(row).verb < MAX_VERB;
}

const MAX_VERB = 0.3;

/** How often something is: `twice a week`, `every second Friday`. */
const FREQUENCY = new RegExp(
  `(?<![\\p{L}\\d])(?:(?:once|twice|(?:\\d+|${NUMERALS}) times)(?: (?:an?|per|every|each) (?:\\p{Ll}+ )?(?:${TIME_UNITS}))?|(?:every|each) (?:(?:other|second|third|fourth|${NUMERALS}|\\d+) )?(?:${TIME_UNITS}|${WEEKDAYS}|mornings?|evenings?|quarters?|weekends?)|hourly|daily|weekly|fortnightly|monthly|quarterly|yearly|annually)(?!\\p{L})`,
  'giu',
);

/** Returns what finds the spans of sentences that a pattern matches. */
export const spansBy =
  (pattern: RegExp, kind: SpanKind) =>
  (sentence: string): readonly Span[] =>
    [...sentence.matchAll(pattern)].map(({ 0: text, index }) => ({ text, start: index, kind }));

/** Returns the spans of a sentence that say how often. */
export const frequenciesIn = spansBy(FREQUENCY, 'number');

/** How long before or after something it has to be: `no later than 30 days after the purchase`, `within two hours`. */
const DEADLINE = new RegExp(
  `(?<![\\p{L}\\d])(?:(?:within|no later than|not later than|at most|at least|up to) (?:the (?:first|next) )?(?:\\d+|${NUMERALS}|an?) (?:\\p{Ll}+ )?(?:${TIME_UNITS})(?: (?:after|before|of|from) (?:\\p{Ll}+ ){0,3}\\p{Ll}+)?|(?:\\d+|${NUMERALS}|an?) (?:${TIME_UNITS}) (?:before|after) (?:\\p{Ll}+ ){0,3}\\p{Ll}+)(?!\\p{L})`,
  'giu',
);

/** Returns the spans of a sentence that say by when something has to be, without a date. */
export const deadlinesIn = spansBy(DEADLINE, 'date');

type Add = (text: string, start: number, kind: SpanKind) => void;

const FINDERS: Readonly<Record<WrittenKind, (sentence: string, add: Add) => void>> = {
  date(sentence, add) {
    for (const match of sentence.matchAll(DATE_AND_TIME)) add(match[0], match.index, 'date');
    for (const match of sentence.matchAll(RELATIVE_DATE)) add(match[0], match.index, 'date');
  },
  number(sentence, add) {
    const dates = [...sentence.matchAll(DATE)].filter(([date]) => date.includes(' '));
    const isInDate = (at: number) => dates.some(({ 0: date, index }) => index <= at && at < index + date.length);
    const phones = [...sentence.matchAll(PHONE)];
    for (const { 0: phone, index } of phones) add(phone, index, 'number');
    const isInPhone = (at: number) => phones.some(({ 0: phone, index }) => index <= at && at < index + phone.length);
    for (const match of sentence.matchAll(NUMBER)) {
      if (!isInDate(match.index) && !isInPhone(match.index)) addNumber(match, match.index, add);
    }
  },
  name(sentence, add) {
    for (const match of sentence.matchAll(NAME)) {
      // `Complaints go to Ada; complaints about Ada go to Bo.`
      const isWord = match.index <= 1 && sentence.includes(` ${match[0].toLowerCase()}`);
      if (!isWord) addName(match[0], match.index, add);
    }
  },
  role(sentence, add) {
    for (const match of sentence.matchAll(ROLE)) addRole(match, add);
  },
  title(sentence, add) {
    for (const match of sentence.matchAll(TITLE)) add(match[1] ?? match[2] ?? match[3] ?? '', match.index + 1, 'title');
  },
  phrase(sentence, add) {
    for (const match of sentence.matchAll(PHRASE)) addPhrases(match, add);
  },
};

const INNER_PLACE = /^.* (?:in|at|on|near) (?:the|an?|my|our|his|her|their) (?=\S)/u;

/** All beginnings that end with a content word; of `a week in the library` those of `library`, too. */
function addPhrases(match: RegExpExecArray, add: Add): void {
  const phrase = match[1] ?? '';
  const words = phrase.split(/\s+/u);
  const start = match.index + match[0].length - phrase.length;
  const inner = INNER_PLACE.exec(phrase);
  if (inner !== null) add(phrase.slice(inner[0].length), start + inner[0].length, 'phrase');
  for (const [at, word] of words.entries()) {
    if (!STOP_WORDS.has(word.toLowerCase())) add(words.slice(0, at + 1).join(' '), start, 'phrase');
  }
}

/** Without the words behind it that are no unit, and not a year. */
function addNumber([all, unit = '', plural = '']: RegExpExecArray, at: number, add: Add): void {
  const behind = all.slice(0, all.length - plural.length).trim();
  const number = behind.slice(0, behind.length - unit.length).trim();
  if (/^(?:1\d|20)\d\d$/u.test(number)) return;
  if (unit === '' || isFunctionWord(unit.toLowerCase())) add(number, at, 'number');
  else add(plural !== '' && isNoun(unit) && isNoun(plural) ? all : behind, at, 'number');
}

function isNoun(word: string): boolean {
  const lower = word.toLowerCase();
  return !STOP_WORDS.has(lower) && wordSenses().partsOf(wordSenses().row(lower)).noun >= MIN_NOUN;
}

const MIN_NOUN = 0.6;

/** The words up to the first one for a person, with the one it belongs to: `my uncle`. */
function addRole(match: RegExpExecArray, add: Add): void {
  const [all, owner = '', phrase = ''] = match;
  const words = phrase.toLowerCase().split(/\s+/u);
  const head = words.findIndex((word) => !STOP_WORDS.has(word) && likenessToRoles(word) >= MIN_ROLE);
  if (head < 0) return;
  const role = words.slice(0, head + 1).join(' ');
  if (owner === '') add(role, match.index + all.length - phrase.length, 'role');
  else add(`${owner} ${role}`, match.index, 'role');
}

/** A capital at the start of a sentence makes no name of a stop word. */
function addName(match: string, at: number, add: Add): void {
  let [text, start] = [match.replace(/\s+(?:and )?I(?:['’]\p{L}+)?$/u, ''), at];
  for (let opening = OPENING.exec(text); start === at && at <= 1 && opening !== null; opening = OPENING.exec(text)) {
    text = text.slice(opening[0].length);
    start += opening[0].length;
  }
  // `At the Crown`
  const particles = start > at ? (/^(?:\p{Ll}+\s+)+/u.exec(text)?.[0].length ?? 0) : 0;
  [text, start] = [text.slice(particles), start + particles];
  // `In July 2023 Helen …`
  const day = DATE_BEFORE_NAME.exec(text)?.[0].length ?? 0;
  [text, start] = [text.slice(day), start + day];
  const adverb = start <= 1 ? BEFORE_NAME.exec(text)?.[0].length : undefined;
  if (adverb !== undefined) [text, start] = [text.slice(adverb), start + adverb];
  if (/^\p{Lu}/u.test(text) && !/^I(?:['’]\p{L}+)?$/u.test(text) && !(start <= 1 && isOrdinary(text)))
    add(text, start, 'name');
}

/** `June Carter` is a name. */
const DATE_BEFORE_NAME = new RegExp(`^(?:${MONTHS}) \\d{1,4}(?: \\d{4})? (?=\\p{Lu})`, 'u');

/** An adverb or an order before a name at the start of a sentence: `Ask Birte`. */
const BEFORE_NAME =
  /^(?:\p{Lu}\p{Ll}+(?:ing|ly)|Ask|Call|Tell|Remind|Email|Contact|Invite|Thank|Meet|Visit|Bring|Give|Send|Pay) (?=\p{Lu})/u;

/** Adverbs of place and time that may begin a sentence. */
const ADVERB =
  /^(?:halfway|midway|nowadays|meanwhile|afterwards?|beforehand|sometimes|tomorrow|tonight|overnight|abroad|(?:up|down)stairs|(?:in|out)doors|(?:in|out)side|overseas|nearby|elsewhere|besides|moreover|furthermore|nevertheless|nonetheless)$/u;

/** Whether a word would have no capital within a sentence. */
export function isOrdinary(word: string): boolean {
  const lower = word.toLowerCase();
  if (/ed$/u.test(lower) && isVerb(lower)) return true;
  return STOP_WORDS.has(lower) || isCommonWord(lower) || ADVERB.test(lower) || /^\p{Lu}\p{Ll}+(?:ing|ly)$/u.test(word);
}

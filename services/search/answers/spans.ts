import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { AnswerType } from './question.ts';

/** A part of a sentence that may be a short answer. */
export interface Span {
  readonly text: string;
  readonly start: number;
  readonly kind: SpanKind;
}

/** `title`: in quotes. `phrase`: words without a capital after an article, a preposition or a form of "be". */
type SpanKind = 'name' | 'date' | 'number' | 'title' | 'phrase';

/** The kinds that an answer of a type has; types without any have no typical form. */
export const KINDS_OF: Readonly<Partial<Record<AnswerType, readonly SpanKind[]>>> = {
  person: ['name'],
  place: ['name'],
  date: ['date'],
  number: ['number'],
};

const MONTH =
  '(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)';
const DAY = '\\d{1,2}(?:st|nd|rd|th)?';
const DATE = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:early|late|mid)[- ])?(?:\\d{4}-\\d\\d-\\d\\d|${MONTH}\\.? ${DAY},? \\d{4}|${DAY}\\.? (?:of )?${MONTH},?(?: \\d{4})?|${MONTH},? \\d{4}|${MONTH} ${DAY}|(?:(?:spring|summer|autumn|fall|winter) (?:of )?)?(?:1\\d|20)\\d\\d(?:[–-]\\d{2,4}|s)?|\\d{1,2}(?:st|nd|rd|th) century(?: (?:BC|AD))?|\\d+ (?:BC|AD|BCE|CE)|\\d{1,2}(?::\\d\\d)? ?(?:AM|PM|am|pm|a\\.m\\.|p\\.m\\.)|\\d{1,2}:\\d\\d)(?![\\p{L}\\p{N}])`,
  'gu',
);
const NUMERAL =
  '(?:\\d[\\d,.]*\\d|\\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|several)';
/** With its currency or unit: `$ 3.5 million`, `four hours`. */
const NUMBER = new RegExp(
  `(?:[$€£¥] ?)?(?<![\\p{L}\\p{N}])${NUMERAL}(?:[ -](?:and )?${NUMERAL})*(?![\\p{L}\\p{N}])%?(?: \\p{Ll}[\\p{L}-]*)?`,
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
const OPENING = new RegExp(`^(?:${[...STOP_WORDS].join('|')}|today|yesterday)\\s+`, 'iu');

/** Returns the spans of a sentence that may answer a question. */
export function spansOf(sentence: string): readonly Span[] {
  const found: Span[] = [];
  const add = (text: string, start: number, kind: SpanKind) => {
    const clean = text.replace(/['’]s$/u, '').replace(/[\s.,]+$/u, '');
    if (clean.length > 1 || kind === 'number') found.push({ text: clean, start, kind });
  };
  for (const match of sentence.matchAll(DATE)) add(match[0], match.index, 'date');
  for (const match of sentence.matchAll(NUMBER)) add(match[0], match.index, 'number');
  for (const match of sentence.matchAll(NAME)) addName(match[0], match.index, add);
  for (const match of sentence.matchAll(TITLE)) {
    add(match[1] ?? match[2] ?? match[3] ?? '', match.index + 1, 'title');
  }
  for (const match of sentence.matchAll(PHRASE)) {
    const phrase = match[1] ?? '';
    const words = phrase.split(/\s+/u);
    const start = match.index + match[0].length - phrase.length;
    for (const [at, word] of words.entries()) {
      if (!STOP_WORDS.has(word.toLowerCase())) add(words.slice(0, at + 1).join(' '), start, 'phrase');
    }
  }
  return [...new Map(found.map((span) => [`${span.start} ${span.text}`, span])).values()];
}

/** A capital at the start of a sentence makes no name of a stop word. */
function addName(match: string, at: number, add: (text: string, start: number, kind: SpanKind) => void): void {
  let [text, start] = [match, at];
  for (let opening = OPENING.exec(text); start === at && at <= 1 && opening !== null; opening = OPENING.exec(text)) {
    text = text.slice(opening[0].length);
    start += opening[0].length;
  }
  if (/^\p{Lu}/u.test(text) && !(at <= 1 && STOP_WORDS.has(text.toLowerCase())) && text !== 'I')
    add(text, start, 'name');
}

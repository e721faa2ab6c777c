import { headingTime } from '../language/heading-dates.ts';
import { sentences } from '../language/sentences.ts';
import type { TimeSpan } from '../language/time-span.ts';
import { type ReadStatement, readStatement, SPEAKER } from './read-statement.ts';

interface StatementOfText extends ReadStatement {
  /** The sentence, verbatim. */
  readonly text: string;
  /** The time that its headings give; null without one. */
  readonly time: TimeSpan | null;
}

/** A part of a text below other headings than the rest. */
interface Section {
  readonly start: number;
  readonly end: number;
  readonly headings?: readonly string[];
}

/** Headings of parts about other times, or about what is not true; those that are dates give their time to the statements. */
const YEAR = /\b(?:1\d{3}|20\d\d)\b/u;
const NOT_NOW =
  /\b(?:histor\w+|archiv\w+|past|previous|former|old|legacy|example\w*|fiction\w*|draft\w*|proposal\w*|propose\w*|scenario\w*|hypothe\w+|plan\w*|roadmap|template\w*|test data|sample\w*|quote\w*|changelog|minutes)\b/iu;
/** Neighbouring sentences that retract a statement, or attribute it to others. */
const DOUBT =
  /\b(?:imagine|suppose|assume|hypothetical\w*|pretend|for example|for instance|e\.g\.|fiction\w*|dream\w*|joke|joking|kidding|untrue|not true|isn['’]t true|false|wrong|incorrect|mistake\w*|rumou?r\w*|gossip|lie|lies|lied|allegedly|supposedly|claims? that|what if|scenario|thought experiment|never happened|april fool\w*)\b/iu;

/** `Anna: …` at the beginning of a line: who says `I` below it is not known here. */
const TURN = /^[ \t>*-]{0,8}(?:\[[^\]\n]{1,40}\][ \t]*)?\*{0,2}\p{Lu}[\p{L} .'’-]{0,40}\*{0,2}:\*{0,2}[ \t]/mu;

/** The statements of a passage that it makes itself, of now: none within quotes or code, under such headings, or in doubt. */
export function readStatements(
  text: string,
  headings: readonly string[] = [],
  parts: readonly Section[] = [],
): readonly StatementOfText[] {
  const all = sentences(text);
  const found: StatementOfText[] = [];
  const quotes = createQuotes(text);
  const isTalk = TURN.test(text);
  for (const [at, sentence] of all.entries()) {
    const read = readStatement(sentence.text);
    const under = parts.find(({ start, end }) => start <= sentence.start && sentence.start < end)?.headings ?? headings;
    if (read === null || quotes.isWithin(sentence.start) || (isTalk && read.subject === SPEAKER)) continue;
    if (DOUBT.test(all[at - 1]?.text ?? '') || DOUBT.test(all[at + 1]?.text ?? '')) continue;
    const isOfOtherTime = (heading: string) => YEAR.test(heading) && headingTime([heading]) === null;
    if (under.some((heading) => NOT_NOW.test(heading) || isOfOtherTime(heading))) continue;
    found.push({ ...read, text: sentence.text, time: headingTime(under) });
  }
  return found;
}

/** Reads forward, so each character is looked at once. */
function createQuotes(text: string) {
  let position = 0;
  let isStraight = false;
  let curly = 0;
  let isCode = false;
  return {
    /** Offsets must not fall. */
    isWithin(offset: number): boolean {
      for (; position < offset; position++) {
        const character = text.charAt(position);
        if (text.startsWith('```', position)) {
          isCode = !isCode;
          position += 2;
        } else if (character === '"') isStraight = !isStraight;
        else if (character === '“' || character === '„' || character === '«') curly += 1;
        else if (character === '”' || character === '»') curly = Math.max(0, curly - 1);
        else if (character === '\n' && text.charAt(position + 1) === '\n') {
          // An unclosed quotation mark ends with its paragraph.
          isStraight = false;
          curly = 0;
        }
      }
      return isStraight || curly > 0 || isCode;
    },
  };
}

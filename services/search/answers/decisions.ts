import type { Question } from './question.ts';
import { putFirst, type RankedSentence } from './rank-sentences.ts';
import { spansOf } from './spans.ts';
import { verbatimOf } from './statements.ts';

const SUGGESTED =
  /\b(?:suggest(?:s|ed)?|propos(?:e[sd]?|al)|how about|what about|would like|wants?|maybe|perhaps|shall we|could we|should we|still|then\?)(?!\p{L})|\?["”)]*$/iu;
const DECIDED =
  /\b(?:decision|decided|settled|agreed|confirmed|it['’]s (?:final|official)|final(?:ly)?|it is(?: then)?(?=[,.!]|$)|resolved|approved|carried|result)\b/iu;
/** Alternatives of an expression: tells that a plan was put off. */
export const PUT_OFF =
  'moved|changed|postponed|rescheduled|pushed(?: back)?|put off|shifted|delayed|brought forward|slips?';
/** A plan whose time or place was put off; what is behind `to` holds. */
const MOVED = new RegExp(`\\b(?:${PUT_OFF})\\b[^.;]*? (?:to|until|till) `, 'iu');
const ASKS_FOR_PLAN = /\b(?:suggest|propos|want|original|first|planned|before|move|postpone|delay|why|did)/iu;

/** Sentences that may tell the decision. */
const SENTENCES_READ = 10;
/** What more of a question's information than the best sentence the decision may miss, as it follows what it decides. */
const MISSING_MORE = 0.5;

/**
 * For a date, puts the decision first where the best sentence only suggests one, and a later date of the same before the one that
 * was decided: `settled: party on 18 July` before `I suggest 11 July`, `postponed to 16 March` before `go live on 2 March`.
 */
export function decidedFirst({ type, text }: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (type !== 'date' || best === undefined || ASKS_FOR_PLAN.test(text)) return ranked;
  const level = levelOf(best);
  if (level === 3) return ranked;
  // A suggestion gives way to a decision, too; all others only to what was put off.
  const least = level === 0 ? 2 : 3;
  const [found] = ranked
    .slice(1, SENTENCES_READ)
    .filter((one) => isLater(one, best) && one.features.missing <= best.features.missing + MISSING_MORE)
    .map((sentence) => ({ sentence, level: levelOf(sentence) }))
    .filter((one) => one.level >= least && spansOf(one.sentence.statement.text, ['date']).length > 0)
    .toSorted((a, b) => b.level - a.level);
  return found === undefined ? ranked : putFirst(found.sentence, ranked);
}

/** 0 for a suggestion, 1 for what is only said, 2 for a decision, 3 for one that was changed. */
function levelOf({ statement: { text } }: RankedSentence): number {
  if (MOVED.test(text)) return 3;
  if (DECIDED.test(text)) return 2;
  return SUGGESTED.test(text) ? 0 : 1;
}

/** Whether a sentence stands behind another in its passage, or in another passage below the same heading. */
function isLater(one: RankedSentence, best: RankedSentence): boolean {
  const placeOf = ({ passage, statement }: RankedSentence) => passage.payload.text.indexOf(verbatimOf(statement));
  if (one.passage.id === best.passage.id) return placeOf(one) > placeOf(best);
  const bare = (heading: string) => heading.replace(/^[\d.\s]+/u, '').toLowerCase();
  return bare(one.statement.heading) !== '' && bare(one.statement.heading) === bare(best.statement.heading);
}

/** Returns the date to which a sentence puts something off, `16 March` of `postponed from 2 March to 16 March`; null without one. */
export function dateMovedTo({ type, text }: Question, sentence: string): string | null {
  const moved = type !== 'date' || ASKS_FOR_PLAN.test(text) ? null : MOVED.exec(sentence);
  if (moved === null) return null;
  const behind = moved.index + moved[0].length;
  return spansOf(sentence, ['date']).find(({ start }) => start === behind)?.text ?? null;
}

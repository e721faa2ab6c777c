import { MONTHS, SEASONS } from '../../common/text/language/calendar-words.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { TimeSpan } from '../../common/text/language/time-span.ts';
import type { RankedPassage } from '../model.ts';
import { isWithin, spanOfDate } from '../retrieval/lanes.ts';
import type { QueryAnalysis, TimeWindow } from '../retrieval/query-analysis.ts';
import { wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { datesOf, dayAround, spanText, timesOfSentence, writtenAt } from './sentence-times.ts';
import { sourcedQuote } from './source-label.ts';
import { statementsOf } from './statements.ts';

type Span = Pick<TimeSpan, 'from' | 'until'>;

/** The times that a passage tells of: its dates, and that of its item. */
function timesOf(passage: ReadPassage): readonly Span[] {
  const { payload } = passage;
  const own = writtenAt(passage);
  return [...(payload.dates ?? []).map(spanOfDate), ...(own === null ? [] : [dayAround(own)])];
}

function lengthOf({ from, until }: Span): number {
  return until.getTime() - from.getTime();
}

/**
 * Puts passages that tell of the window first, those with the narrowest time before the others, and none before another for a
 * time narrower than the window (search-recall.md §3.10). `anchored`: how many there are.
 */
export function rankByTime<Passage extends ReadPassage>(
  passages: readonly Passage[],
  window: TimeWindow,
): { readonly passages: readonly Passage[]; readonly anchored: number } {
  const { from, until } = window;
  const least = from === null || until === null ? Number.POSITIVE_INFINITY : lengthOf({ from, until });
  const rated = passages.map((passage) => {
    const spans = timesOf(passage).filter((span) => isWithin(span, window));
    const span = spans.length === 0 ? null : Math.max(least, Math.min(...spans.map(lengthOf)));
    return { passage, span };
  });
  const anchored = rated.filter(({ span }) => span !== null);
  const ordered = anchored.toSorted((a, b) => (a.span === b.span ? 0 : (a.span ?? 0) - (b.span ?? 0)));
  const others = rated.filter(({ span }) => span === null);
  return { passages: [...ordered, ...others].map(({ passage }) => passage), anchored: anchored.length };
}

/** The part of a window that was known at a time. */
export function knownBy({ from, until }: TimeWindow, asOf: string | null): TimeWindow {
  const known = asOf === null ? null : new Date(asOf);
  if (known === null || (from !== null && from >= known)) return { from, until };
  return { from, until: until === null || until > known ? known : until };
}

/** Words of questions that ask for whatever there was at a time. */
const ANY_EVENT = new Set(
  `happen happened happens happening occur occurred going do did done doing go went been event events thing things something
  anything everything memory memories remember note notes entry entries life year month week day weekend early late mid
  passiert passierte geschah geschehen los gemacht machte machten tat taten pasó pasado pasó ocurrió ocurrido hice hicimos hizo
  passé arrivé fait fais faisait letzte letzten letzter woche monat jahr semana mes año pasada semaine mois dernier dernière année
  summer winter spring autumn fall tell show list summarise summarize experience experiences take took place plan planned
  january february march april may june july august september october november december last past this next ago
  yesterday today tomorrow monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/u),
);

/** Whether a question asks for nothing but its time: "What happened in 2019?". */
export function asksForTime({ text, timeWindow }: QueryAnalysis): boolean {
  if (timeWindow === null) return false;
  return wordsOf(text).every(
    (word) =>
      ANY_EVENT.has(word) ||
      MONTHS.has(word) ||
      SEASONS.has(word) ||
      STOP_WORDS.has(word) ||
      /^[\d-]+(?:st|nd|rd|th|s)?$/u.test(word),
  );
}

const MAX_EVENTS = 10;

/** Quotes what memory says of the window, the earliest first; null when it says nothing. */
export function datedQuotes(
  passages: readonly RankedPassage[],
  window: TimeWindow,
  dataset: string | null,
): { readonly text: string; readonly passageIds: readonly string[] } | null {
  const events = passages.flatMap((passage) => eventsOf(passage, window)).slice(0, MAX_EVENTS);
  if (events.length === 0) return null;
  const ordered = events.toSorted((a, b) => a.at.from.getTime() - b.at.from.getTime());
  return {
    text: ordered
      .map(
        ({ passage, text, heading, at }) => `${spanText(at)}: ${sourcedQuote(passage.payload, text, heading, dataset)}`,
      )
      .join('\n'),
    passageIds: [...new Set(ordered.map(({ passage }) => passage.id))],
  };
}

interface DatedSentence {
  readonly passage: RankedPassage;
  readonly text: string;
  readonly heading: string;
  readonly at: TimeSpan;
}

/** Headers of mails and minutes, which say nothing that happened; rows of tables have several keys. */
export const HEADER_LINE =
  /^(?!.*: .*, [^,:]*: )(?:from|to|cc|bcc|date|sent|subject|present|attendees|participants|datum|von|an|betreff|fecha|de|para|asunto|objet)\s?:/iu;
/** Salutations and signatures. */
const TWO_WORDS = /^\S+(?: \S+)?$/u;
/** Sentences of a passage of which only the day of writing is known. */
const MAX_UNDATED = 4;

/** The sentences of a passage with a time in the window; of those without one, the first ones when it was written in the window. */
function eventsOf(passage: RankedPassage, window: TimeWindow): readonly DatedSentence[] {
  const told = statementsOf(passage).filter(({ text }) => !HEADER_LINE.test(text) && !TWO_WORDS.test(text));
  let undated = 0;
  return told.flatMap((statement): readonly DatedSentence[] => {
    const said = { passage, statement };
    const time = timesOfSentence(said).find((span) => isWithin(span, window));
    if (time === undefined) return [];
    if (statement.time === null && datesOf(said).length === 0 && ++undated > MAX_UNDATED) return [];
    return [{ passage, text: statement.text, heading: statement.heading, at: time }];
  });
}

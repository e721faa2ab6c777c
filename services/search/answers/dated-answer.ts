import { timeOfMetadata } from '../../common/domain/item-time.ts';
import { dates } from '../../common/text/language/dates.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { TimeSpan } from '../../common/text/language/time-span.ts';
import type { RankedPassage } from '../model.ts';
import { isWithin, spanOfDate } from '../retrieval/lanes.ts';
import type { QueryAnalysis, TimeWindow } from '../retrieval/query-analysis.ts';
import { wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { sourcedQuote } from './source-label.ts';
import { statementsOf } from './statements.ts';
import { saidAt } from './times.ts';

type Span = Pick<TimeSpan, 'from' | 'until'>;

/** The times that a passage tells of: its dates, relative ones counted from when it was said, and that of its item. */
export function timesOf(passage: ReadPassage): readonly Span[] {
  const { payload } = passage;
  const own = ownTime(passage);
  return [
    ...(payload.dates ?? []).map(spanOfDate),
    ...dates(payload.text, saidAt(passage)).filter(({ isRelative }) => isRelative),
    ...(own === null ? [] : [own]),
  ];
}

/** The day that the metadata of the item name; null when they name none. */
function ownTime({ payload }: ReadPassage): Span | null {
  const time = timeOfMetadata(payload.externalMetadata);
  return time === null ? null : spanOfDate(time);
}

export function lengthOf({ from, until }: Span): number {
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

/** Words of questions that ask for whatever there was at a time. */
const ANY_EVENT = new Set(
  `happen happened happens happening occur occurred going do did done doing go went been event events thing things something
  anything everything memory memories remember note notes entry entries life year month week day weekend early late mid
  summer winter spring autumn fall tell show list summarise summarize experience experiences take took place plan planned
  january february march april may june july august september october november december last past this next ago
  yesterday today tomorrow monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/u),
);

/** Whether a question asks for nothing but its time: "What happened in 2019?". */
export function asksForTime({ text, timeWindow }: QueryAnalysis): boolean {
  if (timeWindow === null) return false;
  return wordsOf(text).every(
    (word) => ANY_EVENT.has(word) || STOP_WORDS.has(word) || /^\d+(?:st|nd|rd|th|s)?$/u.test(word),
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
  const ordered = events.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return {
    text: ordered.map(({ passage, text, heading }) => sourcedQuote(passage.payload, text, heading, dataset)).join('\n'),
    passageIds: [...new Set(ordered.map(({ passage }) => passage.id))],
  };
}

interface DatedSentence {
  readonly passage: RankedPassage;
  readonly text: string;
  readonly heading: string;
  readonly at: Date;
}

/** The sentences of a passage with a time in the window; its first one when only the item has such a time. */
function eventsOf(passage: RankedPassage, window: TimeWindow): readonly DatedSentence[] {
  const statements = statementsOf(passage);
  const said = saidAt(passage);
  const dated = statements.flatMap(({ text, heading }): readonly DatedSentence[] => {
    const time = dates(text, said).find((span) => isWithin(span, window));
    return time === undefined ? [] : [{ passage, text, heading, at: time.from }];
  });
  const own = ownTime(passage);
  const [first] = statements;
  if (dated.length > 0 || own === null || first === undefined || !isWithin(own, window)) return dated;
  return [{ passage, text: first.text, heading: first.heading, at: own.from }];
}

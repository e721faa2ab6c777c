import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import type { RankedPassage } from '../model.ts';
import { sourcedQuote } from './source-label.ts';
import { statementsOf } from './statements.ts';

interface Quoted {
  readonly text: string;
  readonly passageIds: readonly string[];
  readonly certainty: number | null;
  readonly short?: string | null;
  readonly nearest?: readonly string[];
}

const MAX_QUOTES = 5;
/** Asks for what is around something, whatever it is. */
const ASKS_FOR_SURROUNDINGS =
  /\b(?:related|connected|connection|relationship|linked?|context|background|surroundings?|around|tell me|know)\b/iu;

/**
 * Adds to an answer what other passages say of the names in the question, one sentence of each; null when they say nothing. A
 * question without an answer gets them only when it asks for no more.
 */
export function withSurroundings(
  query: string,
  answer: Quoted,
  found: {
    readonly named: readonly string[];
    readonly passages: readonly RankedPassage[];
    readonly dataset: string | null;
  },
): Quoted | null {
  const isAnswered = answer.text !== NOTHING_FITS;
  if (!isAnswered && !ASKS_FOR_SURROUNDINGS.test(query)) return null;
  const names = found.named.map((name) => name.toLowerCase());
  const known = new Set(answer.passageIds);
  const quotes = found.passages
    .filter(({ id }) => !known.has(id))
    .flatMap((passage) => {
      const said = statementsOf(passage).find(({ text }) => names.some((name) => text.toLowerCase().includes(name)));
      return said === undefined ? [] : [{ passage, ...said }];
    })
    .slice(0, MAX_QUOTES);
  if (quotes.length === 0) return null;
  const lines = quotes.map(({ passage, text, heading }) => sourcedQuote(passage.payload, text, heading, found.dataset));
  return {
    ...answer,
    text: [...(isAnswered ? [answer.text] : []), ...lines].join('\n'),
    passageIds: [...new Set([...answer.passageIds, ...quotes.map(({ passage }) => passage.id)])],
    certainty: isAnswered ? answer.certainty : null,
  };
}

import { byPredicate, ofBoth, ofSame } from './compared-kinds.ts';
import { type Compared, type Said, saidOfSides } from './compared-sides.ts';
import { pairOf, valuesOf } from './compared-values.ts';
import { type ComparisonQuestion, comparisonQuestion, named } from './comparison-question.ts';
import type { ReadPassage } from './rank-sentences.ts';

/**
 * Compares two things by what passages say of each: which is cheaper, who is older, whether both are magazines. Null when a
 * question compares nothing or what it compares by is not understood.
 */
export function compared(query: string, passages: readonly ReadPassage[]): Compared | null {
  const question = comparisonQuestion(query);
  if (question === null) return null;
  const said = saidOfSides(question.sides, passages);
  switch (question.kind) {
    case 'choice':
    case 'than':
      return byMeasure(question, said);
    case 'which':
      return byPredicate(question, said);
    case 'both':
      return ofBoth(question, said);
    case 'same':
      return ofSame(question, said);
  }
}

const SAYS_COMPARED = /\bthan\b|\bas \p{Ll}+ as\b/iu;

function byMeasure(question: Extract<ComparisonQuestion, { readonly measures: unknown }>, said: Said): Compared | null {
  const { measures, kind, sides } = question;
  const found = measures.flatMap(({ measure, pick }) => {
    const values = pairOf(measure, said);
    return values === null ? [] : [{ values, pick }];
  })[0];
  // `before Christmas` sets a time.
  if (found === undefined && kind === 'than' && measures[0]?.measure.kind === 'time') return null;
  if (found === undefined) {
    const told = said.flatMap((side) =>
      measures.flatMap(({ measure }) => valuesOf(measure, side).map((value) => value.said)).slice(0, 1),
    );
    // A sentence that compares both by itself is quoted.
    const isTold = said[0].some(
      ({ statement }) => SAYS_COMPARED.test(statement.text) && said[1].some((one) => one.statement === statement),
    );
    return isTold ? null : { answer: null, proofs: told };
  }
  const { values: pair, pick } = found;
  const [one, other] = pair;
  const isLess = one.value.until <= other.value.from && one.value.from < other.value.from;
  const isMore = other.value.until <= one.value.from && other.value.from < one.value.from;
  const isSame = one.value.from === other.value.from && one.value.until === other.value.until;
  if (!isLess && !isMore && !(isSame && one.value.from === one.value.until)) return null;
  const isFirst = pick === 'least' ? isLess : isMore;
  const answer = isSame
    ? kind === 'than'
      ? 'No'
      : 'Both the same'
    : kind === 'than'
      ? isFirst
        ? 'Yes'
        : 'No'
      : named(sides[isFirst ? 0 : 1]);
  return { answer, proofs: isFirst || kind === 'than' ? [one.said, other.said] : [other.said, one.said] };
}

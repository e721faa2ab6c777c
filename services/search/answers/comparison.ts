import { byPredicate, ofBoth, ofSame } from './compared-kinds.ts';
import { type Compared, type Said, saidOfSides } from './compared-sides.ts';
import { pairOf, valuesOf } from './compared-values.ts';
import { type ComparisonQuestion, comparisonQuestion, named } from './comparison-question.ts';
import type { Measure } from './measures.ts';
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

function byMeasure(question: Extract<ComparisonQuestion, { readonly measure: Measure }>, said: Said): Compared | null {
  const { measure, pick, kind, sides } = question;
  const pair = pairOf(measure, said);
  // `before Christmas` sets a time.
  if (pair === null && measure.kind === 'time' && kind === 'than') return null;
  if (pair === null) {
    const told = said.flatMap((side) =>
      valuesOf(measure, side)
        .slice(0, 1)
        .map((value) => value.said),
    );
    // A sentence that compares both by itself is quoted.
    const isTold = said[0].some(
      ({ statement }) => SAYS_COMPARED.test(statement.text) && said[1].some((one) => one.statement === statement),
    );
    return isTold ? null : { answer: null, proofs: told };
  }
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

import { saysOtherValue } from './other-value.ts';
import type { Question } from './question.ts';
import type { RankedSentence } from './rank-sentences.ts';

const NEGATION = /\b(?:no|not|never|none|nobody|nothing|neither|without|cannot|refused|declined|rejected)\b|n['’]t\b/iu;
const CONTRAST = /\b(?:but|although|though|until|unless|only)\b|\bnot only\b/iu;
/** Verbs that are stop words, with the forms of which a sentence that affirms them has one. */
const LIGHT_VERBS: readonly (readonly [RegExp, RegExp])[] = [
  [/\bget\b/iu, /\b(?:gets?|got|gotten|getting|receive[ds]?|obtain(?:s|ed)?|became)\b/iu],
  [/\bgive\b/iu, /\b(?:gives?|gave|given|giving|offer(?:s|ed)?)\b/iu],
  [/\btake\b/iu, /\b(?:takes?|took|taken|taking)\b/iu],
  [/\bmake\b/iu, /\b(?:makes?|made|making)\b/iu],
];
/** Maximum share of the question's information that a sentence may miss to deny it, and to affirm it. */
const MAX_MISSING = { no: 0.45, yes: 0.1 } as const;

/**
 * Returns whether a sentence affirms or denies what a question asks; null when it is not certain: a sentence with a part of
 * the question does not affirm it, and a negation beside a contrast may belong to something else.
 */
export function yesOrNo({ type, text }: Question, { statement, features }: RankedSentence): 'Yes' | 'No' | null {
  if (type !== 'yes-no' || / or /iu.test(text) || CONTRAST.test(statement.text)) return null;
  const isNegated = NEGATION.test(statement.text);
  if (NEGATION.test(text)) return null;
  if (!isNegated && saysOtherValue(text, statement.text)) return 'No';
  if (isNegated) return features.missing <= MAX_MISSING.no ? 'No' : null;
  if (LIGHT_VERBS.some(([asked, told]) => asked.test(text) && !told.test(statement.text))) return null;
  const isWhole = features.missing <= MAX_MISSING.yes && features.exact + features.heading >= 1 - MAX_MISSING.yes;
  return isWhole ? 'Yes' : null;
}

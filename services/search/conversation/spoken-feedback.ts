/** Feedback on the previous answer in a message. */
interface SpokenFeedback {
  /** 1 to 5; null for thanks without a rating. */
  readonly rating: number | null;
  /** Whether the message contains nothing else. */
  readonly isAll: boolean;
}

/** Maximum characters of a clause that is feedback. */
const MAX_CLAUSE_LENGTH = 80;

const PRAISED =
  '(?:right|correct|true|perfect|great|helpful|spot on|exactly right|what i (?:needed|wanted|was looking for|meant))';
const FAULTED =
  '(?:wrong|incorrect|false|untrue|nonsense|not (?:right|correct|true|it|helpful|what i (?:asked|meant|wanted)(?: for)?))';
const ADVERB = '(?:really |just |simply |completely |totally |absolutely |exactly |plainly |all )?';
const ANSWER = '(?:that(?: answer)?|this(?: answer)?|it|your (?:last )?answer|the (?:last )?answer)';
const IS = "(?:'s|’s| is| was)";
const THANKS = '(?:thanks|thank you|thx|cheers)(?: (?:a lot|so much|very much|again))?';
const YES = '(?:yes|yeah|yep|ok|okay|great|perfect|good|exactly|indeed)';
const NO = '(?:no|nope|nah|sorry|hm+|but|sorry but|no sorry)';

const whole = (pattern: string) => new RegExp(`^${pattern}$`, 'u');

/** Patterns of whole clauses: the same words inside another sentence are no feedback. */
const GOOD: readonly RegExp[] = [
  whole(`(?:${YES} |${THANKS} )*${ANSWER}${IS} ${ADVERB}${PRAISED}(?: ${THANKS})?`),
  whole(`${ANSWER} (?:helped|helps|worked|works)(?: me)?(?: a lot)?(?: ${THANKS})?`),
  whole(`(?:${YES} )?${THANKS} ${ADVERB}(?:correct|right|perfect|great|exactly)`),
  whole(
    `(?:${YES} )*(?:correct|exactly|perfect|well done|spot on|(?:great|good|perfect|excellent) answer)(?: ${THANKS})?`,
  ),
];
const BAD: readonly RegExp[] = [
  whole(`(?:${NO} )*${ANSWER}${IS} ${ADVERB}${FAULTED}`),
  whole(
    `(?:${NO} )*${ANSWER} (?:isn't|isn’t|wasn't|wasn’t) ${ADVERB}(?:right|correct|true|it|helpful|what i (?:asked|meant|wanted)(?: for)?)`,
  ),
  whole(`(?:${NO} )+(?:wrong|incorrect|not (?:right|correct|true))`),
  whole(`(?:wrong|incorrect|bad|poor|useless)(?: answer)?`),
  whole(`(?:${NO} )*you(?:'re|’re| are) ${ADVERB}(?:wrong|mistaken)`),
  whole(
    `(?:${NO} )*${ANSWER} (?:did not|didn't|didn’t|does not|doesn't|doesn’t) (?:help|answer (?:my|the) question)(?: me)?(?: at all)?`,
  ),
];
const COURTESY = whole(`(?:${YES} )*${THANKS}`);

/**
 * Detects feedback on the previous answer by rules, without a model; null when there is none. Only leading clauses count,
 * each must be feedback as a whole, and they must not contradict each other. A question is never feedback.
 */
export function spokenFeedback(message: string): SpokenFeedback | null {
  const text = message.slice(0, 4000).trim();
  const ratings: number[] = [];
  let isThanked = false;
  let rest = text;
  while (rest !== '') {
    const clause = /^[^.!?;\n—]*[.!?;\n—]*\s*/u.exec(rest)?.[0] ?? rest;
    const rating = ratingOf(clause);
    if (rating === undefined) break;
    if (rating === null) isThanked = true;
    else ratings.push(rating);
    rest = rest.slice(clause.length);
  }
  if (ratings.length === 0) return isThanked && rest === '' ? { rating: null, isAll: true } : null;
  if (new Set(ratings).size > 1) return null;
  return { rating: ratings[0] ?? null, isAll: rest === '' };
}

/** Returns the rating; null for thanks, undefined for anything else. */
function ratingOf(clause: string): number | null | undefined {
  if (clause.includes('?') || clause.length > MAX_CLAUSE_LENGTH) return undefined;
  const plain = clause
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}'’]+/gu, ' ')
    .trim();
  if (GOOD.some((pattern) => pattern.test(plain))) return 5;
  if (BAD.some((pattern) => pattern.test(plain))) return 1;
  return COURTESY.test(plain) ? null : undefined;
}

import { isCommonWord } from '../language/common-words.ts';
import { dates } from '../language/dates.ts';
import { ownStatement } from '../language/own-statements.ts';
import { attributeForm, attributeName, ENDS, PATTERNS, type Pattern, SET_ANEW } from './predicates.ts';
import type { Statement } from './statement.ts';
import { isPlace, readValue } from './statement-value.ts';

/** The statement of a sentence, before its document is known. */
export type ReadStatement = Pick<
  Statement,
  'subject' | 'predicate' | 'value' | 'valueText' | 'isDated' | 'isChange' | 'isEnd'
> & {
  /** ISO; null when the sentence has no time. */
  readonly asOf: string | null;
  readonly since: string | null;
};

const MAX_LENGTH = 240;
/** A plain statement has no more; the patterns cost with the words. */
const MAX_WORDS = 28;
/** Most sentences hold none of these and are looked at no further. */
const CUE =
  / (?:works?|working|employed|lives?|living|resides|moved|relocated|based|headquartered|headquarters|located|situated|kept|stored|study|studies|studying|prefers?|married|years|costs|due|version|is|am|became|become|changed|risen|increased|dropped|fallen|decreased|gone|updated|raised|lowered|reduced|set|postponed|extended|rescheduled|switched) /u;
/** Words of sentences that are denied, supposed, wanted, quoted, about others or the past, compared, rounded, or multiple. */
const UNSTATED =
  /\b(?:not|never|no|none|nor|neither|without|hardly|barely|if|unless|whether|would|could|should|might|may|must|can|cannot|will|shall|suppose\w*|imagine\w*|assum\w+|hypothetically|hypothetical|example|instance|perhaps|maybe|probably|possibly|likely|apparently|allegedly|reportedly|supposedly|rumou?r\w*|claim\w*|says?|said|thinks?|thought|believes?|believed|told|tells|asked|heard|according|wants?|wanted|hopes?|hoped|plans?|(?<!from )planned (?:to|on|for)|intends?|wish\w*|dreams?|dreamt|pretends?|considering|expect\w*|promis\w+|proposed|was|were|had|been|used|formerly|former|previous|previously|once|until|till|ago|originally|initially|about|around|approximately|roughly|nearly|almost|over|under|between|least|most|than|or|but|while|although|though|because|also|both|either|each|except|only|temporarily|partly|mostly|mainly|sometimes|usually|often|wrong\w*|false\w*|mistaken\w*|fiction\w*|novel|story|movie|film|game)\b|n['’]t\b/iu;
const QUOTED = /["“”«»‹›„;?…()[\]{}<>|=]|(?:^|\s)['‘]|:\s/u;
const LEAD =
  /^(?:(?:update|correction|note|fyi|news|reminder)\s*:\s*|(?:now|today|currently|meanwhile|actually),?\s+(?=\p{Lu}|the ))/iu;
const CHANGE = /\b(?:now|currently|new|nowadays|today)\b|^(?:update|correction)\s*:/iu;
const AS_OF =
  /^(?:as of|as at|since|from|on|in) (?<date>[^,]{4,24}), |^since (?<start>(?:\p{L}+ )?\d{4}) |,? (?:as of|as at|since) (?<tail>[^,]{4,24})$/iu;
/** Told of a change, such a date is its time: `moved to Porto in March 2026`. */
const CHANGED_ON =
  /^(?:in|on|since) (?<date>(?:\p{L}+ )?(?:\d{1,2},? )?\d{4}),? (?=I |\p{Lu})|,? (?:in|on|since) (?<tail>(?:(?:\p{L}+|\d{1,2}) ){0,2}(?:\d{1,2}, )?\d{4})$/iu;
const CHANGE_VERB = /\b(?:moved|relocated|started working|(?:has|have|was|been) (?:changed|raised|lowered|set) to)\b/u;
/** The month, addresses. */
const NO_WORDS = /\bMay(?=,? \d)|(?<=\d )May\b|\S+@\S+|https?:\S+|www\.\S+/gu;
const TAIL = /,? (?:now|today|nowadays|these days|at the moment|currently|right now)$/iu;
const CHANGE_OF_VALUE = new RegExp(
  `\\b(?:has been|was) (?=(?:${SET_ANEW})\\b)|\\bno longer\\b|\\bused to be\\b`,
  'giu',
);
/** Pronouns: the sentence does not say whom they refer to. */
const NO_SUBJECT =
  /^(?:i|he|she|it|we|you|they|this|that|these|those|there|here|who|what|which|one|everyone|everybody|someone|somebody|nobody|anyone|mine|yours|his|hers|her|its|our|their|my|your|another|other|many|some|most|all|every|each|only|the)$/iu;

/**
 * Returns the statement that a sentence makes plainly about a subject with a name, in the present, of a property that has
 * one value at a time; of two clauses joined by `and` the first such. Null otherwise, and when in doubt.
 */
export function readStatement(written: string): ReadStatement | null {
  const own = ownStatement(written.trim());
  return readEnglish(own === null ? written : `${own.english}.`);
}

function readEnglish(sentence: string): ReadStatement | null {
  if (sentence.length > MAX_LENGTH || sentence.length < 10 || !CUE.test(sentence.replace(/['’]m /u, ' am ')))
    return null;
  const isUpdate = CHANGE.test(sentence);
  const bare = sentence
    .trim()
    .replace(/^(?:[-*•]|\d{1,2}[.)])\s+/u, '')
    .replaceAll('**', '')
    .replace(LEAD, '')
    .replace(/[.!]+$/u, '')
    .trim();
  if (QUOTED.test(bare) || bare.split(' ', MAX_WORDS + 1).length > MAX_WORDS || /\S{81}/u.test(bare)) return null;
  const timed = withoutTime(bare);
  if (timed === null) return null;
  const own = inThirdPerson(timed.text);
  const text = (own ?? timed.text).replace(TAIL, '');
  if (UNSTATED.test(text.replace(CHANGE_OF_VALUE, '').replaceAll(NO_WORDS, ''))) return null;
  const end = matched(text, ENDS);
  const found = end ?? matched(text, PATTERNS) ?? matchedClause(text);
  if (found === null) return null;
  // What is so since a time was not so before.
  const isChange = isUpdate || found.isChange || timed.since !== null;
  const { predicate, value, valueText } = found;
  const subject = own === null ? found.subject : SPEAKER;
  const time = { asOf: timed.asOf, since: timed.since, isDated: timed.asOf !== null };
  return { subject, predicate, value, valueText, ...time, isChange, isEnd: end !== null };
}

/** Subject of statements in the first person. */
export const SPEAKER = 'I';
const OWN_VERB =
  /^I (?<adverb>(?:now|currently|still|officially|no longer) )?(?<verb>live|reside|work|study|prefer)(?= )/u;
const OWN: readonly (readonly [RegExp, string])[] = [
  [/^My (?=\p{Ll})/u, "The user's "],
  [/^I(?:['’]m| am) /u, 'The user is '],
  [/^I(?:['’]ve| have) (?=(?:just |recently )?(?:moved|relocated|started)\b)/u, 'The user has '],
  [/^I (?=(?:just |recently )?(?:moved|relocated)\b)/u, 'The user '],
];

/** `The user lives in Rome` for `I live in Rome`; null for a sentence that is not in the first person. */
function inThirdPerson(text: string): string | null {
  const verb = OWN_VERB.exec(text)?.groups;
  if (verb !== undefined) {
    const { adverb = '', verb: word = '' } = verb;
    const form = word === 'study' ? 'studies' : `${word}s`;
    return text.replace(OWN_VERB, `The user ${adverb}${form}`);
  }
  for (const [expression, start] of OWN) if (expression.test(text)) return text.replace(expression, start);
  return null;
}

/** Removes `as of March 2024`; null when the sentence has another time. */
function withoutTime(text: string): { text: string; asOf: string | null; since: string | null } | null {
  const match = (CHANGE_VERB.test(text) ? CHANGED_ON.exec(text) : null) ?? AS_OF.exec(text);
  if (match === null) return { text, asOf: null, since: null };
  const written = match.groups?.['date'] ?? match.groups?.['start'] ?? match.groups?.['tail'] ?? '';
  const [date, ...others] = dates(written);
  const isWhole = date !== undefined && others.length === 0 && date.text.trim() === written.trim();
  // `in 2019` and `on 5 May` tell of a time that may be over; `In Berlin, …` is no time at all.
  const isChange = isWhole && CHANGE_VERB.test(text);
  if (!isWhole || (!isChange && /^(?:in|on|from) /iu.test(match[0]))) return null;
  const rest = text.slice(0, match.index) + text.slice(match.index + match[0].length);
  const isSince = /^,? ?since /iu.test(match[0]);
  const from = date.from.toISOString();
  return { text: rest, asOf: isSince ? null : from, since: isSince ? from : null };
}

type Found = Pick<ReadStatement, 'subject' | 'predicate' | 'value' | 'valueText'> & { readonly isChange: boolean };

function matched(text: string, patterns: readonly Pattern[]): Found | null {
  for (const pattern of patterns) {
    const groups = pattern.expression.exec(text)?.groups;
    if (groups === undefined) continue;
    const found = readMatch(pattern, groups);
    if (found !== null) return found;
  }
  return null;
}

const VERB =
  '(?:now |currently |still )?(?:works?|lives?|resides?|stud(?:y|ies)|loves?|likes?|enjoys?|shares?|rents?|owns?|runs?|leads?|teach(?:es)?|commutes?|plays?|goes|go|has|have|is|am|moved|started)';
/** `lives in Bergen and works at Equinor`, `lives in Bergen, where she works`. */
const CLAUSES = new RegExp(`^(?<first>.+?)(?:,? and (?<second>${VERB} .+)|, where .+)$`, 'u');
/** `Ada Berg`, before a verb. */
const ACTOR = /^(?:The user|\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2}) (?=\p{Ll})/u;
/** Other values, such as what somebody prefers, can have an `and` of their own. */
const CLAUSE_PATTERNS = PATTERNS.filter(({ predicate }) =>
  ['works_at', 'lives_in', 'based_in', 'located_in', 'studies_at'].includes(predicate ?? ''),
);

/** The first clause of two with one subject that is a statement. */
function matchedClause(text: string): Found | null {
  const { first = '', second } = CLAUSES.exec(text)?.groups ?? {};
  const found = matched(first, CLAUSE_PATTERNS);
  if (found !== null || second === undefined) return found;
  const [actor] = ACTOR.exec(first) ?? [];
  return actor === undefined ? null : matched(actor + second, CLAUSE_PATTERNS);
}

function readMatch(pattern: Pattern, groups: Readonly<Record<string, string | undefined>>): Found | null {
  const subject = (groups['subject'] ?? '').trim();
  const valueText = (groups['value'] ?? '').trim();
  const attribute = groups['attribute'] ?? groups['role'];
  const predicate = pattern.predicate ?? (attribute === undefined ? null : attributeName(attribute));
  if (predicate === null || !isNamed(subject) || / and |, and |,.*,.*,| as well as /u.test(` ${valueText} `))
    return null;
  if (pattern.knownPlace === true && !isPlace(valueText)) return null;
  const form = groups['attribute'] === undefined ? pattern.form : attributeForm(predicate);
  const value = readValue(valueText, form);
  if (value === null || hasOtherTime(valueText, value.kind)) return null;
  return { subject, predicate, value, valueText, isChange: pattern.isChange ?? false };
}

function hasOtherTime(text: string, kind: string): boolean {
  return (
    kind === 'words' && (/\b(?:in|since|from|on|during) (?:\p{L}+ )?\d{4}\b/u.test(text) || dates(text).length > 0)
  );
}

function isNamed(subject: string): boolean {
  if (/^(?:the )?user$/iu.test(subject)) return true;
  const name = subject.replace(/^[Tt]he /u, '');
  const [first = ''] = name.split(' ');
  if (NO_SUBJECT.test(first) || !/^[\p{Lu}\p{N}]/u.test(name)) return false;
  return name.includes(' ') || !isCommonWord(name.toLowerCase());
}

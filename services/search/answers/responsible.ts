import { contentWords, wordsOf } from './question.ts';
import type { PlacedStatement, ReadPassage } from './rank-sentences.ts';
import { isSaid, isSameStem } from './slots.ts';
import { statementsOf } from './statements.ts';
import { isRole } from './word-kinds.ts';

interface Responsible extends PlacedStatement {
  /** `the finance director` */
  readonly doer: string;
}

/** `Who approves …?`, `Who has to agree to …?`, `Who can give me …?` */
const ASKS_DOER =
  /^who (?:(?:has|have|needs?) to |must |can |may |could |should |will |is (?:allowed|authori[sz]ed|permitted|supposed|required) to )?(?!(?:is|are|was|were|has|have|had|do|does|did)\b)(\p{Ll}+)(?: (?:me|us|you))? (.+?)\??$/iu;
const APPROVE =
  /^(?:approve|authori[sz]e|agree|allow|permit|consent|sign|sanction|grant|okay|decide|clear|confirm)(?:s|d|es)?$/u;
const GIVE = /^(?:give|grant|provide|issue|hand|get|assign|allow)s?$/u;

/** One or more words in lower case, or names: the last one is the head. */
const ROLE =
  '((?:[Tt]he |[Aa]n? |[Oo]ur |[Yy]our |[Ee]very |[Ee]ach )?(?:[\\p{L}][\\p{L}-]* ){0,3}?[\\p{L}][\\p{L}-]*)';
const END =
  '(?=[.,;:!?]|$| \\(| (?:and|or|before|after|in|on|at|for|from|within|when|if|who|that|as|once|to|with|by)\\b)';
const APPROVED_BY = new RegExp(
  `\\b(?:approval|consent|permission|authori[sz]ation|agreement|signature|sign-off|okay) (?:of|by|from) ${ROLE}${END}`,
  'u',
);
const AGREED_WITH = new RegExp(`\\b(?:agreed|cleared|discussed|arranged) with ${ROLE}${END}`, 'u');
const DONE_BY = new RegExp(`\\b(?:is|are|be|been|get|gets|and) (\\p{Ll}+)(?: \\p{Ll}+){0,2}? by ${ROLE}${END}`, 'u');
const MAY = new RegExp(
  `^(?:Only )?${ROLE} (?:may|can|must|has to|have to|is (?:allowed|authori[sz]ed|permitted) to) (\\p{Ll}+)\\b`,
  'u',
);
const GROUP =
  /^(?:team|firm|company|service|lead|leads|head|heads|chair|desk|department|office|board|committee|council|management|staff|bureau|agency|group|resources|accounting|it|hr)$/iu;
/** Sentences with a name for the doer are left to what reads names. */
const NAMED = /\b(?:called|named) \p{Lu}/u;

/** Returns who does, approves or may do what a question asks for, by the rules that say it; null when none does. */
export function statedResponsible(question: string, passages: readonly ReadPassage[]): Responsible | null {
  const [, verb = '', rest = ''] = ASKS_DOER.exec(question.trim()) ?? [];
  const asked = contentWords(rest).filter((word) => !/^(?:off|up|out)$/u.test(word));
  if (verb === '' || asked.length === 0) return null;
  let best: { readonly found: Responsible; readonly said: number } | null = null;
  for (const passage of passages) {
    for (const statement of statementsOf(passage)) {
      const doer = doerIn(verb.toLowerCase(), statement.text);
      if (doer === null) continue;
      const words = contentWords(`${statement.text} ${statement.heading}`);
      const said = asked.filter((word) => isSaid(word, words)).length / asked.length;
      const isNumberOther = asked.some((word) => /^\d/u.test(word) && !words.includes(word));
      if (said < MIN_SAID || isNumberOther || !isSaid(asked.at(-1) ?? '', words)) continue;
      if (best === null || said > best.said) best = { found: { passage, statement, doer }, said };
    }
  }
  return best?.found ?? null;
}

/** Least share of the words that are asked about. */
const MIN_SAID = 0.6;

/**
 * Whether no sentence has the matter of which a question asks who approves it, or does it as the best one says of something else:
 * `Fume hoods are inspected by the safety engineer.` for "Who inspects the lifts?"
 */
export function isMatterUnsaid(
  question: string,
  said: readonly { readonly text: string; readonly context: string }[],
): boolean {
  const [, verb = '', rest = ''] = ASKS_DOER.exec(question.trim()) ?? [];
  const matter = contentWords(rest).at(-1);
  const [best] = said;
  if (matter === undefined || best === undefined) return false;
  if (!APPROVE.test(verb) && doerIn(verb.toLowerCase(), best.text) === null) return false;
  return said.every((one) => !isSaid(matter, contentWords(`${one.text} ${one.context}`)));
}

function doerIn(verb: string, sentence: string): string | null {
  if (NAMED.test(sentence)) return null;
  const isVerb = (word: string) => isSameStem(verb, word) || (GIVE.test(verb) && GIVE.test(word));
  if (APPROVE.test(verb)) {
    const role = APPROVED_BY.exec(sentence)?.[1] ?? AGREED_WITH.exec(sentence)?.[1];
    if (role !== undefined) return roleOf(role);
  }
  const [, done = '', by] = DONE_BY.exec(sentence) ?? [];
  if (by !== undefined && (isVerb(done) || isSaid(verb, [done]))) return roleOf(by);
  const [, may, deed = ''] = MAY.exec(sentence) ?? [];
  return may !== undefined && isVerb(deed) ? roleOf(may) : null;
}

/** Null for what is no person and no group, and for names, which are read by others. */
function roleOf(text: string): string | null {
  const head = wordsOf(text).at(-1) ?? '';
  if (/\p{Lu}[\p{L}-]*$/u.test(text)) return null;
  if (!GROUP.test(head) && !isRole(head)) return null;
  return text.replace(/^(?:The|An?|Our|Your|Every|Each) /u, (word) => word.toLowerCase());
}

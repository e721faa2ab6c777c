import { isGivenName } from '../../common/text/extraction/rules/entity-type.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { withoutStopWords } from './question.ts';
import type { Span } from './spans.ts';
import { isNoun, isPerson, isVerb, likenessToKinds } from './word-kinds.ts';

const HOLIDAY =
  /^(?:Easter|Christmas|Whitsun|Pentecost|Halloween|Thanksgiving|Ramadan|Hanukkah|Diwali|Lent)(?: (?:Day|Eve|Sunday|Monday))?$/u;
/** What stands before the name of a place. */
const LOCATED = /\b(?:in|at|near|into|to|from|on|of|via|the)\s$/iu;
/** `The key is kept at the Café Anker.` */
const AT_PLACE = /\bat (?:the )?$/iu;
/** How much liker to names of places than to those of persons and groups the name of a place is. */
const PLACE = 0.1;

/** Whether a name in a sentence can be that of a doer: no holiday, no place, no common noun at the start. */
export function canAct(sentence: string, { text: name, start }: Pick<Span, 'text' | 'start'>): boolean {
  const words = withoutStopWords(name);
  if (HOLIDAY.test(name) || words.length === 0) return false;
  const before = sentence.slice(0, start);
  const { person, place, group } = likenessToKinds(words);
  if (AT_PLACE.test(before) && !/^['’]/u.test(sentence.slice(start + name.length))) return false;
  if (LOCATED.test(before) && place - Math.max(person, group) > PLACE) return false;
  const isFirst = before.trim() === '' || /[.!?:] $/u.test(before);
  return !isFirst || words.length > 1 || !isCommonNoun(words[0] ?? '', sentence.slice(start + name.length));
}

const PLURAL_BEHIND = /^ (?:of|are|were|have|must|may|can|should|will) /u;

/** Whether a word that begins a sentence is a noun in plural or before another noun: `Tents are …`, `Altitude sickness …` */
function isCommonNoun(word: string, behind: string): boolean {
  if (isGivenName(word) || isPerson(word)) return false;
  const next = /^ (\p{Ll}+)/u.exec(behind)?.[1] ?? '';
  if (/[^s]s$/u.test(word) && PLURAL_BEHIND.test(behind)) return true;
  // `Waste solvents`: also a verb.
  if (!isNoun(word)) return isVerb(word) && /[^s]s$/u.test(next) && isNoun(next);
  return /[^s]s$/u.test(word) || (!STOP_WORDS.has(next) && isNoun(next));
}

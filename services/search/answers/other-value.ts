import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { compareValues } from '../../common/text/statements/compare-values.ts';
import { readValue } from '../../common/text/statements/statement-value.ts';
import { MONTHS } from './spans.ts';

/** Words of which one excludes the others. */
const KINDS: readonly ReadonlySet<string>[] = [
  'red orange yellow green blue purple violet pink brown black white grey gray turquoise beige silver',
  'monday tuesday wednesday thursday friday saturday sunday',
  MONTHS.toLowerCase().replaceAll('|', ' '),
  'zero one two three four five six seven eight nine ten eleven twelve',
  'single married divorced widowed engaged',
].map((words) => new Set(words.split(' ')));

/** `Is the van red?`, `Was the office in Lisbon?`; the rest of a sentence with the same verb says what it is instead. */
const QUESTION = /^(is|are|was|were|am) ([^,;]+?)\??$/iu;
const PREPOSITIONS = new Set(['in', 'on', 'at', 'from', 'to', 'by', 'for', 'with', 'of']);
const MAX_WORDS = 14;
/** `the van` is `our van` in the notes of its owner. */
const OWN_ARTICLE = /^(?:the|my|our)$/iu;

const NAME = "(?:the )?(\\p{Lu}[\\p{L}\\p{N}'’&.-]*(?: \\p{Lu}[\\p{L}\\p{N}'’&.-]*)*)";
/** `Are we insured with Alka?`, `Does Ada work at Equinor?`: what holds of one name at a time. */
const STATE = new RegExp(
  `^(?:([Ii]s|[Aa]re|[Aa]m)|[Dd]o(?:es)?) (.+?) (live|work|study|insured|employed|married|engaged|based|registered|located) (in|at|with|for|by|to) ${NAME}\\??$`,
  'u',
);

/** Whether a sentence says the same of another name: `We are insured with Tryg.` of `Are we insured with Alka?`. */
function saysOtherName(question: string, sentence: string): boolean {
  const asked = STATE.exec(question.trim());
  if (asked === null) return false;
  const [, be, subject = '', verb = '', preposition = '', name = ''] = asked;
  const form = be === undefined ? `(?:${verb}|${verb.replace(/y$/u, 'ie')}s)` : `(?:is|are|am|['’](?:s|re|m)) ${verb}`;
  const said = new RegExp(`^(.*?)\\s?${form} ${preposition} ${NAME}`, 'u').exec(sentence);
  if (said === null || sentence.includes(name)) return false;
  const [, all = '', other = ''] = said;
  // `Her brother Paul` is Paul.
  const before = all.replace(/^(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) \p{Ll}+ (?=\p{Lu})/u, '');
  const isSubject = wordsIn(subject).every(
    (word) => /^(?:the|an?)$/u.test(word) || wordsIn(before).some((one) => isSame(one, word)),
  );
  if (!isSubject || /[,;:]/u.test(before) || wordsIn(before).length > wordsIn(subject).length + 1) return false;
  return preposition !== 'in' || areOther(wordsIn(name), wordsIn(other));
}

/** Whether a sentence says that something has another value than the question supposes: `The van is blue.` of `Is the van red?`. */
export function saysOtherValue(question: string, sentence: string): boolean {
  if (saysOtherName(question, sentence)) return true;
  const asked = QUESTION.exec(question.trim());
  if (asked === null) return false;
  const [, verb = '', rest = ''] = asked;
  const said = wordsIn(sentence);
  const at = said.findIndex((word) => word.toLowerCase() === verb.toLowerCase());
  if (at < 1 || said.length > MAX_WORDS) return false;
  const supposed = wordsIn(rest);
  const end = supposed.findIndex(
    (word) => !OWN_ARTICLE.test(word) && !said.slice(0, at).some((other) => isSame(word, other)),
  );
  const subject = supposed.slice(0, Math.max(0, end));
  const own = withoutStart(supposed.slice(subject.length));
  const other = withoutStart(said.slice(at + 1));
  const head = said.slice(0, at).filter((word) => !STOP_WORDS.has(word.toLowerCase()));
  if (own.preposition !== other.preposition) return false;
  // Everything in front of the verb is what the question asks about.
  if (head.some((word) => !subject.some((one) => isSame(one, word)))) return false;
  if (subject.every((word) => STOP_WORDS.has(word.toLowerCase()))) return false;
  return areOther(own.words, other.words);
}

function isSame(one: string, other: string): boolean {
  return stemOf(one.toLowerCase()) === stemOf(other.toLowerCase());
}

function wordsIn(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+(?:['’.:-][\p{L}\p{N}]+)*/gu) ?? [];
}

function withoutStart(words: readonly string[]): { readonly preposition: string; readonly words: readonly string[] } {
  const bare = words.filter((word) => !/^(?:now|currently|still|the|a|an)$/iu.test(word));
  const first = bare[0]?.toLowerCase() ?? '';
  return PREPOSITIONS.has(first) ? { preposition: first, words: bare.slice(1) } : { preposition: '', words: bare };
}

function areOther(own: readonly string[], other: readonly string[]): boolean {
  const [word = ''] = own;
  const said = other.map((one) => one.toLowerCase());
  const kind = own.length === 1 ? KINDS.find((words) => words.has(word.toLowerCase())) : undefined;
  // One value of the kind, and no other beside it: "red and blue" is both, "a red van" is red.
  if (kind !== undefined)
    return kind.has(said[0] ?? '') && !said.includes(word.toLowerCase()) && !/^(?:and|or)$/u.test(said[1] ?? '');
  const [supposed, stated] = [own, other].map((words) => readValue(words.join(' '), 'place'));
  return supposed != null && stated != null && compareValues(supposed, stated) === 'different';
}

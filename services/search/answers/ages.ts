import { personPattern } from './person-pattern.ts';
import type { ReadPassage } from './rank-sentences.ts';
import type { Statement } from './statements.ts';
import { inOwnWords, statementsBy } from './turn-speakers.ts';

/** An age that a text tells, and where. */
interface StatedAge {
  readonly age: string;
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

const ASKS =
  /^(?:how old (?:am|is|are)|what(?: is|['’]s) the age of) (?<whose>I|my (?:\p{Ll}+ )?\p{Ll}+|the (?:twins|triplets|baby|dog|cat)|\p{L}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)?(?:['’]s \p{Ll}+)?)(?: now)?\s*\??$|^what(?: is|['’]s) (?<own>my) age\s*\??$/iu;
const ONES = 'one|two|three|four|five|six|seven|eight|nine';
const AGE = `((?:\\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:${ONES}))?|${ONES}|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)(?: (?:months?|weeks?|days?)(?= old\\b))?)`;
/** Behind an age, and not behind another number. */
const END =
  "(?!\\d)(?:['’]s)?(?! ?[%€$£:]|[.,:]\\d|-?\\p{L}| (?!years?\\b|months? old\\b|old\\b|in\\b|on\\b|and\\b|but\\b|now\\b|already\\b|today\\b|this\\b|last\\b|next\\b|since\\b|so\\b|or\\b|who\\b|which\\b|when\\b|because\\b)\\p{L}| and a half (?!years? old)| years? (?!old\\b|of age\\b))";
const IS = "(?:['’]m|['’]s|['’]re| am| is| are)";

/** Whether a question asks how old somebody is. */
export const asksAge = (question: string): boolean => ASKS.test(question.trim());

/** Returns how old passages say that somebody is; null for another question, when none says it, and when they differ. */
export function statedAge(question: string, passages: readonly ReadPassage[]): StatedAge | null {
  const { whose, own } = ASKS.exec(question.trim())?.groups ?? {};
  const asked = own === undefined ? whose : 'I';
  if (asked === undefined || /^(?:the|this|that|it|he|she|they|you|we)$/iu.test(asked)) return null;
  const name = /^I$/iu.test(asked) ? 'I' : asked;
  const [read, readOwn] = [ageReader(name), ageReader(inOwnWords(name))];
  const found = passages.flatMap((passage) =>
    statementsBy(name, passage).flatMap(({ statement, said, isSelf }) => {
      if (statement.isQuestion === true) return [];
      const age = isSelf ? readOwn(said) : read(said);
      return age === null ? [] : [{ age, passage, statement }];
    }),
  );
  const [first] = found;
  return first !== undefined && found.every(({ age }) => age === first.age) ? first : null;
}

const NAME = "\\p{Lu}[\\p{L}'’-]*";
/** `Bea and Leo are 7 and 4` */
const AGES_OF_SEVERAL = new RegExp(
  `((?:${NAME}, )*${NAME},? and ${NAME}),? are(?: now| just| already)? ((?:${AGE}, )*${AGE},? and ${AGE})${END}`,
  'u',
);
const OTHER_AGE = `(?!,? (?:and )?${AGE}(?![\\p{L}\\d]))`;
const BETWEEN = /,? and |, /u;

/** Returns the age of one of several, whose ages stand in the order of their names; null when the sentence is of another form. */
function ageOfSeveral(name: string, sentence: string): string | null {
  const [, names = '', ...found] = AGES_OF_SEVERAL.exec(sentence) ?? [];
  const at = names.split(BETWEEN).indexOf(name);
  const ages = (found[0] ?? '').split(BETWEEN);
  return at >= 0 && ages.length === names.split(BETWEEN).length ? (ages[at] ?? null) : null;
}

function ageReader(whose: string): (sentence: string) => string | null {
  const group = /^the (\p{Ll}+)$/iu.exec(whose)?.[1];
  const who =
    group === undefined
      ? personPattern(whose)
      : `(?<!\\p{L})(?:[Tt]he |[Mm]y |[Oo]ur |[Uu]ser['’]s )?(?:${group}|${group.charAt(0).toUpperCase()}${group.slice(1)})`;
  const names = "(?:,? \\p{Lu}[\\p{L}'’-]*(?:,? and \\p{Lu}[\\p{L}'’-]*)?,?)?";
  const back = whose === 'I' ? '' : `(?:,? who|,? (?:and )?(?:he|she|they))?`;
  const patterns = [
    `${who}${names}${back}${IS}(?: now| just| already| only| almost)? ${AGE}${OTHER_AGE}${END}`,
    `${who}${names}${back}(?: has| have|['’]ve|['’]s)?(?: just| already)? turn(?:s|ed|ing)? ${AGE}${END}`,
    ...(whose === 'I' ? [] : [`${who}(?:, (?:aged |who is )?| \\(|, age )${AGE}(?=[,).]|$| and )`]),
  ].map((pattern) => new RegExp(pattern, 'u'));
  return (sentence) =>
    ageOfSeveral(whose, sentence) ??
    patterns.map((pattern) => pattern.exec(sentence)?.[1]).find((age) => age !== undefined) ??
    null;
}

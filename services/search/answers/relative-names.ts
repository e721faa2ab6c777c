import { contentWords } from './question.ts';
import { type ReadPassage, refersBack } from './rank-sentences.ts';
import { relativesLike } from './relatives.ts';
import { type Statement, statementsOf } from './statements.ts';

/** Where a text says how the relative of somebody is called. */
interface NamedRelative {
  readonly name: string;
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

const NAME = "(\\p{Lu}[\\p{L}'’-]*(?: \\p{Lu}[\\p{L}'’-]*)*)";
const SELF = '(?:[Mm]y|[Oo]ur)';
const SPOUSE = /^(?:husband|wife|spouse)$/u;
/** Sentences that a pronoun refers back over. */
const MAX_BACK = 2;

/**
 * Returns how a relative of somebody is called: Tobias for the husband of Nadia in `Nadia is married to Tobias.`, `Tobias,
 * Nadia's husband` or, in her own message, `my husband Tobias`; null when no passage says so. `owner`: a name, or `my`.
 */
export function nameOfRelative(
  owner: string,
  relative: string,
  passages: readonly ReadPassage[],
): NamedRelative | null {
  const read = readerOf(owner, relative);
  for (const passage of passages) {
    const all = statementsOf(passage);
    for (const [at, statement] of all.entries()) {
      const name = read(statement, subjectBefore(all, at));
      if (name !== null) return { name, passage, statement };
    }
  }
  return null;
}

const PARTNERS = 'partner|boyfriend|girlfriend|husband|wife|spouse|fiancé|fiancée|fiance'.split('|');
const PERSONS =
  /^(?:friend|neighbou?r|boss|manager|colleague|coworker|flatmate|roommate|housemate|landlord|landlady|cousin|ex|kid|child|stepfather|stepmother|stepson|stepdaughter)$/u;

/** Returns the words by which a text may call whom a question calls by a relation to somebody, that word first; none for no person. */
export function calledLike(word: string): readonly string[] {
  if (PARTNERS.includes(word)) {
    const others = /^(?:partner|spouse)$/u.test(word) ? PARTNERS : ['partner', 'spouse'];
    return [...new Set([word, ...others])];
  }
  const like = relativesLike(word);
  return like.length > 0 || PERSONS.test(word) ? [word, ...like] : [];
}

/** What a sentence refers back to. */
function subjectBefore(all: readonly Statement[], at: number): string {
  let first = at;
  const isOfBefore = (one: Statement) => refersBack(one) || /^Married\b/u.test(one.text);
  while (first > 0 && at - first < MAX_BACK && isOfBefore(all[first] as Statement)) first -= 1;
  return all
    .slice(first, at)
    .map(({ text }) => text)
    .join(' ');
}

function readerOf(owner: string, relative: string): (statement: Statement, before: string) => string | null {
  const known = calledLike(relative);
  const words = (known.length === 0 ? [relative] : known).join('|');
  const called = `(?:${words})(?:,? | (?:is|was) )(?:(?:called|named) )?${NAME}`;
  const reader = (whose: string) => {
    const patterns = [
      new RegExp(`(?<!\\p{L})${whose} (?:\\p{Ll}+ )?${called}`, 'u'),
      new RegExp(`${NAME}(?:, | is | was | \\()${whose} (?:\\p{Ll}+ )?(?:${words})(?!\\p{L})`, 'u'),
    ];
    return (text: string) => patterns.map((pattern) => pattern.exec(text)?.[1]).find(Boolean) ?? null;
  };
  const bySelf = reader(SELF);
  if (/^(?:my|our)$/iu.test(owner)) return ({ text }) => clean(bySelf(text));
  const owned = RegExp.escape(owner);
  const byName = reader(`${owned}(?: \\p{Lu}[\\p{L}-]+)?['’]s?`);
  const byPronoun = reader('(?:[Hh]is|[Hh]er|[Tt]heir)');
  const named = new RegExp(`(?<!\\p{L})${owned}(?!\\p{L})`, 'u');
  const married = new RegExp(`\\b[Mm]arried(?: to)? ${NAME}|${NAME} is married to ${owned}(?!\\p{L})`, 'u');
  return ({ text, label }, before) => {
    const said = clean(byName(text));
    if (said !== null) return said;
    const isOfSpeaker = text.startsWith(`${owner}:`) || label === owner || label.startsWith(`${owner} `);
    if (isOfSpeaker) return clean(bySelf(text));
    if (!named.test(`${before} ${text}`) || contentWords(text).length === 0) return null;
    const spouse = SPOUSE.test(relative) ? married.exec(text)?.slice(1).find(Boolean) : undefined;
    return clean(spouse === undefined || spouse.startsWith(owner) ? byPronoun(text) : spouse);
  };
}

const clean = (name: string | null) => name?.replace(/['’]s$/u, '') ?? null;

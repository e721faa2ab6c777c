import { roleOf } from '../../common/text/language/turns.ts';
import { type WorkAsked, type WorkSaid, workAsked, workInReply, workReader } from './profession.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { calledLike } from './relative-names.ts';
import type { Statement } from './statements.ts';
import { inOwnWords, isAsker, spokenStatements, statementsBy } from './turn-speakers.ts';

/** What a text says of somebody's work, and where. */
interface StatedWork extends WorkSaid {
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

/** Passages that may say it. */
const PASSAGES = 10;
const MARRIED = /\b(?:married|marries|wed)\b/iu;

/**
 * Returns what the passages say of the work that a question asks for; `unsaid` when only other speakers of a conversation say
 * theirs, or none names the relative whose work it is; null for another question, and when it is not said in a known form or
 * several things are said.
 */
export function statedWork(question: string, passages: readonly ReadPassage[]): StatedWork | 'unsaid' | null {
  const asked = workAsked(question);
  if (asked === null) return null;
  const read = passages.slice(0, PASSAGES);
  if (isUnknownRelative(asked, read)) return 'unsaid';
  const readers = { read: workReader(asked), readOwn: workReader({ ...asked, whose: inOwnWords(asked.whose) }) };
  const all = read.flatMap((passage) => workIn(asked, readers, passage));
  const rank = Math.min(...all.map((one) => one.rank));
  const found = all.filter((one) => one.rank === rank);
  // `nurse` and `paediatric nurse` are one.
  const first = found.toSorted((a, b) => b.said.length - a.said.length)[0];
  if (first === undefined) {
    const isOfOthers = asked.whose === 'I' && read.some((passage) => sayOthers(readers.read, passage));
    return isOfOthers && !read.some(isOfAsker) ? 'unsaid' : null;
  }
  // `a newspaper` does not say which newspaper.
  if (asked.kind !== undefined && new RegExp(`^(?:an?|the|my|our) ${asked.kind}$`, 'iu').test(first.said))
    return 'unsaid';
  return found.every(({ said }) => first.said.endsWith(said)) ? first : null;
}

type Read = ReturnType<typeof workReader>;

/** Reads each statement as its speaker says it: `I` is who asks, or the one whom the question names. */
function workIn(
  asked: WorkAsked,
  { read, readOwn }: { readonly read: Read; readonly readOwn: Read },
  passage: ReadPassage,
): readonly StatedWork[] {
  const isReplied = asked.of === 'profession' && inOwnWords(asked.whose) === 'I' && !asked.isPast;
  return statementsBy(asked.whose, passage).flatMap(({ statement, said, isSelf }) => {
    const isReply = isReplied && isSelf && statement.asked !== undefined;
    const work = (isSelf ? readOwn(said) : read(said)) ?? (isReply ? workInReply(statement.asked, said) : null);
    return work === null ? [] : [{ ...work, passage, statement }];
  });
}

const isOfAsker = (passage: ReadPassage): boolean =>
  spokenStatements(passage).some(({ speaker, said }) => isAsker(speaker) && /\b(?:I|my)\b/u.test(said));

function sayOthers(read: Read, passage: ReadPassage): boolean {
  return spokenStatements(passage).some(
    ({ speaker, said }) => speaker !== null && roleOf(speaker) === null && read(said) !== null,
  );
}

const ASKS_RELATIVE =
  /^(?:what|who) (?:is|was) (?<whose>(?:my|our|\p{Lu}[\p{L}'’-]*?(?: \p{Lu}[\p{L}'’-]*?)?['’]s) (?:\p{Ll}+ )??\p{Ll}+?)(?:['’]s (?:first )?name| called| named)?\s*\??$/iu;

/** Whether a question asks how a relative is called (`What is my wife called?`), and no passage has a word for such a one. */
export function isRelativeUnsaid(question: string, passages: readonly ReadPassage[]): boolean {
  const whose = ASKS_RELATIVE.exec(question.trim())?.groups?.['whose'];
  return whose !== undefined && isUnknownRelative({ whose }, passages);
}

const CHILD = 'child|children|kids?|twins|triplets|bab(?:y|ies)';
const BY_AGE = 'youngest|eldest|oldest|firstborn|little one';
/** Words that may call such a relative among others. */
const AMONG: Readonly<Record<string, string>> = {
  daughter: `${CHILD}|girls?|${BY_AGE}`,
  son: `${CHILD}|boys?|${BY_AGE}`,
  brother: 'siblings?|twin',
  sister: 'siblings?|twin',
  mother: 'parents?|mommy|mummy',
  father: 'parents?|daddy|pa|old man',
  grandmother: 'grandparents?|oma|nana?|nonna|abuela|mamie',
  grandfather: 'grandparents?|opa|grandad|gramps|nonno|abuelo|papi',
  uncle: 'brothers?',
  aunt: 'sisters?',
  wife: 'better half|other half|missus|bride',
  husband: 'better half|other half|hubby|groom',
};

/** Whether a question is of somebody's relative, and no passage has a word for such a one. */
function isUnknownRelative({ whose }: Pick<WorkAsked, 'whose'>, passages: readonly ReadPassage[]): boolean {
  const [, owner = '', relative] = /^(my|our|.+?['’]s) (?:\p{Ll}+ )?(\p{Ll}+)$/iu.exec(whose) ?? [];
  const words = relative === undefined ? [] : calledLike(relative.toLowerCase());
  // A boss is called by many words.
  if (words.length < 2) return false;
  const among = words.flatMap((word) => AMONG[word] ?? []);
  const called = new RegExp(`(?<!\\p{L})(?:${[...words, ...among].join('|')})s?(?!\\p{L})`, 'iu');
  const [name = ''] = /^(?:my|our)$/iu.test(owner) ? [] : owner.split(/[ '’]/u);
  return passages.every(({ payload: { text } }) => !text.includes(name) || (!called.test(text) && !MARRIED.test(text)));
}

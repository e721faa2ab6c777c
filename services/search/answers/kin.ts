import { OF_SELF, personPattern } from './person-pattern.ts';
import { wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { MONTHS, NUMERALS } from './spans.ts';
import type { Statement } from './statements.ts';
import { inOwnWords, statementsBy } from './turn-speakers.ts';
import { isPerson } from './word-kinds.ts';

interface KinAsked {
  /** `my wife`, `Ana`, `I`. */
  readonly whose: string;
  /** Words for one of them or several, as a pattern. */
  readonly words: string;
  readonly isCount: boolean;
}

/** What a text says of somebody's children and the like. */
interface StatedKin {
  readonly answer: string;
  readonly told: readonly { readonly passage: ReadPassage; readonly statement: Statement }[];
}

const PET =
  'pets?|dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|hamsters?|guinea pigs?|budgies?|parrots?|tortoises?|horses?|ponys?|ponies|hens?|chickens?|goldfish';
/** Words that ask for several, with those that call one of them. */
const GROUPS: readonly (readonly [asked: RegExp, words: string])[] = [
  [
    /^(?:child(?:ren)?|kids?)$/u,
    'children|child|kids?|sons?|daughters?|twins|triplets|boys|girls|stepsons?|stepdaughters?',
  ],
  [/^(?:sons|boys)$/u, 'sons|son|boys'],
  [/^(?:daughters|girls)$/u, 'daughters|daughter|girls'],
  [/^(?:siblings|brothers and sisters)$/u, 'siblings?|brothers?|sisters?'],
  [/^pets?$/u, PET],
  [/^twins$/u, 'twins'],
  [/^grandchildren$/u, 'grandchildren|grandchild|grandsons?|granddaughters?'],
  ...'brothers sisters cats dogs nieces nephews cousins flatmates roommates housemates horses rabbits'
    .split(' ')
    .map((word) => [new RegExp(`^${word}$`, 'u'), `${word}|${word.slice(0, -1)}`] as const),
];
const GROUP = '(children|kids|pet|child|kid|siblings|brothers and sisters|pets|twins|grandchildren|\\p{Ll}+s)';
const WHOSE = "(my|our|\\p{Lu}[\\p{L}'’-]*?(?: \\p{Lu}[\\p{L}'’-]*?)?['’]s?)";
const ASKS_NAMES = [
  new RegExp(
    `^[Ww]hat (?:is|are|['’]re) ${WHOSE} (?:\\p{Ll}+ )?${GROUP}(?:(?: called| named)|['’]s? (?:first )?names?)\\??$`,
    'u',
  ),
  new RegExp(`^(?:[Ww]hat are )?[Tt]?h?e? ?names of ${WHOSE} ${GROUP}\\??$`, 'u'),
  new RegExp(`^[Ww]ho are ${WHOSE} ${GROUP}\\??$`, 'u'),
];
const ASKS_COUNT =
  /^[Hh]ow many (children|kids|siblings|brothers and sisters|pets|grandchildren|\p{Ll}+s) (?:do|does) (I|we|my (?:\p{Ll}+ )?\p{Ll}+|\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)?(?:['’]s \p{Ll}+)?) have\??$/u;

/** Whose children, siblings or pets a question asks for; null for another question. */
export function kinAsked(question: string): KinAsked | null {
  const text = question.trim();
  const [, group = '', holder = ''] = ASKS_COUNT.exec(text) ?? [];
  const found = ASKS_NAMES.map((form) => form.exec(text)).find((one) => one !== null);
  const [owner, asked] = group === '' ? [found?.[1] ?? '', found?.[2] ?? ''] : [holder, group];
  const words = GROUPS.find(([form]) => form.test(asked))?.[1];
  if (words === undefined) return null;
  const whose = owner.replace(/['’]s?$/u, '');
  return { whose: /^(?:I|we|my|our)$/u.test(whose) ? 'I' : whose, words, isCount: group !== '' };
}

const NAME = `(?!(?:${MONTHS})\\b)\\p{Lu}[\\p{L}'’-]*\\p{L}`;
const NAMES = `${NAME}(?: ?\\([^)]{1,12}\\)|, \\d{1,2},?)?(?:(?:, and |, | and | & )${NAME}(?: ?\\([^)]{1,12}\\))?)*`;
const NO_VERB =
  '(?!(?:is|are|was|were|has|have|had|and|or|of|with|who|whose|own|owns|got|gets|adopted|like|likes|loves?|hates?|saw|met|feeds?|walks?)\\b)';
const OTHERS = /(?:\b(?:[Hh]is|[Hh]er|[Tt]heir|[Yy]our)|['’]s) (?:\p{Ll}+ )?$/u;
/** `…, my aunt has four cats` */
const HELD_BY_OTHER = /(?<!\b(?:[Tt]he user|User)) has [^,;.]{0,40}$/u;
const OF_USER = /(?:[Uu]ser)['’]s (?:\p{Ll}+ )?$/u;

interface Mention {
  readonly number: number | null;
  readonly written: string;
  readonly names: readonly string[];
  /** One of them by its word, and not the group: `a son`. */
  readonly isOne: boolean;
  readonly isGroup: boolean;
}

const GROUP_WORD = /^(?:children|kids|siblings|pets|grandchildren)$/iu;

const VALUES = new Map(
  'one two three four five six seven eight nine ten'.split(' ').map((word, at) => [word, at + 1] as const),
);

function numberOf(word: string): number | null {
  const lower = word.toLowerCase();
  if (/^\d+$/u.test(lower)) return Number(lower);
  if (/^an?$/u.test(lower)) return 1;
  return lower === 'both' ? 2 : (VALUES.get(lower) ?? null);
}

/** Returns what reads the relatives of somebody from a sentence that says they are that one's. */
function mentionsIn({ whose, words }: KinAsked): (sentence: string) => readonly Mention[] {
  const who = personPattern(whose);
  const owner = whose === 'I' ? OF_SELF : `${who}['’]s?`;
  const have = whose === 'I' ? `(?:(?<!\\p{L})[Ww]e|${who})` : who;
  const capital = words.replace(/(^|\|)(\p{Ll})/gu, (_, bar: string, letter: string) => bar + letter.toUpperCase());
  // `Twins, Milo and Etta`, as a reply of the one who has them.
  const alone = whose === 'I' ? `|^(?:(?:${NUMERALS}|\\d|[Aa]n?) )?(?:\\p{L}+ )?(?:${words}|${capital})(?!\\p{L})` : '';
  const isOwned = new RegExp(
    `${owner} (?<kind>(?:${NO_VERB}[\\p{Ll}\\d-]+ ){0,3})(?:${words})(?!\\p{L})|${have}(?:['’]ve got| (?:have|has|adopted|own|owns|got)(?: got)?)(?:(?!\\b(?:who|whose|which|with|of)\\b)[^.;]){0,60}? (?:${words})(?!\\p{L})${alone}`,
    'u',
  );
  const one = new RegExp(
    `(?<!\\p{L})(?<number>(?:${NUMERALS}|\\d{1,2}|an?|both|my|our) )?(?:(?!(?:and|or|with|of|his|her|their|your|my|our|has|have|had|an?|both|${NUMERALS})\\b)[\\p{Ll}-]+ ){0,2}?(?<!\\p{L})(?<word>${words}|${capital})(?!\\p{L})(?:(?:,|:)? (?:(?:(?:is|are) )?(?:called|named) |(?:is|are) )?(?<names>${NAMES}))?`,
    'gu',
  );
  return (sentence) => {
    const owned = isOwned.exec(sentence);
    // `My sister has two kids` are hers.
    if (owned === null || wordsOf(owned.groups?.['kind'] ?? '').some(isPerson)) return [];
    return [...sentence.matchAll(one)].flatMap(({ groups = {}, index }) => {
      const before = sentence.slice(0, index);
      const isOfOther = (OTHERS.test(before) && !OF_USER.test(before)) || HELD_BY_OTHER.test(`${before} `);
      if (whose === 'I' && isOfOther) return [];
      const names = [...(groups['names'] ?? '').matchAll(new RegExp(NAME, 'gu'))].map(([name]) =>
        name.replace(/['’]s$/u, ''),
      );
      const written = (groups['number'] ?? '').trim();
      const word = groups['word'] ?? '';
      const isOne = !/s$|children/iu.test(word);
      const number = written === '' ? (/^twins$/iu.test(word) ? 2 : null) : numberOf(written);
      return [{ number, written, names, isOne, isGroup: GROUP_WORD.test(word) }];
    });
  };
}

/** Returns the names or the number of somebody's children and the like, with all sentences that tell it; null for another question. */
export function statedKin(question: string, passages: readonly ReadPassage[]): StatedKin | null {
  const asked = kinAsked(question);
  if (asked === null) return null;
  const [read, readOwn] = [mentionsIn(asked), mentionsIn({ ...asked, whose: inOwnWords(asked.whose) })];
  const all = passages.flatMap((passage) =>
    statementsBy(asked.whose, passage).flatMap(({ statement, said, isSelf }) => {
      const isAsked = statement.isQuestion === true && !/^(?:My|Our) /u.test(said);
      const mentions = isAsked ? [] : isSelf ? readOwn(said) : read(said);
      return mentions.length === 0 ? [] : [{ mentions, told: { passage, statement } }];
    }),
  );
  const names = [...new Set(all.flatMap(({ mentions }) => mentions.flatMap((one) => one.names)))];
  if (!asked.isCount) {
    const told = all.filter(({ mentions }) => mentions.some((one) => one.names.length > 0)).map((one) => one.told);
    return names.length === 0 ? null : { answer: joined(names), told };
  }
  // What one sentence counts is surer than the names in several.
  const counted = all
    .map((one) => ({ ...one, count: countIn(one.mentions) }))
    .toSorted((a, b) => (b.count ?? 0) - (a.count ?? 0))[0];
  if (counted === undefined) return null;
  const count = Math.max(counted.count ?? 0, names.length);
  if (count === 0) return null;
  const { mentions } = counted;
  const number = mentions.find(({ isGroup }) => isGroup) ?? (mentions.length === 1 ? mentions[0] : undefined);
  const isWritten = number?.number === count && !/^(?:an?|my|our)?$/iu.test(number.written);
  const told = count > (counted.count ?? 0) ? all.map((one) => one.told) : [counted.told];
  return { answer: isWritten ? number.written : String(count), told };
}

const joined = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** How many a sentence tells of: the number of the group, or the sum of `two sons and a daughter`. */
function countIn(mentions: readonly Mention[]): number | null {
  const group = mentions.find(({ isGroup, number }) => isGroup && number !== null);
  if (group !== undefined) return group.number;
  const numbers = mentions.map(({ number, names, isOne }) => Math.max(number ?? 0, names.length, isOne ? 1 : 0));
  const sum = numbers.reduce((total, one) => total + one, 0);
  return sum === 0 ? null : sum;
}

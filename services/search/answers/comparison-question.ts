import { dates } from '../../common/text/language/dates.ts';
import { type Comparative, measuresOf } from './measures.ts';
import { wordsOf } from './question.ts';

/** A question that two things decide. */
export type ComparisonQuestion = { readonly sides: readonly [string, string] } & (
  | {
      /** Which of the two has the most or the least of a measure; `than`: whether it is the first. */
      readonly kind: 'choice' | 'than';
      /** What it may be measured by, likeliest first. */
      readonly measures: readonly Comparative[];
    }
  /** Which of the two is something, and the other one is not. */
  | { readonly kind: 'which'; readonly said: string }
  /** Whether both are something. */
  | { readonly kind: 'both'; readonly said: string }
  /** Whether a noun has the same value of both. */
  | { readonly kind: 'same'; readonly noun: string; readonly said: string }
);

const SIDE = '(?:either )?(.{2,80}?)';
const COMPARING = '(?:first|last|earlier|later|sooner|\\p{L}+(?:er|est)|(?:more|less|fewer)(?: \\p{Ll}+){1,2})';
/** `Which is cheaper, A or B?` and the ways in which people turn it around: predicate and sides. */
const CHOICES: readonly (readonly [RegExp, order: string])[] = [
  [
    new RegExp(
      `^(?:which|who|whose|what)(?: of (?:the|these|my|our) (?:two|both)(?: \\p{Ll}+)?)? (.+?)(?:,|:| -| –) ?${SIDE},? or (.{2,80})$`,
      'u',
    ),
    'pab',
  ],
  [new RegExp(`^(?:which|who|whose|what) (.+? ${COMPARING}) ${SIDE},? or (.{2,80})$`, 'u'), 'pab'],
  [
    new RegExp(`^(?:which|who|whose|what)(?: one)? (.+?) (?:between|of|out of) ${SIDE} (?:and|or) (.{2,80})$`, 'u'),
    'pab',
  ],
  [
    new RegExp(`^(?:between|of|out of) ${SIDE} (?:and|or) (.{2,80}?),? (?:which|who|whose|what)(?: one)? (.+)$`, 'u'),
    'abp',
  ],
  [
    new RegExp(`^(?:which|who)(?: one)? (?:of|between|out of) ${SIDE} (?:and|or) (\\S+(?: \\p{Lu}\\S*)*) (.+)$`, 'u'),
    'abp',
  ],
  [new RegExp(`^${SIDE} or (.{2,80}?)(?:,|:| -| –) ?(?:which|who|whose|what)(?: one)? (.+)$`, 'u'), 'abp'],
];
/** `Is the Bosch or the Miele cheaper?`, `Did I visit Oslo or Bergen first?` */
const CLOSED_CHOICE = new RegExp(
  `^(?:is|are|was|were|does|do|did|has|have|will) (.+?) or (.+?) ((?:(?:born|founded|formed|built|made|have|has|cost|weigh|take|last|due|published|released|opened) )?${COMPARING})$`,
  'u',
);
const THAN =
  /^(is|are|was|were|does|do|did|has|have|am) (.+?) ((?:(?:born|founded|formed|established|have|has|had|cost|weigh|take|last|built|released|published|opened|made|make|live|due) )*(?:\p{L}+er|first|earlier|later|(?:\p{Ll}+ )?(?:more|less|fewer))(?: \p{Ll}[\p{L}-]*){0,3}?) than (.+)$/u;
const ORDER = /^(?:is|are|was|were|does|do|did|has|have|had) (.+?) (before|after) (.{2,80})$/u;
const BOTH_AHEAD =
  /^(?:is|are|was|were|do|did|does|have|has|can) (?:both )?(.{2,80}?) and (.{2,80}?) (?:both|all) (.+)$/u;
const BOTH_BEFORE = /^(?:is|are|was|were|do|did|have|can) both (\p{Ll}+), (.{2,80}?) and (.{2,80}?), (.+)$/u;
const BOTH_FIRST =
  /^(?:is|are|was|were|do|did|have|can) both ((?:the )?\p{Lu}.{1,80}?) and ((?:the )?(?:[\p{Lu}"'“‘]\S*)(?: [\p{Lu}]\S*)*) (.+)$/u;
const SAME =
  /^(?:is|are|was|were|do|did|does|have|has) (?:both )?(.{2,80}?) (?:and|or) ((?:(?:the|my|our) )?\S+(?: \S+){0,8}?)((?: \p{Ll}+){0,7} (?:the same|of the same|one)) (\p{Ll}+)(.*)$/u;
const SAME_AS =
  /^(?:is|are|was|were|do|did|does|have|has) ((?:(?:the|my|our) )?\S+(?: \S+){0,6}?)((?: \p{Ll}+){0,4} the same) (\p{Ll}+) as (.{2,80})$/u;
/** Asks for advice. */
const NO_CHOICE = /\b(?:rather|whether|prefer|better|best|should)\b/iu;

/** Reads a question that compares two things; null for another one. */
export function comparisonQuestion(question: string): ComparisonQuestion | null {
  const text = question
    .trim()
    .replace(/\s+/gu, ' ')
    .replace(/(?<![?.!\s])[?.!\s]+$/u, '')
    .replace(/^(Who|What|Which)['’]s (?=\p{Ll})/u, '$1 is ')
    .replace(FIRST_WORD, (word) => word.toLowerCase());
  if (text.length > MAX_LENGTH || !JOINED.test(text) || NO_CHOICE.test(text)) return null;
  return sameOf(text) ?? bothOf(text) ?? choiceOf(text) ?? thanOf(text) ?? orderOf(text);
}

/** A word that no name begins with; in lower case it is told from names. */
const FIRST_WORD =
  /^(?:Which|Whose|Who|What|Between|Of|Out|Is|Are|Am|Was|Were|Do|Does|Did|Has|Have|Had|Can|Will)(?= )/u;
const MAX_LENGTH = 300;
const JOINED = / (?:or|and|than|before|after|as) /iu;

function choiceOf(text: string): ComparisonQuestion | null {
  for (const [pattern, order] of CHOICES) {
    const [, one = '', two = '', three = ''] = pattern.exec(text) ?? [];
    if (one === '') continue;
    const [predicate, sides] = order === 'pab' ? [one, [two, three] as const] : [three, [one, two] as const];
    const measures = measuresOf(predicate);
    if (measures.length > 0) return { kind: 'choice', sides: clean(sides), measures };
    const isNamed = sides.every((side) => /^(?:the |my |our )?["“'‘]?[\p{Lu}\d]/u.test(side));
    // Without a comma `A and B` may be any two words.
    if (isNamed && text.includes(' or ')) return { kind: 'which', sides: clean(sides), said: predicate };
  }
  const [, first = '', second = '', predicate = ''] = CLOSED_CHOICE.exec(text) ?? [];
  const measures = predicate === '' ? [] : measuresOf(`${first.split(' ')[1] ?? ''} ${predicate}`);
  return measures.length === 0 ? null : { kind: 'choice', sides: clean([lastName(first), second]), measures };
}

function thanOf(text: string): ComparisonQuestion | null {
  const [, comparative = '', first = '', second = ''] = THAN_IN.exec(text) ?? [];
  if (comparative !== '') {
    const measures = measuresOf(comparative);
    return measures.length === 0 ? null : { kind: 'than', sides: clean([first, second]), measures };
  }
  const [, , one = '', predicate = '', other = ''] = THAN.exec(text) ?? [];
  const [verb = ''] = LASTING_VERB.exec(one) ?? [];
  const measures = one === '' ? [] : measuresOf(`${verb} ${predicate}`);
  return measures.length === 0 ? null : { kind: 'than', sides: clean([subjectOf(one), other]), measures };
}

const LASTING_VERB = /\b(?:known|lived|worked|been|had|owned|used)\b/u;
/** `Was I faster in Valencia than in Berlin?` */
const THAN_IN =
  /^(?:is|are|am|was|were|do|does|did|has|have) (?:\S+ ){1,4}?(\p{L}+er|more \p{Ll}+|less \p{Ll}+|longer) (?:in|at|for|on|with|to|from) (.{2,80}) than (?:in|at|for|on|with|to|from) (.{2,80})$/u;

function orderOf(text: string): ComparisonQuestion | null {
  const [, one = '', word = '', other = ''] = ORDER.exec(text) ?? [];
  // `before 2020` and `before lunch` set a time.
  if (one === '' || dates(other).length > 0 || !isThing(other)) return null;
  const pick = word.toLowerCase() === 'before' ? 'least' : 'most';
  const measure = measuresOf(`${one} first`)[0]?.measure;
  if (measure === undefined) return null;
  const isDeed = /^(?:I|we) /u.test(other);
  const side = isDeed ? one : lastName(one);
  const own = new Set(wordsOf(side));
  const verbs = measure.kind === 'time' && !isDeed ? measure.verbs.filter((verb) => !own.has(verb)) : [];
  const read = measure.kind === 'time' ? ({ kind: 'time', verbs } as const) : measure;
  return { kind: 'than', sides: clean([side, other]), measures: [{ measure: read, pick }] };
}

/** A name, a number, a thing of its own, or what I did. */
const isThing = (text: string) =>
  /^(?:(?:the|my|our|a) )?["“'‘]?[\p{Lu}\d]|^(?:I|we) \p{Ll}+|^(?:the|my|our) \p{Ll}/u.test(text);

function bothOf(text: string): ComparisonQuestion | null {
  const [, noun = '', one = '', other = '', rest = ''] = BOTH_BEFORE.exec(text) ?? [];
  if (one !== '') return { kind: 'both', sides: clean([one, other]), said: `${noun} ${rest}` };
  const [, first = '', second = '', said = ''] = BOTH_AHEAD.exec(text) ?? BOTH_FIRST.exec(text) ?? [];
  return said === '' ? null : { kind: 'both', sides: clean([first, second]), said };
}

function sameOf(text: string): ComparisonQuestion | null {
  const [, one = '', other = '', before = '', noun = '', after = ''] = SAME.exec(text) ?? [];
  if (one !== '' && !/^ (?:as|time)\b/u.test(after))
    return { kind: 'same', sides: clean([one, other]), noun, said: `${before}${after}` };
  const [, subject = '', said = '', named = '', second = ''] = SAME_AS.exec(text) ?? [];
  return subject === '' ? null : { kind: 'same', sides: clean([subject, second]), noun: named, said };
}

const clean = ([one, other]: readonly [string, string]): readonly [string, string] => [
  cleanSide(one),
  cleanSide(other),
];

const cleanSide = (side: string) =>
  side
    .trim()
    .replace(/^(?:either|both|in|from|to) /iu, '')
    .replace(/[,;:\s]+$/u, '')
    .trim();

/** `Oslo` of `I visit Oslo`, `Petrolab` of `Petrolab founded`; the words themselves without a name. */
function lastName(words: string): string {
  const found = [
    ...words.matchAll(
      /(?:(?:the|my|our|The|My|Our) )?["“'‘]?(?<![\p{L}\p{N}])(?!I\b)[\p{Lu}\d][\p{L}\p{N}'’"”.&-]*(?: (?:(?:of|the|and|de|von|van|la) )*[\p{Lu}\d][\p{L}\p{N}'’"”.&-]*)*/gu,
    ),
  ];
  return found.at(-1)?.[0] ?? words;
}

/** The thing before a comparative: `Petrolab` of `Petrolab`, `Bergen` of `I in Bergen`. */
const subjectOf = (words: string) => (/^(?:I|we|you) /u.test(words) ? lastName(words) : words);

/** A side as an answer begins with it. */
export const named = (side: string): string => `${side.charAt(0).toUpperCase()}${side.slice(1)}`;

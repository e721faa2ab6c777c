import { recentlyUsed } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { AUXILIARIES, isNewTo, type Question, unmistaken, wordsOf } from './question.ts';
import { relativesLike } from './relatives.ts';
import { isNumbered, isSameStem } from './slots.ts';
import { CALENDAR_NAMES, spansOf } from './spans.ts';
import { statedBySense } from './stated-parts.ts';

/** Features of a sentence: whether the verb, the subject and the object of a question are those of the sentence; 0 unknown. */
interface Agreement {
  /** Whether somebody does what the verb says: 1; -1 for `It was stolen.` and `Nobody stole it.` */
  readonly agent: number;
  /** Whether something new stands behind the verb: 1; -1 for `He died in 1999.` and "What did he die of?" */
  readonly object: number;
  /** How far the sentence alone states the verb, 0 to 1. */
  readonly deed: number;
  /** Whether the sentence says the opposite: `bought` for `sell`. */
  readonly opposite: number;
  /** Whether the sentence is in the first person, as the question is: 1; -1 about another person. */
  readonly self: number;
  /** Whether the sentence or what stands before it has the subject of the verb: 1 or -1. */
  readonly subject: number;
  /** Whether the sentence has a new name, when things of the kind that is asked for have names: 1 or -1. */
  readonly properName: number;
  /** Whether the sentence says `first` where the question says `second`. */
  readonly orderClash: number;
  /** Whether a question about the future meets a sentence about the past. */
  readonly tenseClash: number;
  /** Number of words that the question does not have, of six. */
  readonly newWords: number;
}

const AUXILIARY = new RegExp(`^(?:${AUXILIARIES}|am|may|might|shall)$`, 'u');
const MODAL = /^(?:has|have|had|will|would|can|could|may|should)$/u;
const ADVERB = /^(?:\p{L}+ly|ever|first|last|now|still|also|once|usually|always|never|already|just|not)$/u;
const DETERMINER = /^(?:the|an?|my|our|your|his|her|their|its|this|that|these|those|mr|mrs|ms|dr)$/u;
const PRONOUN = /^(?:i|we|you|he|she|they|it)$/u;
const INDEFINITE = /^(?:somebody|someone|nobody|anybody|anyone|thieves|thief|burglars?|they|it|one|which|that)$/u;
const SELF = /\b(?:I|we|We|me|us|[Mm]y|[Oo]ur|mine|ours)\b/u;
const OTHER_PERSON = /^(?:He|She|They)\b/u;
const FUTURE_ASKED = /\b(?:will|next|going to|shall)\b/iu;
const FUTURE_SAID = /\b(?:will|next|going to|shall|plans?|wants?|hopes?|from|until|is|are|has|have|every|due)\b/iu;
const PAST = /\b(?:was|were|did|had|\p{L}{2,}ed)\b/u;
const ORDINALS = 'first second third fourth fifth sixth last previous next'.split(' ');
const TIME_WORD = new RegExp(
  `^(?:\\d+|${CALENDAR_NAMES}|spring|summer|autumn|winter|morning|evening|night|(?:day|week|month|year|hour|minute)s?|today|yesterday|tomorrow|again|once|twice|ago|first|last|next)$`,
  'iu',
);

/** Kinds of things that are told apart by names of their own. */
export const NAMED_KINDS: ReadonlySet<string> = new Set(
  (
    'agency airline airport app application artist author band bank beach book brand brewery camera campsite capital castle cathedral choir church cinema city clinic club college company ' +
    'composer conference contractor cooperative country database district employer framework factory festival film firm foundation hospital hostel hotel insurer island journal lake league library ' +
    'magazine make maker manufacturer ministry model newsletter mountain movie museum newspaper novel opera orchestra organisation organization party podcast port product programme ' +
    'project provider province pub publisher region restaurant river road router school ship shop singer song station store street studio supermarket supplier surname ' +
    'team theatre theater title tool town union university valley vendor village'
  ).split(' '),
);

/** Forms of verbs, and on the other side those of the opposite. */
const OPPOSITES = Map.groupBy(
  [
    'buy buys bought buying purchase purchased|sell sells sold selling sale',
    'begin begins began begun start starts started|end ends ended stop stops stopped finish finishes finished over',
    'win wins won winning|lose loses lost losing loss',
    'open opens opened opening|close closes closed closing',
    'born birth|die dies died death dead',
    'arrive arrives arrived arrival|leave leaves left departure departed',
    'marry married wedding|divorce divorced separated',
    'join joins joined start starts started|leave leaves left quit quits',
    'find finds found finding|lose loses lost losing stolen',
    'lend lends lent|borrow borrows borrowed',
    'hire hires hired employ employed|fire fires fired dismissed dismiss',
    'break breaks broke broken|repair repairs repaired fix fixed fixes mended mend',
    'teach teaches taught teaching|learn learns learned learnt learning',
    'like likes liked love loves loved|hate hates hated dislike dislikes disliked',
    'raise raised rise rises rose increase increased|lower lowered fall fell decrease decreased cut',
    'design designs designed|build builds built made',
    'give gives gave given|take takes took taken receive received got get gets',
  ].flatMap((line) => {
    const [one = [], other = []] = line.split('|').map((side) => side.split(' '));
    return [...one.map((word) => ({ word, others: other })), ...other.map((word) => ({ word, others: one }))];
  }),
  ({ word }) => word,
);
/** Pairs of which one side tells the other with its subject and object exchanged. */
const CONVERSE = /^(?:buy|bought|sell|sold|lend|lent|borrow|teach|taught|learn|g[ai]ve|tak|took|receiv|g[eo]t)/u;
/** Forms that are other words more often. */
const OTHER_WORDS = new Set(
  'over fall cut made loss losing sale dead death birth closing opening lower building'.split(' '),
);
/** Minimum share of a verb that a word states. */
const MIN_STATED = 0.45;

/** Reads a question once; returns what reads sentences. `context`: what stands above and before the sentence. */
export function agreementWith(question: Question): (sentence: string, context: string) => Agreement {
  const { text, type, focus } = question;
  const deed = deedOf(text);
  const words = wordsOf(text);
  const isNew = isNewTo(text);
  const isNewThing = ({ lower }: Token) => isNew(lower) && !TIME_WORD.test(lower);
  const opposites = words.flatMap((word) => (OPPOSITES.get(word) ?? []).flatMap(({ others }) => others));
  const ordinals = ORDINALS.filter((word) => words.includes(word));
  const subject = deed?.subject?.filter((word) => !STOP_WORDS.has(word)) ?? [];
  const hasName = focus !== null && NAMED_KINDS.has(focus);
  const selfOf = (sentence: string, isOfName: boolean) => {
    if (SELF.test(sentence)) return 1;
    return isOfName || OTHER_PERSON.test(sentence) ? -1 : -0.3;
  };
  return (sentence, context) => {
    const said = tokensOf(sentence);
    const shares = deed === null ? [] : said.map(({ lower }) => saysVerb(deed.verb, lower));
    const most = Math.max(0, ...shares);
    const at = most >= MIN_STATED ? shares.indexOf(most) : -1;
    const forms = new Set(said.map(({ lower }) => lower));
    const stems = new Set([...forms, ...wordsOf(context)].map(stemOf));
    const names = spansOf(sentence, ['name', 'title']).filter((span) => wordsOf(span.text).some(isNew));
    const isObjectAsked = deed !== null && deed.subject !== null && type === 'thing' && at >= 0;
    return {
      agent: deed?.subject === null && type === 'person' && at >= 0 ? agentAt(said, at, isNewThing) : 0,
      object: isObjectAsked ? sign(said.slice(at + 1).some(isNewThing)) : 0,
      deed: deed === null ? 1 : most,
      opposite: Number(most < 1 && opposites.some((word) => forms.has(word))),
      self: SELF.test(text)
        ? selfOf(
            sentence,
            names.some(({ start }) => start < 4),
          )
        : 0,
      subject: subject.length === 0 ? 0 : sign(subject.every((word) => stems.has(stemOf(word)))),
      properName: hasName ? sign(names.length > 0 || isNumbered(question, `${context} ${sentence}`)) : 0,
      orderClash: Number(
        ordinals.length > 0 && ordinals.every((word) => !forms.has(word)) && ORDINALS.some((word) => forms.has(word)),
      ),
      tenseClash: Number(FUTURE_ASKED.test(text) && !FUTURE_SAID.test(sentence) && PAST.test(sentence)),
      newWords: Math.min(1, said.filter(isNewThing).length / 6),
    };
  };
}

/**
 * Reads a question once; returns what tells how a sentence speaks of the opposite of its verb, and not of the verb itself.
 * `said`: it has the verb. `opposite`: it answers something else, such as when we bought what "When did we sell it?" asks.
 * `converse`: the place of a verb that tells the same from the other side; who is asked for stands behind it (`Marta borrowed
 * it from Jonas.` for "Who lent it?").
 */
export function oppositeOf({
  text,
  type,
}: Question): (sentence: string) => 'said' | 'opposite' | { readonly converse: number } | null {
  const deed = type === 'yes-no' ? null : deedOf(text);
  const opposites = (OPPOSITES.get(deed?.verb ?? '') ?? []).flatMap(({ others }) => others);
  const forms = new Set(opposites.filter((word) => !OTHER_WORDS.has(word)));
  if (deed === null || forms.size === 0) return () => null;
  const isSelf = (word: string) => word === 'i' || word === 'we';
  return (sentence) => {
    const said = tokensOf(sentence);
    const at = said.findIndex(({ lower }) => forms.has(lower));
    if (said.some(({ lower }) => saysVerb(deed.verb, lower) >= MIN_STATED)) return 'said';
    if (at < 0) return null;
    const verb = said[at]?.lower ?? '';
    if (!CONVERSE.test(verb)) return 'opposite';
    if (deed.subject === null) return { converse: sentence.toLowerCase().indexOf(verb) };
    const before = said.slice(Math.max(0, at - REACH), at).map(({ lower }) => lower);
    const isSubject = deed.subject.some((word) => before.some((one) => one === word || (isSelf(one) && isSelf(word))));
    return isSubject ? 'opposite' : null;
  };
}

const ASKS_FOR_OBJECT = /^what (?:did|does|do|has|have|had)\b/iu;
/** Minimum share of a verb that one of its forms states. */
const MIN_FORM = 0.8;
/** What stands right behind a verb, up to a preposition or the end of its clause. */
const OBJECT =
  /^ ((?:(?:the|an?|my|our|his|her|their|its|this|that|some) )?(?:(?:piece|slice|cup|bottle|glass|pair|box|bag|bunch|set|copy) of )?(?:[\p{L}\p{N}'’-]+ ){0,3}?[\p{L}\p{N}'’-]+)(?= (?:for|in|on|at|to|from|with|of|about|by|into|and|when|while|that|which|who|because|as|during|after|before|near|through|last|this)\b|[.,;:!?)]|$)/u;

/**
 * Returns what a sentence says that somebody did to: `the first algorithm` of `She wrote the first algorithm for it.` for
 * "What did Ada write?"; null without.
 */
export function objectIn(
  question: Question,
  sentence: string,
): { readonly text: string; readonly start: number } | null {
  const deed = ASKS_FOR_OBJECT.test(question.text) && question.type === 'thing' ? deedOf(question.text) : null;
  if (
    deed === null ||
    deed.subject === null ||
    /\b(?:for|in|on|at|to|from|with|of|about|by|into)\?*$/u.test(question.text)
  )
    return null;
  for (const { 0: word, index } of sentence.matchAll(/(?<!\b(?:is|are|was|were|been|be) )(?<![\p{L}\p{N}])\p{L}+/gu)) {
    if (saysVerb(deed.verb, word.toLowerCase()) < MIN_FORM) continue;
    const end = index + word.length;
    const text = OBJECT.exec(sentence.slice(end))?.[1];
    const isNew = isNewTo(question.text);
    const isNewThing = (one: string) => isNew(one) && !TIME_WORD.test(one);
    return text !== undefined && wordsOf(text).some(isNewThing) && /^\p{L}/u.test(text) && !PREPOSITION.test(text)
      ? { text, start: end + 1 }
      : null;
  }
  return null;
}

/** Verbs with the words for what they make. */
const WORKS: readonly (readonly [RegExp, string])[] = [
  [/^(?:wr[io]te[sd]?|written|author)/u, 'novel|book|novella|works?|play|poem|story|essay|memoir|song'],
  [/^(?:s[aiu]ngs?|records?|recorded|performs?|performed|made|released)$/u, 'song|single|album|EP|track|record'],
  [/^(?:direct|mak|made)/u, 'film|movie|documentary'],
  [/^compose/u, 'opera|symphony|sonata|concerto|composition|works?|piece|song'],
  [/^paint/u, 'painting|portrait|mural|fresco'],
];
/** `produced`, `owned and operated`, `directed and co-produced`: up to the doer. */
const DONE_BY =
  /^(?:,? (?:and |& )?(?:\p{Ll}+-)?\p{Ll}+(?:ed|en)){0,2} (?:mainly |jointly |solely |in \d{4} )?by (?:the )?/u;
/** Maximum characters between `by` and the name of who did it: `by one of its stars, Michael Douglas`. */
const DOER_REACH = 45;

/**
 * Returns the name of who did what a question asks, behind `by`: Ada Reid of `directed by Tom Hall and produced by Ada Reid`
 * for "Who produced it?", and of `a novel by the Scottish writer Ada Reid` for "Who wrote it?"; null without.
 */
export function doerIn(question: Question, sentence: string): { readonly text: string; readonly start: number } | null {
  const deed = question.type === 'person' ? deedOf(question.text) : null;
  if (deed === null || deed.subject !== null) return null;
  const works = WORKS.find(([verb]) => verb.test(deed.verb))?.[1];
  const ends = [...sentence.matchAll(/(?<![\p{L}\p{N}])\p{L}+/gu)]
    .filter(([word]) => saysVerb(deed.verb, word.toLowerCase()) >= MIN_FORM)
    .map(({ 0: word, index }) => index + word.length);
  const made = works === undefined ? null : new RegExp(`\\b(?:${works})(?= by )`, 'u').exec(sentence);
  if (made !== null) ends.push(made.index + made[0].length);
  for (const end of ends) {
    const by = DONE_BY.exec(sentence.slice(end));
    const name = by === null ? null : nameBehind(sentence, end + by[0].length, question);
    if (name !== null) return name;
  }
  return null;
}

/** Returns the name of a doer behind a place, without what tells of it before: `the American band` of `the American band Korn`. */
function nameBehind(sentence: string, from: number, { text }: Question) {
  const names = spansOf(sentence, ['name'])
    .filter(({ start }) => start >= from)
    .sort((one, other) => one.start - other.start);
  const isBeside = (gap: string) => {
    const words = gap.trim().split(' ');
    return /^ (?:\p{Ll}[\p{L}-]* )+$/u.test(gap) && words.length <= 3 && words.every((word) => !STOP_WORDS.has(word));
  };
  const gapTo = (at: number) => {
    const [name, next] = [names[at], names[at + 1]];
    return name === undefined || next === undefined ? '' : sentence.slice(name.start + name.text.length, next.start);
  };
  let at = 0;
  while (isBeside(gapTo(at))) at += 1;
  const [first, found] = [names[0], names[at]];
  if (first === undefined || found === undefined) return null;
  const before = sentence.slice(from, first.start);
  // `by consensus of the House` names no doer, `by one of its stars, Michael Douglas` does.
  if (/[.;(]|\bby\b/u.test(before) || (/\bof\b/u.test(before) && !before.endsWith(', '))) return null;
  // `by a stove fitter from Brno`
  const role = /^(?:an? )?((?:\p{Ll}[\p{L}-]* ){1,3}(?:from|in|at) )$/u.exec(before)?.[1];
  if (role !== undefined && found === first) return { text: role + first.text, start: first.start - role.length };
  const isNew = wordsOf(found.text).some(isNewTo(text));
  return isNew && first.start - from <= DOER_REACH ? { text: found.text, start: found.start } : null;
}

const PREPOSITION = /^(?:for|in|on|at|to|from|with|of|about|by|into|and|that|how|when|as|up|out|off|down|away|back)\b/u;

const sign = (condition: boolean) => (condition ? 1 : -1);

interface Deed {
  readonly verb: string;
  /** Words of its subject; null when the subject is asked for. */
  readonly subject: readonly string[] | null;
}

/** Reads which verb a question is about, and its subject; null when it has none, such as `Who is the owner?` */
function deedOf(text: string): Deed | null {
  const words = tokensOf(text);
  const lower = words.map((word) => word.lower);
  const senses = wordSenses();
  const verbShare = (word: string) => (STOP_WORDS.has(word) ? 0 : senses.partsOf(senses.row(word)).verb);
  const [opening = ''] = lower;
  const auxiliary = lower.findIndex((word) => AUXILIARY.test(word));
  if (/^(?:who|what|which)$/u.test(opening) && auxiliary !== 1) {
    const isPerson = opening === 'who';
    const near = lower.slice(isPerson ? 1 : 2, isPerson ? 4 : 5);
    const verb = near.find((word) => verbShare(word) > (isPerson ? 0.1 : 0.5));
    if (verb !== undefined && !(auxiliary > 0 && lower.indexOf(verb) > auxiliary)) return { verb, subject: null };
  }
  if (auxiliary < 0) return null;
  const rest = lower.slice(auxiliary + 1);
  if (opening === 'who' && auxiliary === 1) {
    if (/^(?:is|are|was|were)$/u.test(lower[1] ?? '')) return null;
    const verb = MODAL.test(lower[1] ?? '') ? rest.find((word) => !ADVERB.test(word)) : undefined;
    if (verb !== undefined && !PRONOUN.test(verb)) return { verb, subject: null };
  }
  if (PRONOUN.test(rest[0] ?? '')) {
    const verb = rest.slice(1).find((word) => !ADVERB.test(word));
    return verb === undefined || STOP_WORDS.has(verb) ? null : { verb, subject: rest.slice(0, 1) };
  }
  const from = auxiliary + (DETERMINER.test(rest[0] ?? '') ? 2 : 1);
  let [best, most] = [-1, 0.2];
  for (const [at, { word, lower: form }] of words.entries()) {
    // `Ada's purchase` is no verb.
    const isOwned = /['’]s?$/u.test(words[at - 1]?.word ?? '');
    const share = at > from && /^\p{Ll}/u.test(word) && !isOwned ? verbShare(form) : 0;
    if (share > most) [best, most] = [at, share];
  }
  return best < 0 ? null : { verb: lower[best] ?? '', subject: lower.slice(from, best) };
}

/** How far a word says a verb: 1 a form of it, less a synonym. */
function saysVerb(verb: string, word: string): number {
  if (isSameStem(verb, word)) return 1;
  return statedBySense(verb, wordSenses().row(verb), wordSenses().row(word));
}

const DOER = /^who(?: is|['’]s| was| are| were) the (\p{Ll}{3,})[eo]rs? of\b/iu;

/** The verb of who does it: `found` of "Who is the founder of Norvik?"; null when another question names none. */
function deedOfDoer({ text, type }: Question): string | null {
  const root = type === 'person' ? DOER.exec(text.trim())?.[1]?.toLowerCase() : undefined;
  if (root === undefined) return null;
  const senses = wordSenses();
  return [root, `${root}e`].find((verb) => senses.partsOf(senses.row(verb)).verb > MIN_VERB) ?? null;
}

/** Minimum share of a root that is used as a verb: `found` of `founder`, not `broth` of `brother`. */
const MIN_VERB = 0.5;

/**
 * Whether a sentence that has the verb of a question leaves open who does it: `It was stolen.`, `Nobody wants to take it over.`
 * for "Who took it?"
 */
export function isAgentUnsaid(question: Question, sentence: string): boolean {
  const deed = question.type === 'person' ? deedOf(question.text) : null;
  const verb = deed?.subject === null ? deed.verb : deedOfDoer(question);
  if (verb === null) return false;
  const said = tokensOf(sentence);
  const at = said.findIndex(({ lower }) => saysVerb(verb, lower) >= SAME_VERB);
  if (at < 0) return false;
  const isNew = isNewTo(question.text);
  const isOther = ({ lower }: Token) => isNew(lower) && !TIME_WORD.test(lower);
  const behind = said.slice(at + 1);
  const by = behind.findIndex(({ lower }) => /^(?:by|with|from)$/u.test(lower));
  if (by >= 0 && behind.slice(by + 1, by + 4).some(isOther)) return false;
  const before = said.slice(0, at);
  // A noun: `a present of my colleagues`, `a speech therapist`.
  if (before.slice(-2).some(({ lower }) => DETERMINER.test(lower))) return false;
  const subject = before.slice(-REACH);
  const isParticiple =
    PARTICIPLE.test(said[at]?.lower ?? '') && before.slice(-3).every(({ lower }) => !/^(?:has|have|had)$/u.test(lower));
  if (isPassiveAt(said, at) || isParticiple) return true;
  if (subject.some(({ lower }) => /^(?:somebody|someone|nobody|anybody|anyone)$/u.test(lower))) return true;
  return /\b(?:me|us)\b/u.test(question.text) && /^(?:i|we)$/u.test(before.at(-1)?.lower ?? '');
}

/** Whether a sentence says of its author what a question asks of somebody with a name: `I studied in Bonn.` of Jane. */
export function isOfAuthor({ text }: Question, sentence: string): boolean {
  if (SELF.test(text)) return false;
  const { subject } = deedOf(text) ?? {};
  const [name, ...more] = subject ?? [];
  const isName = (word: string) => tokensOf(text).some((one) => one.lower === word && /^\p{Lu}/u.test(one.word));
  // `Ada's purchase` is not Ada.
  if (name === undefined || more.length > 1 || ![name, ...more].every((word) => isName(word) || ADVERB.test(word)))
    return false;
  return (
    /^(?:(?:\p{L}+ ){0,3}, )?(?:I|We|My|Our)\b/u.test(sentence) &&
    !tokensOf(sentence).some(({ lower }) => lower === name || relativesLike(name).includes(lower))
  );
}

/** Forms that say what was done to something, unless `has` stands before them. */
const PARTICIPLE = /^(?:written|stolen|taken|given|broken|driven|chosen|drawn|thrown|eaten|shown|sung|torn|worn)$/u;

/** Minimum share of a verb that another one says when it stands for it. */
const SAME_VERB = 0.8;

/** Number of words before a verb in which its subject stands. */
const REACH = 6;

/** Whether a sentence names who does what its verb at a place says: 1, or -1 when it does not. */
function agentAt(said: readonly Token[], at: number, isNew: (token: Token) => boolean): number {
  if (said.slice(at + 1, at + 4).some(({ lower }) => lower === 'by')) return 1;
  const before = said.slice(Math.max(0, at - REACH), at);
  const has = (pattern: RegExp) => before.some(({ lower }) => pattern.test(lower));
  if (isPassiveAt(said, at) || has(INDEFINITE)) return -1;
  if (before.some((token) => isNew(token) && /^\p{Lu}/u.test(token.word))) return 1;
  if (has(/^(?:i|we)$/u)) return -1;
  if (before.some(isNew)) return 0.6;
  return has(/^(?:he|she|who)$/u) ? 0.5 : -0.5;
}

/** `was stolen`, `has been eaten` */
const isPassiveAt = (said: readonly Token[], at: number) =>
  /(?:ed|en|t|n|ld|ne)$/u.test(said[at]?.lower ?? '') &&
  said.slice(Math.max(0, at - 3), at).some(({ lower }) => /^(?:is|are|was|were|been|being|be|got)$/u.test(lower));

interface Token {
  readonly word: string;
  readonly lower: string;
}

const CACHED_TEXTS = 500;
const known = new Map<string, readonly Token[]>();

function tokensOf(text: string): readonly Token[] {
  return recentlyUsed(known, CACHED_TEXTS, text, () =>
    [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].map(([word]) => ({
      word,
      lower: unmistaken(word.toLowerCase().replace(/['’]s$/u, '')),
    })),
  );
}

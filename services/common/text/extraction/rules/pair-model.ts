import type { Argument } from './clause-levels.ts';
import { COUNTRIES, DEMONYMS, FAITHS } from './gazetteer.ts';
import { UNCERTAIN } from './relation-phrase.ts';
import { indexOfGreatest, readSlotModel, type SlotFeatures, type SlotModel } from './slot-model.ts';
import type { TaggedWord } from './tagger.ts';
import { RELATION_WEIGHTS } from './weights/relations.ts';

/** Two names of one sentence that may be related. */
export interface NamePair {
  readonly left: Argument;
  readonly right: Argument;
  readonly features: () => SlotFeatures;
}

interface LearnedRelation {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
}

/** Class of pairs that are not related. */
export const UNRELATED = 'none';
/** Class of pairs whose relation has no name here. */
export const UNNAMED = 'unnamed';
export const PAIR_SLOTS = 8;
/** Relations below this probability are left out. */
const MIN_PROBABILITY = 0.31;
/** The same for where a thing of unknown kind is: in `Left Tbilisi with Giorgi` nobody lies in Tbilisi. */
const MIN_PROBABILITY_OF_WHERE = 0.5;
/** Sentences with more names are lists, and words further apart belong to other clauses. */
const MAX_NAMES = 16;
const MAX_GAP = 24;
const UNSTATED = new RegExp(
  `^(?:${UNCERTAIN}|if|unless|whether|lest|than|like|wanted|hoped|planned|refused|failed)$`,
  'iu',
);

/** Conditions of a relation beside its probability: types of its ends, and a word of the sentence that speaks of it. */
interface Condition {
  readonly from: RegExp;
  readonly to: RegExp;
  readonly words: RegExp;
}

const THING = /^(?:Work|Product|Concept)$/;
const BODY = /^(?:Organisation|Concept)$/;
/** The relations that are kept; others are too rare in the training data to be learned. */
export const CONDITIONS: ReadonlyMap<string, Condition> = new Map([
  ['located_in', { from: /^(?:Place|Organisation|Concept)$/, to: /^Place$/, words: /./u }],
  ['nationality', { from: /^(?:Person|Organisation|Work)$/, to: /^Place$/, words: /./u }],
  ['born_in', { from: /^Person$/, to: /^Place$/, words: /\b(?:born|birth|native|grew|raised)\b/iu }],
  ['died_in', { from: /^Person$/, to: /^Place$/, words: /\b(?:died|death|dies|killed|buried|murdered)\b/iu }],
  ['born', { from: /^Person$/, to: /^Date$/, words: /\b(?:born|birth|b\.)|\(/iu }],
  ['died', { from: /^Person$/, to: /^Date$/, words: /\b(?:died|death|dies|killed)\b|\(/iu }],
  [
    'studied_at',
    { from: /^Person$/, to: /^Organisation$/, words: /stud|educat|attend|graduat|degree|school|college|enrol/iu },
  ],
  ['plays_for', { from: /^Person$/, to: BODY, words: /play|sign|join|team|club|coach|draft|debut/iu }],
  [
    'member_of',
    {
      from: /^(?:Person|Organisation|Place)$/,
      to: BODY,
      words: /member|join|band|group|part|belong|club|league|elect|represent/iu,
    },
  ],
  ['wrote', { from: /^Person$/, to: THING, words: /writ|wrote|compos|author|novel|poem|book/iu }],
  ['directed', { from: /^Person$/, to: THING, words: /direct/iu }],
  [
    'performed',
    {
      from: /^(?:Person|Organisation|Concept)$/,
      to: THING,
      words: /perform|record|album|song|single|sang|sung|star|releas|track/iu,
    },
  ],
  ['released_by', { from: THING, to: BODY, words: /releas|publish|label|produc|develop/iu }],
  [
    'published',
    {
      from: THING,
      to: /^Date$/,
      words: /releas|publish|issu|premier|broadcast|aired|album|film|novel|book|song|single|game|series/iu,
    },
  ],
  [
    'takes_part_in',
    {
      from: /^(?:Person|Organisation|Place)$/,
      to: /^Concept$/,
      words: /particip|compet|fought|battle|war\b|play|season|champion|olympic|cup\b|won\b|medal/iu,
    },
  ],
]);

/** Pairs of names with at most `MAX_GAP` words between them and nothing that denies or supposes. `subject` is what the text is about. */
export function pairsOf(words: readonly TaggedWord[], parts: readonly Argument[], subject: string | null): NamePair[] {
  if (parts.length < 2 || parts.length > MAX_NAMES) return [];
  const visible = words.filter(({ pos }) => pos !== 'SPACE');
  if (visible.some(({ text }) => text === '?') || !visible.some(({ pos }) => pos === 'VERB' || pos === 'AUX'))
    return [];
  // Index of the first word behind each name, and of the word after the last in front of it.
  const behind = parts.map(({ end }) => firstIndex(visible, (word) => word.start >= end));
  const before = parts.map(({ start }) => firstIndex(visible, (word) => word.end > start));
  const unstated = visible.map(({ text }) => UNSTATED.test(text));
  return parts.flatMap((left, at) =>
    parts.slice(at + 1).flatMap((right, distance): NamePair[] => {
      const [from = 0, until = 0] = [behind[at], before[at + 1 + distance]];
      if (until - from > MAX_GAP || left.name === right.name || right.start < left.end) return [];
      if (!mayBeRelated(left, right) || unstated.slice(from, until).includes(true)) return [];
      const pair = { left, right, at, distance, subject };
      return [{ left, right, features: () => pairFeatures(visible, { ...pair, between: visible.slice(from, until) }) }];
    }),
  );
}

function firstIndex(words: readonly TaggedWord[], test: (word: TaggedWord) => boolean): number {
  const found = words.findIndex(test);
  return found === -1 ? words.length : found;
}

interface Pair {
  readonly left: Argument;
  readonly right: Argument;
  readonly between: readonly TaggedWord[];
  /** Index of the left name in the sentence. */
  readonly at: number;
  /** Names between the two. */
  readonly distance: number;
  readonly subject: string | null;
}

function pairFeatures(words: readonly TaggedWord[], pair: Pair): SlotFeatures {
  const { left, right, between, at, distance, subject } = pair;
  const types = `${typeIn(left)} ${typeIn(right)}`;
  const texts = between.map(({ text }) => text.toLowerCase());
  const before = words.filter(({ end }) => end <= left.start).slice(-2);
  const after = words.filter(({ start }) => start >= right.end).slice(0, 2);
  const verbs = between.filter(({ pos }) => pos === 'VERB' || pos === 'NOUN').map(({ lemma }) => lemma.toLowerCase());
  const length = texts.length < 4 ? texts.length : texts.length < 8 ? 4 : texts.length < 14 ? 5 : 6;
  const marks = texts
    .filter((text) => /^[,()]$|^(?:and|in|of|by|from|the)$/u.test(text))
    .slice(0, 6)
    .join(' ');
  const flags = [
    `types=${types}`,
    `types=${types} at=${Math.min(at, 2)}`,
    `types=${types} distance=${Math.min(distance, 3)}`,
    `length=${length}`,
    `types=${types} length=${length}`,
    `types=${types} marks=${marks}`,
    `types=${types} last=${texts.at(-1)}`,
    `types=${types} first=${texts[0]}`,
    `gap=${texts.length < 5 ? texts.join(' ') : ''}`,
  ];
  for (const verb of verbs) flags.push(`${types} ${verb}`);
  if (left.name === subject) flags.push('left is subject', `types=${types} left is subject`);
  if (right.name === subject) flags.push('right is subject', `types=${types} right is subject`);
  return {
    slots: [
      lastWord(left),
      lastWord(right),
      texts,
      texts.slice(0, 1),
      texts.slice(-1),
      before.map(({ text }) => text.toLowerCase()),
      after.map(({ text }) => text.toLowerCase()),
      verbs,
    ],
    flags,
  };
}

function typeIn({ name, type }: Argument): string {
  return isNation({ name }) ? 'Nation' : type;
}

function lastWord({ name }: Argument): readonly string[] {
  return [name.slice(name.lastIndexOf(' ') + 1).toLowerCase()];
}

let shared: SlotModel | undefined;

export function pairModel(): SlotModel {
  shared ??= readSlotModel(RELATION_WEIGHTS);
  return shared;
}

/** The relation that the model sees between two names of a sentence; null when it sees none or is not sure. */
export function relationOf(
  { left, right, features }: NamePair,
  sentence: string,
  { classes, probabilities }: SlotModel,
): LearnedRelation | null {
  const nation = nationality(left, right, sentence);
  const isAllowed = (condition: Condition): boolean => allows(condition, left, right) && condition.words.test(sentence);
  if (nation === null && !CONDITIONS.values().some(isAllowed)) return null;
  const found = probabilities(features());
  if (1 - (found[classes.indexOf(UNRELATED)] ?? 0) < MIN_PROBABILITY) return null;
  if (nation !== null) return nation;
  const named = found.map((probability, at) => (CONDITIONS.has((classes[at] ?? '').slice(0, -1)) ? probability : 0));
  const at = indexOfGreatest(named);
  const label = classes[at] ?? '';
  const [source, target] = label.endsWith('<') ? [right, left] : [left, right];
  const relation = label.slice(0, -1);
  const condition = CONDITIONS.get(relation);
  if (condition === undefined || !condition.from.test(source.type) || !condition.to.test(target.type)) return null;
  if (!condition.words.test(sentence)) return null;
  if (relation === 'located_in' && source.type === 'Concept' && (named[at] ?? 0) < MIN_PROBABILITY_OF_WHERE)
    return null;
  if (relation === 'located_in' && COUNTRIES.has(source.name.toLowerCase())) return null;
  if (source.type === 'Place' && target.type === 'Place' && isListed(sentence, left, right)) return null;
  if (relation === 'nationality' && !COUNTRIES.has(target.name.toLowerCase())) return null;
  // `After her return to Portugal` tells where she went.
  if (relation === 'nationality' && /\bto (?:the )?$/u.test(sentence.slice(0, target.start))) return null;
  if (relation === 'located_in' && isOnWay(sentence, target)) return null;
  return { source: source.name, target: target.name, relation };
}

/** Whether a dash joins a name to another one, as in `Hamburg – Helsinki – Tokyo`: nothing lies there. */
function isOnWay(sentence: string, { start, end }: Argument): boolean {
  const before = sentence.slice(Math.max(0, start - 4), start);
  return /^\s?[–—→]\s?\p{Lu}/u.test(sentence.slice(end, end + 4)) || /\p{L}\s?[–—→]\s?$/u.test(before);
}

/** The adjective behind them is a language. */
const OF_LANGUAGES =
  /\b(?:sp[eo]ak(?:s|ing)?|spoke|fluent|learn(?:s|ed|t|ing)?|teach(?:es|ing)?|taught|translat\w+|wr[io]te(?:s|ten)? in)\b/u;

/** `Marie Curie` and `Polish`, `Mother Teresa` and `Catholic`; null for other names. */
function nationality(left: Argument, right: Argument, sentence: string): LearnedRelation | null {
  if (isNation(left) === isNation(right)) return null;
  if (isNation(right) && OF_LANGUAGES.test(sentence.slice(left.end, right.start))) return null;
  const [holder, nation] = isNation(left) ? [right, left] : [left, right];
  const relation = FAITHS.has(nation.name.toLowerCase()) ? 'religion' : 'nationality';
  // `two Dutch hikers, who had cycled from Batumi` says nothing of Batumi.
  const isBearer = /^(?:Person|Organisation|Work)$/u.test(holder.type);
  if (holder.type === 'Date' || (!isBearer && /[,;()]/u.test(sentence.slice(left.end, right.start)))) return null;
  return { source: holder.name, target: nation.name, relation };
}

/** `from Prague to Vienna`, `the Atlantic, Pacific, and Indian oceans`: places beside each other. */
function isListed(sentence: string, left: Argument, right: Argument): boolean {
  const between = sentence.slice(left.end, right.start);
  return (
    /\b(?:and|or|to)\b/u.test(between) ||
    (/^\s*,\s*$/u.test(between) && /^,?\s*(?:and|or)\b/u.test(sentence.slice(right.end)))
  );
}

/** Whether the types allow a relation that is kept. */
function mayBeRelated(left: Argument, right: Argument): boolean {
  if (isNation(left) || isNation(right)) return true;
  return CONDITIONS.values().some((condition) => allows(condition, left, right));
}

function allows({ from, to }: Condition, left: Argument, right: Argument): boolean {
  return (from.test(left.type) && to.test(right.type)) || (from.test(right.type) && to.test(left.type));
}

function isNation({ name }: Pick<Argument, 'name'>): boolean {
  return DEMONYMS.has(name.toLowerCase());
}

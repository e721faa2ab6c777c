import type { EntityType, TypeVotes } from './entity-type.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import { readSlotModel, type SlotFeatures, type SlotModel } from './slot-model.ts';
import { ENTITY_TYPE_WEIGHTS } from './weights/entity-types.ts';

/** Words around the mentions of a name, nearest first. */
export interface NameContext {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Names beside it, with commas, brackets or `and` between. */
  readonly neighbours: readonly string[];
}

/** Evidence for the type of a name. */
export interface TypeEvidence {
  readonly name: string;
  readonly kind: string;
  readonly contexts: readonly NameContext[];
  readonly votes: TypeVotes;
  /** By the words of the name. */
  readonly form: EntityType | null;
  /** By its shape. */
  readonly guess: EntityType;
  readonly isThing: boolean;
  /** `skeleton racer` */
  readonly className: string | null;
  /** Types of the names beside it, as far as their own words tell. */
  readonly neighbours: readonly string[];
  /** Nouns of the whole text: it is about football, or music. */
  readonly topic: readonly string[];
}

/** Class of names that are no person, organisation or place. */
export const OTHER = 'other';
/** More mentions say nothing new. */
export const MAX_CONTEXTS = 8;
export const TYPE_SLOTS = 11;
const NEAR = 3;
const WIDE = 6;

/** Between two names of a list, or a place and its region. */
const LIST_GAP = /^(?:\s*['’]?s?\s*[,/&(]\s*(?:and\s+|or\s+)?(?:the\s+)?|\s+(?:and|or)\s+(?:the\s+)?)$/u;

export function contextOf({ sentence, words, mentions }: AnalysedSentence, { start, end }: Mention): NameContext {
  const before: string[] = [];
  const after: string[] = [];
  for (let at = words.length - 1; at >= 0 && before.length < WIDE; at--) {
    const word = words[at];
    if (word !== undefined && word.end <= start && word.pos !== 'SPACE') before.push(word.text.toLowerCase());
  }
  for (const word of words) {
    if (after.length === WIDE) break;
    if (word.start >= end && word.pos !== 'SPACE') after.push(word.text.toLowerCase());
  }
  // `in` of `in Queequeg's boat` is about the boat.
  if (/^['’]s?$/u.test(after[0] ?? '')) before.length = 0;
  const neighbours = mentions
    .filter((other) => !other.isNested && other.kind !== 'date')
    .filter(
      (other) =>
        (other.end <= start && LIST_GAP.test(sentence.text.slice(other.end, start))) ||
        (other.start >= end && LIST_GAP.test(sentence.text.slice(end, other.start))),
    )
    .map(({ name }) => name);
  return { before, after, neighbours };
}

export function typeFeatures({
  name,
  kind,
  contexts,
  votes,
  form,
  guess,
  isThing,
  className,
  neighbours,
  topic,
}: TypeEvidence): SlotFeatures {
  const words = name.toLowerCase().match(/[\p{L}\p{M}'’]+|\p{N}+/gu) ?? [];
  const last = words.at(-1);
  const first = words[0];
  const first1 = (list: readonly (readonly string[])[]): string[] => list.flatMap((one) => one.slice(0, 1));
  const before = contexts.map((one) => one.before);
  const after = contexts.map((one) => one.after);
  const flags = [
    `words=${Math.min(4, words.length)}`,
    `kind=${kind}`,
    `form=${form}`,
    `guess=${guess}`,
    `form=${form},guess=${guess}`,
  ];
  for (const type of new Set(neighbours)) flags.push(`beside=${type}`);
  if (isThing) flags.push('thing', /[^s]s$/u.test(name) ? 'things' : '');
  if (/\p{Ll}\p{Lu}/u.test(name)) flags.push('inner capital');
  if (/^[\p{Lu}\p{N}.&]+$/u.test(name)) flags.push('capitals');
  if (/\p{N}/u.test(name)) flags.push('digit');
  if (/ (?:of|for) /u.test(name)) flags.push('of');
  if (/\./u.test(name)) flags.push('full stop');
  for (const [type, weight] of votes) flags.push(`vote=${type}`, `vote=${type},${Math.min(4, Math.round(weight))}`);
  const size = Math.min(3, words.length);
  for (const {
    before: [left],
    after: [right],
  } of contexts)
    flags.push(`<${left} ${size}`, `>${right} ${size}`, `<${left} >${right}`);
  for (const list of before.slice(0, MAX_CONTEXTS)) if (list.length > 1) flags.push(`<${list[1]} ${list[0]}`);
  for (const list of after.slice(0, MAX_CONTEXTS)) if (list.length > 1) flags.push(`>${list[0]} ${list[1]}`);
  return {
    slots: [
      words,
      last === undefined ? [] : [last],
      first === undefined ? [] : [first],
      first1(before),
      before.flatMap((list) => list.slice(0, NEAR)),
      first1(after),
      after.flatMap((list) => list.slice(0, NEAR)),
      before.flat(),
      after.flat(),
      className === null ? [] : className.split(' ').slice(-1),
      topic,
    ],
    flags,
  };
}

let shared: SlotModel | undefined;

/** Trained on labelled encyclopedia articles by `training/train.ts`. */
export function typeModel(): SlotModel {
  shared ??= readSlotModel(ENTITY_TYPE_WEIGHTS);
  return shared;
}

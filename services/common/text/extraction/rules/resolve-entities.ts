import { isOrdinaryWord } from '../../../domain/graph/entity-type.ts';
import { nameKey, resolveNames } from './coreference.ts';
import { isGivenName } from './entity-type.ts';
import { NICKNAMES } from './gazetteer.ts';
import type { Mention } from './mention.ts';
import { stripTitle } from './mention.ts';

interface ResolvableEntity {
  readonly name: string;
  readonly type: string;
  readonly aliases: readonly string[];
  readonly mentions: number;
}

export type MergeReason =
  | 'same spelling'
  | 'title left out'
  | 'middle name left out'
  | 'alias in the text'
  | 'short for the only full name';

/** One step of a resolution. Undoing it means to give `name` its own entity back; nothing else is lost. */
interface Merge {
  readonly name: string;
  readonly into: string;
  readonly reason: MergeReason;
}

interface Resolution {
  /** Independent names, in order of first appearance. */
  readonly names: readonly string[];
  readonly merges: readonly Merge[];
  /** The entity a name belongs to after all merges; the name itself when it is unknown. */
  canonical(name: string): string;
}

/**
 * Decides which names of a document or dataset mean one entity: equal up to case, full stops and apostrophes; with and
 * without a rank or a middle name; an alias that exactly one entity claims; a single name that exactly one person or company bears. Where
 * two persons could be meant (`Smith` beside John and Ann Smith), nothing is merged, nor an ordinary word with the name
 * that is spelled like it (`coffin` and Peter Coffin). Pure, and reversible by `merges`.
 */
export function resolveEntities(entities: readonly ResolvableEntity[]): Resolution {
  const spellings = new Map<string, string>();
  const merges = new Map<string, Merge>();
  const merge = (name: string, into: string, reason: MergeReason): void => {
    if (name !== into && !merges.has(name) && rootOf(merges, into) !== name) merges.set(name, { name, into, reason });
  };
  for (const { name } of entities) {
    const key = nameKey(name);
    const first = spellings.get(key);
    if (first === undefined) spellings.set(key, name);
    else merge(name, first, 'same spelling');
  }
  for (const { name } of entities) {
    const bare = spellings.get(nameKey(stripTitle(name).name));
    if (bare !== undefined && stripTitle(name).title !== null) merge(name, bare, 'title left out');
  }
  for (const { name, type } of entities) {
    const usual = type === 'Person' || type === 'Concept' ? withoutMiddleName(name) : null;
    const known = usual === null ? undefined : spellings.get(nameKey(usual));
    if (known !== undefined) merge(name, known, 'middle name left out');
  }
  const byType = new Map(entities.map((entity) => [entity.name, entity.type]));
  const counts = new Map(entities.map(({ name, mentions }) => [name, mentions]));
  const explains = (full: string, short: string): boolean =>
    areCompatible(byType.get(short), byType.get(full)) &&
    (startsWithGivenName(full) || isInUse(counts.get(full) ?? 0, counts.get(short) ?? 0));
  for (const [alias, owners] of ownersOfAliases(entities, spellings)) {
    const [owner, ...others] = owners;
    if (owner === undefined || others.length > 0 || !explains(owner, alias)) continue;
    if (owner.length > alias.length && !isOrdinaryWord(alias)) merge(alias, owner, 'alias in the text');
  }
  const names = entities.filter(
    ({ name, type }) =>
      type !== 'Date' && type !== 'Timestamp' && type !== 'Quantity' && type !== 'Work' && !isOrdinaryWord(name),
  );
  const resolver = resolveNames(names.map(toMention), [], byType);
  for (const { name } of names) {
    const full = resolver.canonical(name);
    if (explains(full, name)) merge(name, full, 'short for the only full name');
  }
  for (const [name, full] of nicknames(names)) merge(name, full, 'short for the only full name');
  const canonical = (name: string): string => rootOf(merges, spellings.get(nameKey(name)) ?? name);
  const all = [...merges.values()];
  return { names: [...new Set(entities.map(({ name }) => canonical(name)))], merges: all, canonical };
}

/** `Sam` beside Samuel Okafor, when no other person may be called so. */
function nicknames(entities: readonly ResolvableEntity[]): [string, string][] {
  const persons = entities.filter(({ name, type }) => type === 'Person' && name.includes(' '));
  return entities.flatMap(({ name, type }): [string, string][] => {
    const short = name.toLowerCase();
    const long = NICKNAMES.get(short);
    if (long === undefined || (type !== 'Person' && type !== 'Concept')) return [];
    const bearers = persons.filter(({ name: full }) => [short, ...long].includes(nameKey(full).split(' ')[0] ?? ''));
    const [only] = bearers;
    return only === undefined || bearers.length > 1 ? [] : [[name, only.name]];
  });
}

/** A full name that is hardly ever used does not explain a short one that is used all the time: King Ahab is not Ahab. */
const RARE = 10;

function rootOf(merges: ReadonlyMap<string, Merge>, name: string): string {
  let root = name;
  for (let next = merges.get(root); next !== undefined; next = merges.get(root)) root = next.into;
  return root;
}

function ownersOfAliases(
  entities: readonly ResolvableEntity[],
  spellings: ReadonlyMap<string, string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>();
  for (const { name, aliases } of entities) {
    for (const alias of aliases) {
      const known = spellings.get(nameKey(alias));
      if (known === undefined || known === name) continue;
      owners.set(known, (owners.get(known) ?? new Set()).add(name));
    }
  }
  return owners;
}

/** Whether a type is known: `Concept` is the type of a name about which nothing is known. */
function areCompatible(one: string | undefined, other: string | undefined): boolean {
  return one === other || one === 'Concept' || other === 'Concept' || one === undefined || other === undefined;
}

/** Whether a person is only a guess: two unusual words that occur together once. */
function isInUse(full: number, short: number): boolean {
  return full * RARE >= short && (full > 1 || short < RARE);
}

/** `Richard Nathaniel Wright` is called Richard Wright in every other text: under that name they must meet. */
function withoutMiddleName(name: string): string | null {
  const [first, middle, last, ...more] = name.split(' ');
  if (first === undefined || middle === undefined || last === undefined || more.length > 0) return null;
  const areNames = [first, middle, last].every((word) => /^\p{Lu}[\p{L}.'’-]*$/u.test(word));
  return areNames && isGivenName(first.toLowerCase()) ? `${first} ${last}` : null;
}

function startsWithGivenName(name: string): boolean {
  return isGivenName(nameKey(name).split(' ')[0] ?? '');
}

function toMention({ name }: ResolvableEntity): Mention {
  return {
    surface: name,
    name,
    title: null,
    kind: 'name',
    start: 0,
    end: 0,
    isThing: false,
    isWord: false,
    isNested: false,
  };
}

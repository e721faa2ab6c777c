import { isOrdinaryWord, majorityType, typeWeight } from '../../common/domain/graph/entity-type.ts';
import { idFor, slug } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { smallest } from '../../common/kernel/long-lists.ts';
import type { ExtractedEntity, Extraction, KnownName } from '../../common/ports/extractor.ts';
import { typeByForm } from '../../common/text/extraction/rules/entity-type.ts';
import { type MergeReason, resolveEntities } from '../../common/text/extraction/rules/resolve-entities.ts';
import { isCommonWord } from '../../common/text/language/common-words.ts';
import { nameKey } from '../../common/text/language/fold.ts';
import { type DatedRelation, TIMESTAMP, type Validity } from './times.ts';

/** An entity of a document, merged from the mentions in its chunks. */
export interface DocumentEntity {
  readonly id: string;
  /** The most frequent spelling; the longest of equally frequent ones. */
  readonly name: string;
  readonly type: string;
  /** Share of the mentions that speak for the type; absent: all of them. */
  readonly typeCertainty?: number;
  readonly description: string;
  /** Other spellings, sorted. */
  readonly aliases: readonly string[];
  readonly mentions: number;
  /** Position of the first mention among the entities of the document. */
  readonly ordinal: number;
  /** Names that were merged into this entity, with the reason. */
  readonly merged: readonly MergedName[];
  /** Only helps to find the document; hidden in the graph. */
  readonly isKeyword: boolean;
  /** The individual of an ontology that it is. */
  readonly ontologyUri?: string;
}

type DatedNames = Pick<Extraction, 'entities'> & { readonly relations: readonly DatedRelation[] };

interface MergedName extends JsonObject {
  readonly name: string;
  readonly reason: MergeReason;
}

export interface DocumentRelation {
  readonly sourceId: string;
  readonly targetId: string;
  /** snake_case. */
  readonly relation: string;
  /** How often it is stated. */
  readonly weight: number;
  /** The first sentence that states it, and its chunk. */
  readonly evidence: string;
  readonly chunkId: string;
  /** The time in which it holds, see `DatedRelation`. */
  readonly validFrom?: string;
  readonly validTo?: string;
}

export interface ChunkMention {
  readonly chunkId: string;
  readonly entityId: string;
  readonly mentions: number;
  readonly isSubject: boolean;
}

export interface ResolvedEntities {
  readonly entities: readonly DocumentEntity[];
  readonly relations: readonly DocumentRelation[];
  readonly mentions: readonly ChunkMention[];
}

interface Entry extends NamedEntry {
  readonly key: string;
  readonly ordinal: number;
  readonly aliases: Set<string>;
  description: string;
  mentions: number;
  /** Chunks that mention it. */
  chunks: number;
  /** Number of these chunks in which it is only a keyword. */
  keywordChunks: number;
  /** Chunks in which it is an ordinary word, keyword or not. */
  wordChunks: number;
  /** A title or heading of the document has this spelling. */
  isSubject: boolean;
}

interface RelationEntry {
  /** Keys of entities. */
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly evidence: string;
  readonly chunkId: string;
  readonly valid: Validity;
  weight: number;
}

/**
 * Collects the entities and relations of one document's chunks and resolves them at the end (`resolveEntities`): a short name
 * is merged into the one fuller name of a compatible type in the document. Across documents only spellings of one name are
 * one (`nameKey`). Merged names stay among the aliases, and in `merged` with the reason.
 */
export function createDocumentEntities() {
  const entries = new Map<string, Entry>();
  const relations = new Map<string, RelationEntry>();
  const mentions: { chunkId: string; key: string; mentions: number; isSubject: boolean }[] = [];
  let chunks = 0;

  const enter = (entity: ExtractedEntity): Entry | null => {
    const key = nameKey(entity.name);
    if (key === '') return null;
    const entry = entryAt(entries, key);
    const count = Math.max(1, entity.mentions);
    countNamed(entry, entity);
    for (const alias of entity.aliases) if (alias.trim() !== '') entry.aliases.add(alias.trim());
    if (entity.description.length > entry.description.length) entry.description = entity.description;
    entry.mentions += count;
    entry.chunks++;
    if (entity.isKeyword === true) entry.keywordChunks++;
    if (entity.isKeyword !== undefined) entry.wordChunks++;
    return entry;
  };

  return {
    /** Adds a chunk, in document order. `subjects`: names that its headings give. */
    add(chunkId: string, extraction: DatedNames, subjects: readonly string[]) {
      chunks++;
      const inChunk = new Map<string, { mentions: number; isSubject: boolean }>();
      for (const entity of extraction.entities) {
        const entry = enter(entity);
        if (entry === null) continue;
        const before = inChunk.get(entry.key)?.mentions ?? 0;
        inChunk.set(entry.key, { mentions: before + Math.max(1, entity.mentions), isSubject: false });
      }
      for (const subject of subjects) {
        const key = nameKey(subject);
        if (key === '') continue;
        const entry = entryAt(entries, key);
        entry.isSubject = true;
        if (entry.spellings.size === 0) countIn(entry.spellings, subject, 0);
        inChunk.set(key, { mentions: inChunk.get(key)?.mentions ?? 0, isSubject: true });
      }
      for (const [key, { mentions: count, isSubject }] of inChunk) {
        mentions.push({ chunkId, key, mentions: count, isSubject });
      }
      for (const { source, target, relation, evidence, validFrom, validTo } of extraction.relations) {
        const ends = { source: nameKey(source), target: nameKey(target), relation: slug(relation.trim()) };
        if (!inChunk.has(ends.source) || !inChunk.has(ends.target) || ends.relation === '') continue;
        const valid = { ...(validFrom && { validFrom }), ...(validTo && { validTo }) };
        addRelation(relations, { ...ends, evidence, chunkId, valid });
      }
    },
    resolve(): ResolvedEntities {
      const { rootOf, mergesInto } = resolveEntries(entries);
      const related = new Set([...relations.values()].flatMap(({ source, target }) => [source, target]));
      const groups = Map.groupBy(entries.values(), (entry) => rootOf(entry.key));
      const ids = new Map<string, string>();
      const entities = [...groups].map(([resolved, group]) => {
        const root = keyOfGroup(group, resolved);
        const isRelated = group.some(({ key }) => related.has(key));
        const entity = merged(group, root, { merges: mergesInto(resolved, root), isRelated, chunks });
        for (const { key } of group) ids.set(key, entity.id);
        return entity;
      });
      const idOf = (key: string): string => ids.get(key) ?? '';
      const times = new Set(entities.filter(({ type }) => type === TIMESTAMP).map(({ id }) => id));
      const isTime = (id: string): boolean => times.has(id);
      return {
        entities: entities.sort((one, other) => one.ordinal - other.ordinal),
        relations: mergedRelations([...relations.values()], idOf, isTime),
        mentions: mergedMentions(mentions, idOf),
      };
    },
  };
}

/** Returns the entry of the key, or a new one. */
function entryAt(entries: Map<string, Entry>, key: string): Entry {
  const entry = entries.get(key) ?? newEntry(key, entries.size);
  entries.set(key, entry);
  return entry;
}

function newEntry(key: string, ordinal: number): Entry {
  return {
    key,
    ordinal,
    spellings: new Map(),
    types: new Map(),
    aliases: new Set(),
    description: '',
    mentions: 0,
    chunks: 0,
    keywordChunks: 0,
    wordChunks: 0,
    isSubject: false,
  };
}

function addRelation(relations: Map<string, RelationEntry>, stated: Omit<RelationEntry, 'weight'>): void {
  const key = `${stated.source}\n${stated.relation}\n${stated.target}`;
  const present = relations.get(key);
  if (present) present.weight += 1;
  else relations.set(key, { ...stated, weight: 1 });
}

/**
 * Returns the key that the id of a group is made from. An entity in the document's title keeps the spelling of the title
 * (`NBA`, `Richard Wright`), which other documents of the dataset use, even when this document has a fuller name.
 */
function keyOfGroup(group: readonly Entry[], resolved: string): string {
  const subjects = group.filter(({ isSubject }) => isSubject);
  if (subjects.length === 0 || subjects.some(({ key }) => key === resolved)) return resolved;
  return subjects.reduce((best, one) => (one.key.length > best.key.length ? one : best)).key;
}

function resolveEntries(entries: ReadonlyMap<string, Entry>) {
  const named = [...entries.values()].map((entry) => ({ entry, name: mostFrequent(entry.spellings) }));
  const resolution = resolveEntities(
    named.map(({ entry, name }) => ({
      name,
      // Only headings name it: `Ingrid Solberg`.
      type: entry.types.size === 0 ? (typeByForm(name, 'name') ?? 'Concept') : majorityType(entry.types),
      aliases: [...entry.aliases].sort(),
      mentions: entry.mentions,
    })),
  );
  const keys = new Map(named.map(({ entry, name }) => [name, entry.key]));
  const names = new Map(named.map(({ entry, name }) => [entry.key, name]));
  const roots = new Map(named.map(({ entry, name }) => [entry.key, keys.get(resolution.canonical(name)) ?? entry.key]));
  const rootOf = (key: string): string => roots.get(key) ?? key;
  const merges = Map.groupBy(resolution.merges, ({ name }) => rootOf(keys.get(name) ?? ''));
  return {
    /** Maps each key to the key of the entity it belongs to. */
    rootOf,
    /** Returns the names that were merged into `resolved`, as seen from `root`, a member of its group. */
    mergesInto(resolved: string, root: string): readonly MergedName[] {
      const found = merges.get(resolved) ?? [];
      const own = names.get(root);
      const reason = found.find(({ name }) => name === own)?.reason;
      return found.map((merge) =>
        merge.name === own && reason !== undefined
          ? { name: merge.into, reason }
          : { name: merge.name, reason: merge.reason },
      );
    },
  };
}

/** A word in this many chunks is a subject of the document. */
const SUBJECT_CHUNKS = 3;
/** In a longer document the subject of a single chunk is not a subject of the document. */
const SHORT_DOCUMENT_CHUNKS = 4;

function isOnlyKeyword(group: readonly Entry[], documentChunks: number): boolean {
  const sum = (count: (entry: Entry) => number): number => group.reduce((total, entry) => total + count(entry), 0);
  const chunks = sum((entry) => entry.chunks);
  if (sum((entry) => entry.wordChunks) < chunks) return false;
  const isSomewhereMore = sum((entry) => entry.keywordChunks) < chunks;
  if (isSomewhereMore && documentChunks <= SHORT_DOCUMENT_CHUNKS) return false;
  return chunks < SUBJECT_CHUNKS || !group.some(({ spellings }) => isSubjectWord(mostFrequent(spellings)));
}

/** Adjectives of nations (`American`) have a capital and stay keywords, and so do very common words. */
function isSubjectWord(name: string): boolean {
  return isOrdinaryWord(name) && !isCommonWord(name) && !isCommonWord(`${name}s`);
}

interface MergeContext {
  readonly merges: readonly MergedName[];
  /** A relation of the document has it as source or target. */
  readonly isRelated: boolean;
  /** Number of chunks of the document. */
  readonly chunks: number;
}

function merged(group: readonly Entry[], root: string, { merges, isRelated, chunks }: MergeContext): DocumentEntity {
  const main = group.find(({ key }) => key === root) as Entry;
  const types = new Map<string, number>();
  const spellings = new Set<string>();
  for (const entry of group) {
    for (const [type, count] of entry.types) countIn(types, type, count);
    for (const spelling of [...entry.spellings.keys(), ...entry.aliases]) spellings.add(spelling);
  }
  const name = mostFrequent(main.spellings);
  spellings.delete(name);
  const mentions = Math.max(
    1,
    group.reduce((sum, entry) => sum + entry.mentions, 0),
  );
  const { type, certainty } = typeAmong(types, mentions);
  return {
    id: type === TIMESTAMP ? idFor(TIMESTAMP, name) : idFor('Entity', root),
    name,
    type,
    ...(certainty < 1 ? { typeCertainty: certainty } : {}),
    description: group.reduce((best, { description }) => (description.length > best.length ? description : best), ''),
    aliases: [...spellings].sort(),
    mentions,
    ordinal: smallest(group.map(({ ordinal }) => ordinal)),
    merged: merges,
    // A number of which nothing is said is nothing that a reader would look for.
    isKeyword: !isRelated && (type === 'Quantity' || isOnlyKeyword(group, chunks)),
  };
}

/** Times are ends of relations, not beginnings; relations between two of them are left out (cognify-improve.md §1.8). */
export function mergedRelations(
  list: readonly RelationEntry[],
  idOf: (key: string) => string,
  isTime: (id: string) => boolean,
): readonly DocumentRelation[] {
  const byKey = new Map<string, DocumentRelation>();
  for (const { source, target, relation, evidence, chunkId, valid, weight } of list) {
    const ends = [idOf(source), idOf(target)] as const;
    const [sourceId, targetId] = isTime(ends[0]) ? [ends[1], ends[0]] : ends;
    if (sourceId === targetId || isTime(sourceId)) continue;
    const key = `${sourceId}\n${relation}\n${targetId}`;
    const before = byKey.get(key);
    if (before) byKey.set(key, { ...before, weight: before.weight + weight });
    else byKey.set(key, { sourceId, targetId, relation, weight, evidence, chunkId, ...valid });
  }
  return [...byKey.values()];
}

export function mergedMentions(
  list: readonly (Omit<ChunkMention, 'entityId'> & { readonly key: string })[],
  idOf: (key: string) => string,
): readonly ChunkMention[] {
  const byKey = new Map<string, ChunkMention>();
  for (const { chunkId, key, mentions, isSubject } of list) {
    const entityId = idOf(key);
    const pair = `${chunkId}\n${entityId}`;
    const before = byKey.get(pair);
    byKey.set(pair, {
      chunkId,
      entityId,
      mentions: mentions + (before?.mentions ?? 0),
      isSubject: isSubject || (before?.isSubject ?? false),
    });
  }
  return [...byKey.values()];
}

/** How often an entity had each spelling, and the weight of each type. */
export interface NamedEntry {
  readonly spellings: Map<string, number>;
  readonly types: Map<string, number>;
}

export function countIn(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Returns the value with the highest count; of several the longest, then the first in the alphabet. */
function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best = '';
  let bestCount = -1;
  for (const [value, count] of counts) {
    const isBetter =
      count > bestCount ||
      (count === bestCount && (value.length > best.length || (value.length === best.length && value < best)));
    if (isBetter) [best, bestCount] = [value, count];
  }
  return best;
}

/** Counts the spelling and the type of an entity, by its mentions. */
export function countNamed({ spellings, types }: NamedEntry, entity: ExtractedEntity): void {
  const { type, typeCertainty: certainty } = entity;
  const [name, mentions] = [entity.name.trim(), Math.max(1, entity.mentions)];
  countIn(spellings, name, mentions);
  countIn(types, type, typeWeight({ name, type, mentions, certainty }));
}

export function nameAndType({ spellings, types }: NamedEntry): KnownName {
  const weight = types.values().reduce((sum, one) => sum + one, 0);
  const { type, certainty } = typeAmong(types, weight || 1);
  return { name: mostFrequent(spellings), type, ...(certainty < 1 ? { typeCertainty: certainty } : {}) };
}

/** The type that has most weight, and its share in hundredths. */
function typeAmong(types: ReadonlyMap<string, number>, whole: number): { type: string; certainty: number } {
  const type = majorityType(types);
  return { type, certainty: Math.min(1, Math.round((100 * (types.get(type) ?? 0)) / whole) / 100) };
}

import type { DataItemId } from '../../kernel/brand.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { DatasetScope } from '../../kernel/scope.ts';

/** Kinds of rows of a text or vector index. Stores number them in this order: new ones come last. */
export const INDEX_KINDS = ['chunk', 'sentence', 'summary', 'entity', 'edge', 'triplet'] as const;
export type IndexKind = (typeof INDEX_KINDS)[number];

/** Kinds that have a vector beside their text row. */
export const VECTOR_KINDS: readonly IndexKind[] = INDEX_KINDS.filter((kind) => kind !== 'sentence');

/**
 * Where a row comes from. A generation counts the attempts to build an item: rows of a generation that the ledger has
 * not committed are invisible to every reader (architecture.md §5).
 */
export interface Provenance {
  readonly item: DataItemId;
  readonly generation: number;
}

/** The provenance as one string, for sets. */
export function provenanceKey({ item, generation }: Provenance): string {
  return `${item} ${generation}`;
}

/** A row is identified by (scope, kind, item, generation, id). `id` is the wire id and may repeat across items. */
export interface EntryKey extends Provenance {
  readonly id: string;
}

export interface EntryFilter {
  readonly kind: IndexKind;
  readonly items?: readonly DataItemId[];
  /** Rows that belong to at least one of these node sets. */
  readonly nodeSets?: readonly string[];
  /** Rows of other items only. */
  readonly withoutItems?: ReadonlySet<DataItemId>;
}

/** The query without rows of items that the reader of the scope may not see, so that they take no places of others. */
export function asRead<Query extends EntryFilter>({ withheld }: DatasetScope, query: Query): Query {
  return withheld === undefined ? query : { ...query, withoutItems: withheld };
}

/** Reads of an index that are answered in this process, exactly as the index answers them. */
export interface IndexCopy<Reads> {
  readonly reads: Reads;
  /** Memory that it takes, about. */
  readonly bytes: number;
  /** A copy of what is committed now, for which only the items that changed are read. This one still answers as before. */
  updated(options: CopyOptions): Promise<IndexCopy<Reads> | null>;
}

export interface CopyOptions {
  /** The copy has the rows of these generations alone. */
  readonly committed: ReadonlyMap<DataItemId, number>;
  /** A dataset that needs more is not copied. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The items of which another generation is committed now, or one for the first time. */
export function changedItems(
  before: CopyOptions['committed'],
  committed: CopyOptions['committed'],
): readonly DataItemId[] {
  return [...committed].flatMap(([item, generation]) => (before.get(item) === generation ? [] : [item]));
}

/** Stored beside a row and given back with it: what an answer needs to show the hit. */
export type EntryPayload = JsonObject;

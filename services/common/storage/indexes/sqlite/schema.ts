import type { DataItemId } from '../../../kernel/brand.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { EdgeEvidence } from '../../ports/graph-store.ts';
import { INDEX_KINDS, type IndexKind, type Provenance } from '../../ports/index-entry.ts';

/**
 * Rows of a kind are numbered within it: row number = kind × 2⁴⁸ + sequence. So one table serves all kinds, each kind lies
 * together in it, and the numbers of a kind are dense.
 */
export const KIND_SPAN = 2 ** 48;

interface KindRange {
  readonly code: number;
  /** First row number. */
  readonly start: number;
  /** First row number of the kind after it. */
  readonly end: number;
}

export function kindRange(kind: IndexKind): KindRange {
  const code = INDEX_KINDS.indexOf(kind);
  return { code, start: code * KIND_SPAN, end: (code + 1) * KIND_SPAN };
}

export function kindOfRow(row: number): IndexKind {
  const kind = INDEX_KINDS[Math.floor(row / KIND_SPAN)];
  if (kind === undefined) throw new RangeError(`Row number ${row} belongs to no kind`);
  return kind;
}

/**
 * `origin`: whom a row belongs to. A number is never given twice, since readers in other threads remember them.
 * `text_row`, `text_bucket`, `text_posting`, `text_statistics`: see `postings.ts`. `tokens` says what to take out of the
 * postings when the row goes.
 * `vector_row`: unit vectors, see `vector-blob.ts`. `vector_sequence`: the next row number, never reused.
 * `node_key` gives node ids short numbers, never reused either; `node_row` and `edge_row` are the evidence.
 */
export const DATASET_MIGRATIONS = [
  {
    version: 1,
    sql: `
      CREATE TABLE origin (
        origin INTEGER PRIMARY KEY AUTOINCREMENT,
        item TEXT NOT NULL, generation INTEGER NOT NULL, node_sets TEXT NOT NULL,
        UNIQUE (item, generation, node_sets)
      ) STRICT;
      CREATE INDEX origin_node_sets ON origin (node_sets);

      CREATE TABLE text_row (
        row INTEGER PRIMARY KEY, kind INTEGER NOT NULL, origin INTEGER NOT NULL, id TEXT NOT NULL,
        ordinal INTEGER NOT NULL, length INTEGER NOT NULL, payload TEXT NOT NULL, tokens TEXT NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX text_row_id ON text_row (kind, id, origin);
      CREATE INDEX text_row_origin ON text_row (origin, kind, ordinal);
      CREATE TABLE text_posting (
        kind INTEGER NOT NULL, term TEXT NOT NULL, bucket INTEGER NOT NULL, entries BLOB NOT NULL,
        PRIMARY KEY (kind, term, bucket)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE text_bucket (
        kind INTEGER NOT NULL, bucket INTEGER NOT NULL, slots BLOB NOT NULL,
        PRIMARY KEY (kind, bucket)
      ) STRICT;
      CREATE TABLE text_statistics (
        kind INTEGER PRIMARY KEY, rows INTEGER NOT NULL, tokens INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE vector_row (
        row INTEGER PRIMARY KEY, kind INTEGER NOT NULL, origin INTEGER NOT NULL, id TEXT NOT NULL, vector BLOB NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX vector_row_id ON vector_row (kind, id, origin);
      CREATE INDEX vector_row_origin ON vector_row (origin, kind);
      CREATE TABLE vector_sequence (kind INTEGER PRIMARY KEY, next INTEGER NOT NULL) STRICT;

      CREATE TABLE node_key (node INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE node_row (
        node INTEGER NOT NULL, origin INTEGER NOT NULL, mentions INTEGER NOT NULL,
        type TEXT NOT NULL, name TEXT NOT NULL, properties TEXT NOT NULL,
        PRIMARY KEY (node, origin)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX node_row_mentions ON node_row (node, mentions DESC);
      CREATE INDEX node_row_origin ON node_row (origin);
      CREATE TABLE edge_row (
        source INTEGER NOT NULL, relation TEXT NOT NULL, target INTEGER NOT NULL, origin INTEGER NOT NULL,
        weight REAL NOT NULL, properties TEXT NOT NULL,
        PRIMARY KEY (source, relation, target, origin)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX edge_row_source ON edge_row (source, weight DESC, relation, target);
      CREATE INDEX edge_row_target ON edge_row (target, weight DESC, relation, source);
      CREATE INDEX edge_row_origin ON edge_row (origin);
    `,
  },
  // Vectors may be written without their zeros, which a release before does not read. Older rows stay as they are.
  { version: 2, sql: '' },
] as const;

/** The item and generation of rows, and their node sets (JSON). */
export interface StoredOrigin extends Provenance {
  readonly nodeSets: string;
}

/** A row of text as it was read. */
export interface FoundRow extends ReadRow {
  /** Its number among the rows of its kind. */
  readonly sequence: number;
}

export interface ReadRow {
  readonly id: string;
  readonly origin: StoredOrigin;
  readonly ordinal: number;
  /** JSON. */
  readonly payload: string;
  /** When it was asked for. */
  readonly tokens?: string;
}

/** Key columns of an edge row. */
export type EdgeKey = readonly [source: number, relation: string, target: number, origin: number];

/**
 * An edge as the indexes hold it: its key, the weight to choose by, its properties (JSON) when they were read, and what it was
 * returned as where it is kept.
 */
export type FoundEdge = [...key: EdgeKey, weight: number, properties?: string, evidence?: EdgeEvidence];

const NO_PROPERTIES: JsonObject = Object.freeze({});

/** An edge as the graph store returns it. Few of the hundreds of a search are shown: properties are parsed on demand. */
export function edgeEvidence(
  edge: Pick<EdgeEvidence, 'source' | 'relation' | 'target' | 'weight'>,
  origin: { readonly item: string; readonly generation: number } | null | undefined,
  json: string | undefined,
): EdgeEvidence {
  const evidence = {
    source: edge.source,
    relation: edge.relation,
    target: edge.target,
    item: (origin?.item ?? '') as DataItemId,
    generation: origin?.generation ?? 0,
    weight: edge.weight,
    properties: NO_PROPERTIES,
  };
  if (json === undefined) return evidence;
  let parsed: JsonObject | undefined;
  const get = () => {
    parsed ??= JSON.parse(json) as JsonObject;
    return parsed;
  };
  return Object.defineProperty(evidence, 'properties', { get, enumerable: true });
}

import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Page } from '../../kernel/result-page.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { CopyOptions, IndexCopy, Provenance } from './index-entry.ts';
import type { RowSelection } from './text-index.ts';

/**
 * The knowledge graph of a dataset as evidence: every row says that one generation of one item states a node or an edge.
 * A node or an edge exists as long as committed evidence for it does; its properties are merged from that evidence by
 * `domain/graph/merge.ts`, never by a store. Adapters: SQLite, memory, Neo4j.
 */
export interface GraphStore {
  /** Idempotent: evidence with the same key replaces the one before. All of a call or none. */
  upsert(
    scope: DatasetScope,
    evidence: { readonly nodes: readonly NodeEvidence[]; readonly edges: readonly EdgeEvidence[] },
  ): Promise<void>;
  /**
   * Evidence of the nodes; at most `perNode` (default 64) rows each, those with most mentions first. Without that of items which
   * the scope withholds, and so for `neighbours`.
   */
  nodes(
    scope: DatasetScope,
    ids: readonly string[],
    options?: { readonly perNode?: number },
  ): Promise<readonly NodeEvidence[]>;
  /** Edges that touch one of `ids` at either end, heaviest first, at most `limitPerNode` a node. */
  neighbours(
    scope: DatasetScope,
    ids: readonly string[],
    options: NeighbourOptions,
    signal?: AbortSignal,
  ): Promise<readonly EdgeEvidence[]>;
  /**
   * Edges that leave `ids`, and those that arrive at their targets: what two calls of `neighbours` give, in one trip. Absent
   * where a call costs no trip. For scopes that withhold nothing.
   */
  pathsOver?(scope: DatasetScope, ids: readonly string[], query: PathQuery, signal?: AbortSignal): Promise<EdgePaths>;
  /**
   * Every node (edge) evidence row, keyset-paged in a stable order in which the rows of one node (edge) stand together:
   * for the graph routes, exports and checks.
   */
  scanNodes(scope: DatasetScope, query: ScanQuery): Promise<Page<NodeEvidence>>;
  scanEdges(scope: DatasetScope, query: ScanQuery): Promise<Page<EdgeEvidence>>;
  /** Removes evidence of an item, one generation of it, or all but one. Returns how many rows went. */
  remove(scope: DatasetScope, selection: RowSelection): Promise<number>;
  drop(scope: DatasetScope): Promise<void>;
  /** Evidence rows and distinct nodes and edges, committed or not. */
  count(scope: DatasetScope, filter?: { readonly item?: string }): Promise<GraphCounts>;
  /**
   * Runs a client's query on the graph of this dataset alone, as merged from committed evidence. Refuses what does not
   * only read, and what could reach further, with `CypherSearchError`; `ServiceUnavailableError` (retryable) while a large
   * graph is being prepared for its first query.
   */
  cypher(scope: DatasetScope, query: CypherQuery, signal?: AbortSignal): Promise<CypherRows>;
  /** Copies the edges into this process; null when they are too large. Absent where a call costs no trip. */
  copy?(scope: DatasetScope, options: CopyOptions): Promise<IndexCopy<CopiedGraphReads> | null>;
}

export type CopiedGraphReads = Required<Pick<GraphStore, 'neighbours' | 'pathsOver'>>;

export interface CypherQuery {
  readonly text: string;
  /** Who asks: queries of one caller may wait for each other, and not for long for those of others. Default: the dataset. */
  readonly caller?: string;
  /** Keeps those of the origins that readers may see: `common/records/cognify/ledger.ts`. Called with all of the dataset's. */
  readonly committed: (origins: readonly Provenance[]) => Promise<readonly Provenance[]>;
  /** Default 1000. */
  readonly maxRows?: number;
  /** For preparing and for running, each. Default 10000. */
  readonly timeoutMs?: number;
}

/** Nodes and relationships are given as their properties, a path as node, relation, node … */
export interface CypherRows {
  readonly columns: readonly string[];
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly Json[])[];
  /** There were more than `maxRows`. */
  readonly isCut: boolean;
}

export interface GraphCounts {
  readonly nodes: number;
  readonly edges: number;
  readonly nodeRows: number;
  readonly edgeRows: number;
}

/** Key: (id, item, generation). */
export interface NodeEvidence extends Provenance {
  /** Wire id, see `domain/ids.ts`. */
  readonly id: string;
  /** `Entity`, `EntityType`, `DocumentChunk`, `TextDocument`, `TextSummary`, `NodeSet` … */
  readonly type: string;
  readonly name: string;
  /** Number of mentions in the item; at least 1. */
  readonly mentions: number;
  readonly nodeSets: readonly string[];
  readonly properties: JsonObject;
}

/** Key: (source, relation, target, item, generation). */
export interface EdgeEvidence extends Provenance {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  /** Strength of the statement, > 0: mentions for `contains`, 1 for a relation stated once. */
  readonly weight: number;
  /** `chunkId`, `text` (the sentence that says it), `edgeText`, and further properties. */
  readonly properties: JsonObject;
}

export interface NeighbourOptions {
  readonly relations?: readonly string[];
  readonly excludeRelations?: readonly string[];
  /** Only edges that leave the nodes, or only those that arrive. Default both. */
  readonly direction?: 'out' | 'in';
  /** Default 64. */
  readonly limitPerNode?: number;
  /** Default true. False leaves `properties` empty: for callers that need keys and weights only, at half the cost. */
  readonly withProperties?: boolean;
}

export interface PathQuery {
  /** Of all edges. */
  readonly relation: string;
  /** Edges of each of the ids, and of each target: the heaviest ones. */
  readonly leaving: number;
  readonly arriving: number;
}

interface EdgePaths {
  readonly leaving: readonly EdgeEvidence[];
  /** Without properties. */
  readonly arriving: readonly EdgeEvidence[];
}

export interface ScanQuery {
  readonly after?: string | null;
  /** 1 to 10000. */
  readonly limit: number;
  readonly types?: readonly string[];
  /** Only rows of one generation of an item. */
  readonly provenance?: Provenance;
}

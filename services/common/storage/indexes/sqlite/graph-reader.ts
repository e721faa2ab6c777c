import type { GraphCounts, ScanQuery } from '../../ports/graph-store.ts';
import { byPlace, createPlaces, inBatches } from './in-batches.ts';
import { type OpenFile, reading } from './open-files.ts';
import { readOrigin } from './origins.ts';
import type { EdgeKey, FoundEdge } from './schema.ts';

/** Evidence as it travels to the main thread; JSON is parsed there. */
export interface PackedNode {
  readonly id: string;
  readonly item: string;
  readonly generation: number;
  readonly type: string;
  readonly name: string;
  readonly mentions: number;
  /** JSON. */
  readonly nodeSets: string;
  /** JSON. */
  readonly properties: string;
}

/** Edges as they travel to the main thread: what repeats stands once. */
export interface PackedEdges {
  readonly ids: readonly string[];
  readonly relations: readonly string[];
  readonly origins: readonly { readonly item: string; readonly generation: number }[];
  /** For each edge: source, relation, target and origin as indexes of the lists above, then its weight. */
  readonly edges: Float64Array;
  /** JSON; null when they were not requested. */
  readonly properties: readonly string[] | null;
}

export const EDGE_FIELDS = 5;

/** About 10 MB. */
const MAX_REMEMBERED_IDS = 100_000;
const NODE_COLUMNS = 'node_key.id, item, generation, type, name, mentions, node_sets, properties';

export function readNodes(file: OpenFile, ids: readonly string[], perNode: number): readonly PackedNode[] {
  return reading(file, () =>
    [...new Set(ids)].flatMap((id) =>
      file
        .all(
          `SELECT ${NODE_COLUMNS} FROM node_key JOIN node_row USING (node) JOIN origin USING (origin)
           WHERE node_key.id = ? ORDER BY mentions DESC, item, generation LIMIT ?`,
          [id, perNode],
        )
        .map(packNode),
    ),
  );
}

export function scanNodes(file: OpenFile, query: ScanQuery): { items: readonly PackedNode[]; next: string | null } {
  return reading(file, () => {
    const [node, origin] = parseCursor(query.after, [-1, -1]);
    const rows = file.all(
      `SELECT ${NODE_COLUMNS}, node_row.node, node_row.origin FROM node_row ${originIndex('node_row', query)} JOIN node_key USING (node) JOIN origin USING (origin)
       WHERE (node_row.node, node_row.origin) > (?, ?) ${typeFilter('type', query)} ${originFilter('node_row', query)}
       ORDER BY node_row.node, node_row.origin LIMIT ?`,
      [node as number, origin as number, ...(query.types ?? []), ...originOf(query), query.limit + 1],
    );
    return page(rows, query.limit, packNode, (row) => row.slice(8));
  });
}

export function scanEdges(file: OpenFile, query: ScanQuery): { edges: PackedEdges; next: string | null } {
  return reading(file, () => {
    const after = parseCursor(query.after, [-1, '', -1, -1]);
    const rows = file.all(
      `SELECT source, relation, target, origin FROM edge_row ${originIndex('edge_row', query)}
       WHERE (source, relation, target, origin) > (?, ?, ?, ?) ${typeFilter('relation', query)} ${originFilter('edge_row', query)}
       ORDER BY source, relation, target, origin LIMIT ?`,
      [...after, ...(query.types ?? []), ...originOf(query), query.limit + 1],
    );
    const keys = page(
      rows,
      query.limit,
      (row) => row as unknown as EdgeKey,
      (row) => row,
    );
    return { edges: packEdges(file, readEdges(file, keys.items), true), next: keys.next };
  });
}

export function countGraph(file: OpenFile, item: string | null): GraphCounts {
  return reading(file, () => {
    const where = item === null ? '' : 'WHERE origin IN (SELECT origin FROM origin WHERE item = ?)';
    const parameters = item === null ? [] : [item];
    const one = (sql: string) => Number(file.get(sql, parameters)?.[0] ?? 0);
    return {
      nodes: one(`SELECT count(DISTINCT node) FROM node_row ${where}`),
      edges: one(`SELECT count(*) FROM (SELECT DISTINCT source, relation, target FROM edge_row ${where})`),
      nodeRows: one(`SELECT count(*) FROM node_row ${where}`),
      edgeRows: one(`SELECT count(*) FROM edge_row ${where}`),
    };
  });
}

/** Edges by key, in the order given. Read in batches: a call per edge would cost more than the reading. */
export function readEdges(
  file: OpenFile,
  keys: readonly (readonly [...EdgeKey, ...unknown[]])[],
): readonly FoundEdge[] {
  const contents = inBatches(keys, (batch) =>
    file
      .all(
        `WITH wanted (place, source, relation, target, origin) AS (VALUES ${batch.map(() => '(?, ?, ?, ?, ?)').join(', ')})
       SELECT place, weight, properties FROM wanted CROSS JOIN edge_row USING (source, relation, target, origin)`,
        batch.flatMap(([source, relation, target, origin], place) => [place, source, relation, target, origin]),
      )
      .toSorted(byPlace),
  );
  return keys.map(([source, relation, target, origin], index) => {
    const [, weight, properties] = contents[index] ?? [];
    return [source, relation, target, origin, Number(weight), String(properties)];
  });
}

/** `withProperties`: then the edges must hold them. */
export function packEdges(file: OpenFile, found: readonly FoundEdge[], withProperties: boolean): PackedEdges {
  const nodes = createPlaces<number>();
  const relations = createPlaces<string>();
  const origins = createPlaces<number>();
  const edges = new Float64Array(found.length * EDGE_FIELDS);
  found.forEach(([source, relation, target, origin, weight], index) => {
    const at = index * EDGE_FIELDS;
    edges[at] = nodes.of(source);
    edges[at + 1] = relations.of(relation);
    edges[at + 2] = nodes.of(target);
    edges[at + 3] = origins.of(origin);
    edges[at + 4] = weight;
  });
  const idOf = readIds(file, nodes.values());
  return {
    ids: nodes.values().map((node) => idOf.get(node) ?? ''),
    relations: relations.values(),
    origins: origins.values().map((origin) => {
      const { item = '', generation = 0 } = readOrigin(file, origin) ?? {};
      return { item, generation };
    }),
    edges,
    properties: withProperties ? found.map((edge) => edge[5] ?? '{}') : null,
  };
}

/** The file's ids, with at least those of `nodes`. */
export function readIds(file: OpenFile, nodes: readonly number[]): ReadonlyMap<number, string> {
  const { nodeIds } = file;
  if (nodeIds.size > MAX_REMEMBERED_IDS) nodeIds.clear();
  const missing = nodes.filter((node) => !nodeIds.has(node));
  const rows = inBatches(missing, (batch) =>
    file.all(`SELECT node, id FROM node_key WHERE node IN (${batch.map(() => '?').join(', ')})`, batch),
  );
  for (const [node, id] of rows) nodeIds.set(Number(node), String(id));
  return nodeIds;
}

function packNode(row: readonly unknown[]): PackedNode {
  const [id, item, generation, type, name, mentions, nodeSets, properties] = row as [
    string,
    string,
    number,
    string,
    string,
    number,
    string,
    string,
  ];
  return { id, item, generation, type, name, mentions, nodeSets, properties };
}

function page<Row>(
  rows: readonly (readonly unknown[])[],
  limit: number,
  pack: (row: readonly unknown[]) => Row,
  keyOf: (row: readonly unknown[]) => readonly unknown[],
): { items: readonly Row[]; next: string | null } {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  return { items: kept.map(pack), next: rows.length > limit && last ? JSON.stringify(keyOf(last)) : null };
}

/** The planner would walk the key in order, through all of the dataset. */
function originIndex(table: 'node_row' | 'edge_row', { provenance }: ScanQuery): string {
  return provenance === undefined ? '' : `INDEXED BY ${table}_origin`;
}

function originFilter(table: 'node_row' | 'edge_row', { provenance }: ScanQuery): string {
  return provenance === undefined
    ? ''
    : `AND ${table}.origin IN (SELECT origin FROM origin WHERE item = ? AND generation = ?)`;
}

function originOf({ provenance }: ScanQuery): readonly (string | number)[] {
  return provenance === undefined ? [] : [provenance.item, provenance.generation];
}

function typeFilter(column: string, query: ScanQuery): string {
  return query.types === undefined ? '' : `AND ${column} IN (${query.types.map(() => '?').join(', ')})`;
}

function parseCursor(after: string | null | undefined, start: readonly (string | number)[]): (string | number)[] {
  return after === null || after === undefined ? [...start] : (JSON.parse(after) as (string | number)[]);
}

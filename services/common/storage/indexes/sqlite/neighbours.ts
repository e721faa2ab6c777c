import type { EdgeEvidence, NeighbourOptions } from '../../ports/graph-store.ts';
import { DEFAULT_LIMIT_PER_NODE } from '../../ports/read-seen.ts';
import { type PackedEdges, packEdges, readEdges, readIds } from './graph-reader.ts';
import { byPlace, inBatches } from './in-batches.ts';
import { type OpenFile, reading } from './open-files.ts';
import { readOrigin } from './origins.ts';
import { edgeEvidence, type FoundEdge } from './schema.ts';

export function readNeighbours(file: OpenFile, ids: readonly string[], options: NeighbourOptions): PackedEdges {
  return reading(file, () => packEdges(file, edgesAround(file, ids, options), options.withProperties ?? true));
}

/** The same for the thread that reads, which keeps the edges of nodes that were asked for lately. */
export function readNeighboursHere(
  file: OpenFile,
  ids: readonly string[],
  options: NeighbourOptions,
): readonly EdgeEvidence[] {
  return reading(file, () => {
    const edges = edgesAround(file, ids, options);
    const missing = edges.filter((edge) => edge[6] === undefined);
    const idOf = readIds(file, [...new Set(missing.flatMap(([source, , target]) => [source, target]))]);
    for (const edge of missing) {
      const [source, relation, target, origin, weight, properties] = edge;
      const named = { source: idOf.get(source) ?? '', relation, target: idOf.get(target) ?? '', weight };
      edge[6] = edgeEvidence(named, readOrigin(file, origin), properties);
    }
    return edges.map((edge) => edge[6] as EdgeEvidence);
  });
}

function edgesAround(file: OpenFile, ids: readonly string[], options: NeighbourOptions): readonly FoundEdge[] {
  const lists = rememberedEdges(file, nodeNumbers(file, ids), options);
  return distinct(lists, options).toSorted(heaviestFirst);
}

/** Each edge once: two nodes asked for may be its two ends, unless only one end counts. */
function distinct(lists: readonly (readonly FoundEdge[])[], { direction }: NeighbourOptions): readonly FoundEdge[] {
  if (direction !== undefined) return lists.flat();
  const found = new Map<string, FoundEdge>();
  for (const edge of lists.flat()) found.set(nameOf(edge), edge);
  return [...found.values()];
}

const BYTES_PER_EDGE = 220;

/** `heaviestEdges` of each node, with properties if wanted; those of nodes that were asked for lately are known still. */
function rememberedEdges(file: OpenFile, nodes: readonly number[], options: NeighbourOptions) {
  const { relations = null, excludeRelations = [], direction = '', limitPerNode = DEFAULT_LIMIT_PER_NODE } = options;
  const { withProperties = true } = options;
  const manner = JSON.stringify([relations, excludeRelations, direction, limitPerNode, withProperties]);
  const recent = file.recentEdges(manner);
  const lists = nodes.map((node) => recent.get(node));
  const missing = nodes.filter((_, index) => lists[index] === undefined);
  const found = heaviestEdges(file, missing, options, limitPerNode);
  const edges = withProperties ? readEdges(file, found.flat()) : found.flat();
  let end = 0;
  const read = found.map(({ length }) => {
    end += length;
    return edges.slice(end - length, end);
  });
  missing.forEach((node, index) => {
    const ofNode = read[index] ?? [];
    const bytes = ofNode.reduce((sum, edge) => sum + BYTES_PER_EDGE + (edge[5]?.length ?? 0), BYTES_PER_EDGE);
    recent.keep(node, ofNode, bytes);
  });
  let next = 0;
  return lists.map((list) => list ?? read[next++] ?? []);
}

/**
 * The `limit` heaviest edges at either end of each node. One statement reads many nodes, each with its limit (a plain join
 * could not, and a hub would give all it has); lists come as JSON, which halves the cost of a statement per node.
 */
function heaviestEdges(file: OpenFile, nodes: readonly number[], options: NeighbourOptions, limit: number) {
  const { relations, excludeRelations = [], direction } = options;
  const conditions = [
    ...(relations === undefined ? [] : [`AND relation IN (${placeholders(relations)})`]),
    ...(excludeRelations.length === 0 ? [] : [`AND relation NOT IN (${placeholders(excludeRelations)})`]),
  ].join(' ');
  const end = (own: 'source' | 'target', other: 'source' | 'target', more = '') => `(
    SELECT json_group_array(json_array(relation, ${other}, origin, weight)) FROM (
      SELECT relation, ${other}, origin, weight FROM edge_row INDEXED BY edge_row_${own}
      WHERE ${own} = wanted.node ${more} ${conditions} ORDER BY weight DESC, relation LIMIT ?))`;
  // An edge from a node to itself is read at its source.
  const ends = [
    direction === 'in' ? `'[]'` : end('source', 'target'),
    direction === 'out' ? `'[]'` : end('target', 'source', direction === 'in' ? '' : 'AND source <> target'),
  ];
  const parameters = [...(relations ?? []), ...excludeRelations, limit];
  return inBatches(nodes, (batch) =>
    file
      .all(
        `WITH wanted (place, node) AS (VALUES ${batch.map(() => '(?, ?)').join(', ')})
         SELECT place, node, ${ends.join(', ')} FROM wanted`,
        [...batch.flatMap((node, place) => [place, node]), ...parameters, ...(direction ? [] : parameters)],
      )
      .toSorted(byPlace)
      .map(([, node, outgoing, incoming]) =>
        mergeEnds(Number(node), String(outgoing), String(incoming)).slice(0, limit),
      ),
  );
}

type ListedEdge = readonly [relation: string, other: number, origin: number, weight: number];

function mergeEnds(node: number, outgoing: string, incoming: string): readonly FoundEdge[] {
  const edges: FoundEdge[] = [];
  for (const [relation, other, origin, weight] of JSON.parse(outgoing) as readonly ListedEdge[]) {
    edges.push([node, relation, other, origin, weight]);
  }
  for (const [relation, other, origin, weight] of JSON.parse(incoming) as readonly ListedEdge[]) {
    edges.push([other, relation, node, origin, weight]);
  }
  return edges.sort(heaviestFirst);
}

function nameOf([source, relation, target, origin]: FoundEdge): string {
  return `${source} ${target} ${origin} ${relation}`;
}

/** Sorting is stable: equal weights keep the order of the index. */
function heaviestFirst(a: FoundEdge, b: FoundEdge): number {
  return b[4] - a[4];
}

const BYTES_PER_NODE = 150;

/** More are read as they are asked for. */
const MAX_NODES = 20_000;

/**
 * The numbers of all nodes of a small graph, since most names of a question are those of no node; null for a larger one. As
 * numbers are never given twice, only later ones are read after a change; a node that is gone has no edges.
 */
function numbersOfSmall(file: OpenFile): ReadonlyMap<string, number> | null {
  const { smallGraph: known } = file;
  if (known.isCurrent) return known.last > MAX_NODES ? null : known.numbers;
  known.isCurrent = true;
  const first = known.last;
  known.last = Number(file.get(`SELECT seq FROM sqlite_sequence WHERE name = 'node_key'`, [])?.[0] ?? 0);
  if (known.last > MAX_NODES) {
    known.numbers.clear();
    return null;
  }
  const later = known.last > first ? file.all('SELECT id, node FROM node_key WHERE node > ?', [first]) : [];
  for (const [id, node] of later) known.numbers.set(String(id), Number(node));
  return known.numbers;
}

/** Unknown ids are left out. */
function nodeNumbers(file: OpenFile, ids: readonly string[]): readonly number[] {
  const wanted = [...new Set(ids)];
  const all = numbersOfSmall(file);
  if (all !== null) return wanted.flatMap((id) => all.get(id) ?? []);
  const known = wanted.map((id) => file.recentNodes.get(id));
  const missing = wanted.filter((_, at) => known[at] === undefined);
  if (missing.length === 0) return known.flatMap((node) => node ?? []);
  const rows = inBatches(missing, (batch) =>
    file.all(`SELECT id, node FROM node_key WHERE id IN (${batch.map(() => '?').join(', ')})`, batch),
  );
  const found = new Map(rows.map(([id, node]) => [String(id), Number(node)]));
  for (const id of missing) file.recentNodes.keep(id, found.get(id) ?? null, BYTES_PER_NODE);
  return wanted.flatMap((id, at) => known[at] ?? found.get(id) ?? []);
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

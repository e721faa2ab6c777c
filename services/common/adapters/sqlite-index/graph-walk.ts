import type { NeighbourOptions, SubgraphQuery } from '../../ports/graph-store.ts';
import { type EdgeKey, inBatches, type PackedEdge, readEdges } from './graph-reader.ts';
import { type OpenFile, reading } from './open-files.ts';

const DEFAULT_LIMIT_PER_NODE = 64;
/** Nodes of a frontier that take turns with each other; the next ones come when these are at their end. */
const FRONTIER_SLICE = 1024;
/** A read that would give more rows than this has a hub in it: it is cut down until the hub stands alone. */
const ROWS_PER_READ = 1024;

/** An edge as the indexes hold it: its key, and the weight to choose by. */
type FoundEdge = readonly [...key: EdgeKey, weight: number];

type End = 'source' | 'target';

export function readNeighbours(
  file: OpenFile,
  ids: readonly string[],
  options: NeighbourOptions,
): readonly PackedEdge[] {
  return reading(file, () => {
    const found = new Map<string, FoundEdge>();
    for (const edges of heaviestEdges(file, nodeNumbers(file, ids), options)) {
      for (const edge of edges) found.set(nameOf(edge), edge);
    }
    return readEdges(file, [...found.values()].sort(heaviestFirst));
  });
}

/**
 * Breadth first. Within a hop the nodes take turns: the heaviest edge of each, then the second of each …, so that a cut
 * leaves every node its heaviest edges. A frontier is read in slices and no further than `maxEdges` needs.
 */
export function readSubgraph(file: OpenFile, query: SubgraphQuery): readonly PackedEdge[] {
  return reading(file, () => {
    const found = new Map<string, FoundEdge>();
    const reached = new Set(nodeNumbers(file, query.seeds));
    let frontier: readonly number[] = [...reached];
    for (let hop = 0; hop < query.hops && frontier.length > 0; hop++) {
      for (let start = 0; start < frontier.length && found.size < query.maxEdges; start += FRONTIER_SLICE) {
        takeTurns(heaviestEdges(file, frontier.slice(start, start + FRONTIER_SLICE), query), query.maxEdges, found);
      }
      const next = new Set<number>();
      for (const [source, , target] of found.values()) {
        if (!reached.has(source)) next.add(source);
        if (!reached.has(target)) next.add(target);
      }
      for (const node of next) reached.add(node);
      frontier = [...next];
    }
    return readEdges(file, [...found.values()]);
  });
}

function takeTurns(lists: readonly (readonly FoundEdge[])[], maxEdges: number, found: Map<string, FoundEdge>): void {
  const longest = lists.reduce((length, list) => Math.max(length, list.length), 0);
  for (let turn = 0; turn < longest; turn++) {
    for (const list of lists) {
      const edge = list[turn];
      if (edge === undefined) continue;
      if (found.size >= maxEdges) return;
      // An edge that is found again keeps its place.
      found.set(nameOf(edge), edge);
    }
  }
}

/** The heaviest edges at either end of each node, at most `limitPerNode`, in the order of the nodes. */
function heaviestEdges(
  file: OpenFile,
  nodes: readonly number[],
  options: NeighbourOptions,
): readonly (readonly FoundEdge[])[] {
  const lists = new Map<number, FoundEdge[]>(nodes.map((node) => [node, []]));
  for (const end of ['source', 'target'] as const) {
    for (const edge of inBatches(nodes, (batch) => readEnd(file, batch, end, options))) {
      // An edge from a node to itself was found at its source.
      const [source, , target] = edge;
      if (end === 'source') lists.get(source)?.push(edge);
      else if (source !== target) lists.get(target)?.push(edge);
    }
  }
  const limit = options.limitPerNode ?? DEFAULT_LIMIT_PER_NODE;
  return [...lists.values()].map((edges) => edges.sort(heaviestFirst).slice(0, limit));
}

/**
 * Edges with one of the nodes at `end`. One statement for many nodes costs a third of one for each, but cannot limit the
 * rows of each node; so when the rows are too many, the nodes are read in smaller groups, and a hub alone with its limit.
 */
function readEnd(file: OpenFile, nodes: readonly number[], end: End, options: NeighbourOptions): readonly FoundEdge[] {
  const { relations, excludeRelations = [], limitPerNode = DEFAULT_LIMIT_PER_NODE } = options;
  const conditions = [
    ...(relations === undefined ? [] : [`AND relation IN (${placeholders(relations)})`]),
    ...(excludeRelations.length === 0 ? [] : [`AND relation NOT IN (${placeholders(excludeRelations)})`]),
  ].join(' ');
  const columns = `SELECT source, relation, target, origin, weight FROM edge_row INDEXED BY edge_row_${end}`;
  const parameters = [...nodes, ...(relations ?? []), ...excludeRelations];
  if (nodes.length === 1) {
    const sql = `${columns} WHERE ${end} = ? ${conditions} ORDER BY weight DESC, relation LIMIT ?`;
    return file.all(sql, [...parameters, limitPerNode]) as readonly unknown[] as readonly FoundEdge[];
  }
  const sql = `${columns} WHERE ${end} IN (${placeholders(nodes)}) ${conditions} LIMIT ${ROWS_PER_READ}`;
  const rows = file.all(sql, parameters) as readonly unknown[] as readonly FoundEdge[];
  if (rows.length < ROWS_PER_READ) return rows;
  return inBatches(nodes, (group) => readEnd(file, group, end, options), nodes.length - 1);
}

function nameOf([source, relation, target, origin]: FoundEdge): string {
  return `${source} ${target} ${origin} ${relation}`;
}

/** Sorting is stable: equal weights keep the order of the index. */
function heaviestFirst(a: FoundEdge, b: FoundEdge): number {
  return b[4] - a[4];
}

/** Unknown ids are left out. */
function nodeNumbers(file: OpenFile, ids: readonly string[]): readonly number[] {
  return [...new Set(ids)].flatMap((id) =>
    file.all('SELECT node FROM node_key WHERE id = ?', [id]).map(([node]) => Number(node)),
  );
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

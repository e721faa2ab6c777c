import type { NeighbourOptions, SubgraphQuery } from '../../ports/graph-store.ts';
import { byPlace, type EdgeKey, inBatches, type PackedEdge, readEdges } from './graph-reader.ts';
import { type OpenFile, reading } from './open-files.ts';

const DEFAULT_LIMIT_PER_NODE = 64;

/** An edge as the indexes hold it: its key, and the weight to choose by. */
type FoundEdge = readonly [...key: EdgeKey, weight: number];

export function readNeighbours(
  file: OpenFile,
  ids: readonly string[],
  options: NeighbourOptions,
): readonly PackedEdge[] {
  return reading(file, () => {
    const found = new Map<string, FoundEdge>();
    for (const edges of heaviestEdges(
      file,
      nodeNumbers(file, ids),
      options,
      options.limitPerNode ?? DEFAULT_LIMIT_PER_NODE,
    )) {
      for (const edge of edges) found.set(nameOf(edge), edge);
    }
    return readEdges(file, [...found.values()].sort(heaviestFirst));
  });
}

/**
 * Breadth first. Within a hop the nodes take turns: the heaviest edge of each, then the second of each …, so that a cut
 * leaves every node its heaviest edges. Lists are read in growing slices, so the work follows `maxEdges`.
 */
export function readSubgraph(file: OpenFile, query: SubgraphQuery): readonly PackedEdge[] {
  return reading(file, () => {
    const found = new Map<string, FoundEdge>();
    const reached = new Set(nodeNumbers(file, query.seeds));
    let frontier: readonly number[] = [...reached];
    for (let hop = 0; hop < query.hops && frontier.length > 0 && found.size < query.maxEdges; hop++) {
      takeTurns(file, frontier, query, found);
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

/** Adds edges of the frontier to `found` until it is full or every list is at its end. */
function takeTurns(
  file: OpenFile,
  frontier: readonly number[],
  query: SubgraphQuery,
  found: Map<string, FoundEdge>,
): void {
  const limit = query.limitPerNode ?? DEFAULT_LIMIT_PER_NODE;
  let active = frontier;
  let turn = 0;
  let slice = Math.min(limit, Math.ceil((2 * (query.maxEdges - found.size)) / frontier.length) + 2);
  while (active.length > 0 && turn < limit) {
    const lists = heaviestEdges(file, active, query, slice);
    for (; turn < slice; turn++) {
      for (const list of lists) {
        const edge = list[turn];
        if (edge === undefined) continue;
        if (found.size >= query.maxEdges) return;
        // An edge that is found again keeps its place.
        found.set(nameOf(edge), edge);
      }
    }
    active = active.filter((_, index) => (lists[index]?.length ?? 0) >= slice);
    slice = Math.min(limit, slice * 4);
  }
}

/**
 * The `limit` heaviest edges at either end of each node. One statement reads many nodes, each with its limit (a plain join
 * could not, and a hub would give all it has); lists come as JSON, which halves the cost of a statement per node.
 */
function heaviestEdges(
  file: OpenFile,
  nodes: readonly number[],
  options: NeighbourOptions,
  limit: number,
): readonly (readonly FoundEdge[])[] {
  const { relations, excludeRelations = [] } = options;
  const conditions = [
    ...(relations === undefined ? [] : [`AND relation IN (${placeholders(relations)})`]),
    ...(excludeRelations.length === 0 ? [] : [`AND relation NOT IN (${placeholders(excludeRelations)})`]),
  ].join(' ');
  const end = (own: 'source' | 'target', other: 'source' | 'target', more = '') => `(
    SELECT json_group_array(json_array(relation, ${other}, origin, weight)) FROM (
      SELECT relation, ${other}, origin, weight FROM edge_row INDEXED BY edge_row_${own}
      WHERE ${own} = wanted.node ${more} ${conditions} ORDER BY weight DESC, relation LIMIT ?))`;
  const parameters = [...(relations ?? []), ...excludeRelations, limit];
  return inBatches(nodes, (batch) =>
    file
      .all(
        // An edge from a node to itself is read at its source.
        `WITH wanted (place, node) AS (VALUES ${batch.map(() => '(?, ?)').join(', ')})
         SELECT place, node, ${end('source', 'target')}, ${end('target', 'source', 'AND source <> target')} FROM wanted`,
        [...batch.flatMap((node, place) => [place, node]), ...parameters, ...parameters],
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

/** Unknown ids are left out. */
function nodeNumbers(file: OpenFile, ids: readonly string[]): readonly number[] {
  return [...new Set(ids)].flatMap((id) =>
    file.all('SELECT node FROM node_key WHERE id = ?', [id]).map(([node]) => Number(node)),
  );
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

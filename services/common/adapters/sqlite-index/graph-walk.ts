import type { NeighbourOptions, SubgraphQuery } from '../../ports/graph-store.ts';
import { createEdgeReader, type EdgeKey, type PackedEdge } from './graph-reader.ts';
import { type OpenFile, reading } from './open-files.ts';

const DEFAULT_LIMIT_PER_NODE = 64;

/** An edge found in an index: its key and weight, enough to choose by. */
interface FoundEdge {
  readonly key: EdgeKey;
  readonly name: string;
  readonly weight: number;
}

export function readNeighbours(
  file: OpenFile,
  ids: readonly string[],
  options: NeighbourOptions,
): readonly PackedEdge[] {
  return reading(file, () => {
    const limit = options.limitPerNode ?? DEFAULT_LIMIT_PER_NODE;
    const found = new Map<string, FoundEdge>();
    for (const node of nodeNumbers(file, ids)) {
      for (const edge of heaviestEdges(file, node, options, limit)) found.set(edge.name, edge);
    }
    const read = createEdgeReader(file);
    return [...found.values()].sort(heaviestFirst).map(({ key }) => read(key));
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
      for (const { key } of found.values()) {
        for (const end of [key[0], key[2]]) if (!reached.has(end)) next.add(end);
      }
      for (const node of next) reached.add(node);
      frontier = [...next];
    }
    const read = createEdgeReader(file);
    return [...found.values()].map(({ key }) => read(key));
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
    const lists = active.map((node) => ({ node, edges: heaviestEdges(file, node, query, slice) }));
    for (; turn < slice; turn++) {
      for (const { edges } of lists) {
        const edge = edges[turn];
        if (edge === undefined || found.has(edge.name)) continue;
        if (found.size >= query.maxEdges) return;
        found.set(edge.name, edge);
      }
    }
    active = lists.filter(({ edges }) => edges.length >= slice).map(({ node }) => node);
    slice = Math.min(limit, slice * 4);
  }
}

/** The `limit` heaviest edges at either end of a node. */
function heaviestEdges(file: OpenFile, node: number, options: NeighbourOptions, limit: number): readonly FoundEdge[] {
  const { relations, excludeRelations = [] } = options;
  const conditions = [
    ...(relations === undefined ? [] : [`AND relation IN (${placeholders(relations)})`]),
    ...(excludeRelations.length === 0 ? [] : [`AND relation NOT IN (${placeholders(excludeRelations)})`]),
  ].join(' ');
  const parameters = [node, ...(relations ?? []), ...excludeRelations, limit];
  const at = (end: 'source' | 'target') =>
    file
      .all(
        `SELECT source, relation, target, origin, weight FROM edge_row INDEXED BY edge_row_${end}
         WHERE ${end} = ? ${conditions} ORDER BY weight DESC, relation LIMIT ?`,
        parameters,
      )
      .map(foundEdge);
  const outgoing = at('source');
  const incoming = at('target').filter(({ key }) => key[0] !== key[2]);
  if (outgoing.length === 0) return incoming;
  if (incoming.length === 0) return outgoing;
  return [...outgoing, ...incoming].sort(heaviestFirst).slice(0, limit);
}

function foundEdge(row: readonly unknown[]): FoundEdge {
  const [source, relation, target, origin, weight] = row as [number, string, number, number, number];
  return { key: [source, relation, target, origin], name: `${source} ${target} ${origin} ${relation}`, weight };
}

function heaviestFirst(a: FoundEdge, b: FoundEdge): number {
  return b.weight - a.weight || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** Unknown ids are left out. */
function nodeNumbers(file: OpenFile, ids: readonly string[]): readonly number[] {
  return [...new Set(ids)].flatMap((id) =>
    file.all('SELECT node FROM node_key WHERE id = ?', [id]).map(([node]) => Number(node)),
  );
}

function placeholders(values: readonly string[]): string {
  return values.map(() => '?').join(', ');
}

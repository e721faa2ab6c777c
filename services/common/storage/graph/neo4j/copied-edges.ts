import type { DataItemId } from '../../../kernel/brand.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import type { CopiedGraphReads, NeighbourOptions } from '../../ports/graph-store.ts';
import type { CopyOptions, IndexCopy } from '../../ports/index-entry.ts';
import { DEFAULT_LIMIT_PER_NODE, readSeenEdges } from '../../ports/read-seen.ts';
import { heaviestFirst } from './evidence-reader.ts';
import { EDGE_COLUMNS, readEdge, type StoredEdge } from './evidence-rows.ts';
import type { Neo4jClient } from './neo4j-client.ts';

/** `place`: number of the record. Of edges of one weight the index gives those with the higher one first. */
type CopiedEdge = StoredEdge & { readonly place: number };

const ROWS_AT_ONCE = 2000;
/** Memory of an edge beside its texts. */
const BYTES_PER_EDGE = 300;

/** In the order of an index, so that each page ends at its limit. */
const PAGE = `MATCH (e:EngramEdge) WHERE e.tenant = $tenant AND e.dataset = $dataset AND e.key > $after
  RETURN ${EDGE_COLUMNS}, elementId(e) AS place ORDER BY e.tenant, e.dataset, e.key LIMIT $limit`;

/** Copies the committed edges of a dataset; its reads answer as `evidence-reader.ts` does, ties of weight included. */
export async function copyEdges(
  client: Neo4jClient,
  scope: DatasetScope,
  { committed, maxBytes, signal }: CopyOptions,
): Promise<IndexCopy<CopiedGraphReads> | null> {
  const bySource = new Map<string, CopiedEdge[]>();
  const byTarget = new Map<string, CopiedEdge[]>();
  const texts = new Map<string, string>();
  /** One string for all edges that hold the same. */
  const shared = (text: string) => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };
  let bytes = 0;
  for (let after = ''; ; ) {
    const page = { ...scope, after, limit: BigInt(ROWS_AT_ONCE) };
    const rows = await client.read((run) => run<StoredEdge & { readonly place: string }>(PAGE, page), { signal });
    for (const { place, ...row } of rows) {
      if (committed.get(row.item as DataItemId) !== row.generation) continue;
      const [source, target] = [shared(row.source), shared(row.target)];
      const own = { source, target, relation: shared(row.relation), item: shared(row.item) };
      const edge = { ...row, ...own, place: Number(place.slice(place.lastIndexOf(':') + 1)) };
      append(bySource, source, edge);
      append(byTarget, target, edge);
      bytes += BYTES_PER_EDGE + row.key.length + (row.properties?.length ?? 0);
    }
    if (bytes > maxBytes) return null;
    after = rows.at(-1)?.key ?? '';
    if (rows.length < ROWS_AT_ONCE) break;
  }
  for (const edges of [...bySource.values(), ...byTarget.values()]) {
    edges.sort((a, b) => b.weight - a.weight || b.place - a.place);
  }
  return { bytes, reads: readsOf(bySource, byTarget) };
}

function append(edges: Map<string, CopiedEdge[]>, end: string, edge: CopiedEdge): void {
  const known = edges.get(end);
  if (known === undefined) edges.set(end, [edge]);
  else known.push(edge);
}

type Edges = ReadonlyMap<string, readonly CopiedEdge[]>;

function readsOf(bySource: Edges, byTarget: Edges): CopiedGraphReads {
  const heaviestAt = (id: string, options: NeighbourOptions & { readonly limit: number }): readonly CopiedEdge[] => {
    const { relations, excludeRelations, direction, limit } = options;
    const isAsked = ({ relation }: CopiedEdge) =>
      (relations === undefined || relations.includes(relation)) && excludeRelations?.includes(relation) !== true;
    const leaving = direction === 'in' ? [] : first(bySource.get(id), limit, isAsked);
    // An edge from a node to itself is read at its source.
    const isOfOther = (edge: CopiedEdge) => (direction === 'in' || edge.source !== id) && isAsked(edge);
    const arriving = direction === 'out' ? [] : first(byTarget.get(id), limit, isOfOther);
    return [...leaving, ...arriving].sort(heaviestFirst).slice(0, limit);
  };
  return {
    neighbours: (scope, ids, options, signal) =>
      readSeenEdges(scope, ids, options, async (some, wider) => {
        signal?.throwIfAborted();
        const { limitPerNode: limit = DEFAULT_LIMIT_PER_NODE, withProperties = true } = wider;
        const found = new Map<string, CopiedEdge>();
        for (const id of new Set(some))
          for (const edge of heaviestAt(id, { ...wider, limit })) found.set(edge.key, edge);
        return [...found.values()].sort(heaviestFirst).map(withProperties ? readEdge : withoutProperties);
      }),
    async pathsOver(_, ids, { relation, leaving, arriving }, signal) {
      signal?.throwIfAborted();
      const isAsked = (edge: CopiedEdge) => edge.relation === relation;
      const left = [...new Set(ids)].flatMap((id) => first(bySource.get(id), leaving, isAsked));
      const targets = new Set(left.map(({ target }) => target));
      const arrived = [...targets].flatMap((id) => first(byTarget.get(id), arriving, isAsked));
      return {
        leaving: left.sort(heaviestFirst).map(readEdge),
        arriving: arrived.sort(heaviestFirst).map(withoutProperties),
      };
    },
  };
}

function first(
  edges: readonly CopiedEdge[] = [],
  limit: number,
  isAsked: (edge: CopiedEdge) => boolean,
): readonly CopiedEdge[] {
  const found: CopiedEdge[] = [];
  for (const edge of edges) {
    if (found.length >= limit) break;
    if (isAsked(edge)) found.push(edge);
  }
  return found;
}

function withoutProperties(edge: CopiedEdge) {
  return readEdge({ ...edge, properties: null });
}

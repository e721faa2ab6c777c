import type { DataItemId } from '../../../kernel/brand.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import type { CopiedGraphReads, EdgeEvidence, NeighbourOptions } from '../../ports/graph-store.ts';
import { type CopyOptions, changedItems, type IndexCopy } from '../../ports/index-entry.ts';
import { DEFAULT_LIMIT_PER_NODE, readSeenEdges } from '../../ports/read-seen.ts';
import { heaviestFirst } from './evidence-reader.ts';
import { EDGE_COLUMNS, readEdge, type StoredEdge } from './evidence-rows.ts';
import type { Neo4jClient } from './neo4j-client.ts';

/** `place`: number of the record. Of edges of one weight the index gives those with the higher one first. */
type CopiedEdge = StoredEdge & { readonly place: number };

const ROWS_AT_ONCE = 2000;
/** Memory of an edge beside its texts. */
const BYTES_PER_EDGE = 500;

/** In the order of an index, so that each page ends at its limit; `items`: those of these items, null: of all. */
const PAGE = `MATCH (e:EngramEdge) WHERE e.tenant = $tenant AND e.dataset = $dataset AND e.key > $after
    AND ($items IS NULL OR e.item IN $items)
  RETURN ${EDGE_COLUMNS}, elementId(e) AS place ORDER BY e.tenant, e.dataset, e.key LIMIT $limit`;

interface Copied {
  readonly committed: CopyOptions['committed'];
  readonly edges: readonly CopiedEdge[];
}

/** Copies the committed edges of a dataset; its reads answer as `evidence-reader.ts` does, ties of weight included. */
export async function copyEdges(
  client: Neo4jClient,
  scope: DatasetScope,
  { committed, maxBytes, signal }: CopyOptions,
  before: Copied | null = null,
): Promise<IndexCopy<CopiedGraphReads> | null> {
  const items = before && changedItems(before.committed, committed);
  const changed = new Set<string>(items);
  const edges: CopiedEdge[] = [];
  const texts = new Map<string, string>();
  /** One string for all edges that hold the same. */
  const shared = (text: string) => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };
  let bytes = 0;
  const add = (edge: CopiedEdge) => {
    if (committed.get(edge.item as DataItemId) !== edge.generation) return;
    const [source, target] = [shared(edge.source), shared(edge.target)];
    edges.push({ ...edge, source, target, relation: shared(edge.relation), item: shared(edge.item) });
    bytes += BYTES_PER_EDGE + edge.key.length + 3 * (edge.properties?.length ?? 0);
  };
  for (const edge of before?.edges ?? []) if (!changed.has(edge.item)) add(edge);
  for (let after = ''; items?.length !== 0; ) {
    const page = { ...scope, after, items, limit: BigInt(ROWS_AT_ONCE) };
    const rows = await client.read((run) => run<StoredEdge & { readonly place: string }>(PAGE, page), { signal });
    for (const { place, ...row } of rows) add({ ...row, place: Number(place.slice(place.lastIndexOf(':') + 1)) });
    if (bytes > maxBytes) return null;
    after = rows.at(-1)?.key ?? '';
    if (rows.length < ROWS_AT_ONCE) break;
  }
  const copied = { committed, edges };
  return { bytes, reads: readsOf(edges), updated: (options) => copyEdges(client, scope, options, copied) };
}

/** An edge at its place among all, heaviest first, and what is read of it: its properties once they are asked for. */
interface RankedEdge {
  readonly edge: CopiedEdge;
  readonly rank: number;
  readonly bare: EdgeEvidence;
  whole: EdgeEvidence | null;
}

function append(edges: Map<string, RankedEdge[]>, end: string, edge: RankedEdge): void {
  const known = edges.get(end);
  if (known === undefined) edges.set(end, [edge]);
  else known.push(edge);
}

/** The edges of each source and of each target, heaviest first and then by their places. */
function byEnds(ranked: readonly RankedEdge[]) {
  const bySource = new Map<string, RankedEdge[]>();
  const byTarget = new Map<string, RankedEdge[]>();
  for (const one of ranked) {
    append(bySource, one.edge.source, one);
    append(byTarget, one.edge.target, one);
  }
  for (const some of [...bySource.values(), ...byTarget.values()]) {
    some.sort(({ edge: a }, { edge: b }) => b.weight - a.weight || b.place - a.place);
  }
  return { bySource, byTarget };
}

function readsOf(edges: readonly CopiedEdge[]): CopiedGraphReads {
  const ranked = edges
    .toSorted(heaviestFirst)
    .map((edge, rank): RankedEdge => ({ edge, rank, bare: readEdge({ ...edge, properties: null }), whole: null }));
  const { bySource, byTarget } = byEnds(ranked);
  /** Numbers are sorted much faster than edges. */
  const inOrder = (found: Iterable<RankedEdge>): readonly RankedEdge[] => {
    const ranks = Int32Array.from(found, ({ rank }) => rank).sort();
    return Array.from(ranks, (rank) => ranked[rank] as RankedEdge);
  };
  const bareOf = ({ bare }: RankedEdge) => bare;
  const wholeOf = (one: RankedEdge) => {
    one.whole ??= readEdge(one.edge);
    return one.whole;
  };
  const heaviestAt = (id: string, options: NeighbourOptions & { readonly limit: number }): readonly RankedEdge[] => {
    const { relations, excludeRelations, direction, limit } = options;
    const isAsked = ({ relation }: CopiedEdge) =>
      (relations === undefined || relations.includes(relation)) && excludeRelations?.includes(relation) !== true;
    const leaving = direction === 'in' ? [] : first(bySource.get(id), limit, isAsked);
    // An edge from a node to itself is read at its source.
    const isOfOther = (edge: CopiedEdge) => (direction === 'in' || edge.source !== id) && isAsked(edge);
    const arriving = direction === 'out' ? [] : first(byTarget.get(id), limit, isOfOther);
    return inOrder([...leaving, ...arriving]).slice(0, limit);
  };
  return {
    neighbours: (scope, ids, options, signal) =>
      readSeenEdges(scope, ids, options, async (some, wider) => {
        signal?.throwIfAborted();
        const { limitPerNode: limit = DEFAULT_LIMIT_PER_NODE, withProperties = true } = wider;
        const found = new Set([...new Set(some)].flatMap((id) => heaviestAt(id, { ...wider, limit })));
        return inOrder(found).map(withProperties ? wholeOf : bareOf);
      }),
    async pathsOver(_, ids, { relation, leaving, arriving }, signal) {
      signal?.throwIfAborted();
      const isAsked = (edge: CopiedEdge) => edge.relation === relation;
      const left = [...new Set(ids)].flatMap((id) => first(bySource.get(id), leaving, isAsked));
      const targets = new Set(left.map(({ edge }) => edge.target));
      const arrived = [...targets].flatMap((id) => first(byTarget.get(id), arriving, isAsked));
      return { leaving: inOrder(left).map(wholeOf), arriving: inOrder(arrived).map(bareOf) };
    },
  };
}

function first(
  edges: readonly RankedEdge[] = [],
  limit: number,
  isAsked: (edge: CopiedEdge) => boolean,
): readonly RankedEdge[] {
  const found: RankedEdge[] = [];
  for (const one of edges) {
    if (found.length >= limit) break;
    if (isAsked(one.edge)) found.push(one);
  }
  return found;
}

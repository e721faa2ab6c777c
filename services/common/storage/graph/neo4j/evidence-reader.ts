import type { Page } from '../../../kernel/result-page.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import type { NeighbourOptions, NodeEvidence, PathQuery, ScanQuery } from '../../ports/graph-store.ts';
import { DEFAULT_LIMIT_PER_NODE } from '../../ports/read-seen.ts';
import {
  EDGE_COLUMNS,
  EDGE_KEY_LIST,
  EDGE_LIST,
  type EdgeList,
  edgeOf,
  NODE_COLUMNS,
  originKey,
  readEdge,
  readNode,
  refOf,
  type StoredEdge,
  type StoredNode,
} from './evidence-rows.ts';
import type { Neo4jClient, Run } from './neo4j-client.ts';

const IDS_PER_STATEMENT = 2000;

export function createEvidenceReader(client: Neo4jClient) {
  return {
    async nodes(scope: DatasetScope, ids: readonly string[], perNode: number): Promise<readonly NodeEvidence[]> {
      const refs = [...new Set(ids)].map((id) => refOf(id));
      if (refs.length === 0) return [];
      const rows = await client.read((run) =>
        inSlices(refs, (slice) => run<StoredNode>(MOST_MENTIONED, { ...scope, refs: slice, perNode: BigInt(perNode) })),
      );
      return rows.map(readNode);
    },
    async neighbours(scope: DatasetScope, ids: readonly string[], options: NeighbourOptions, signal?: AbortSignal) {
      const refs = [...new Set(ids)].map((id) => refOf(id));
      signal?.throwIfAborted();
      if (refs.length === 0) return [];
      const limit = options.limitPerNode ?? DEFAULT_LIMIT_PER_NODE;
      const edges = await client.read((run) => heaviestEdges(run, scope, refs, { ...options, limit }), { signal });
      const found = new Map(edges.map((edge) => [edge.key, edge]));
      return [...found.values()].sort(heaviestFirst).map(readEdge);
    },
    async pathsOver(scope: DatasetScope, ids: readonly string[], query: PathQuery, signal?: AbortSignal) {
      const refs = [...new Set(ids)].map((id) => refOf(id));
      signal?.throwIfAborted();
      if (refs.length === 0) return { leaving: [], arriving: [] };
      const { relation, leaving, arriving } = query;
      const parameters = { ...scope, refs, relation, leaving: BigInt(leaving), arriving: BigInt(arriving) };
      const rows = await client.read(
        (run) =>
          run<{ readonly leaving: readonly EdgeList[]; readonly arriving: readonly Arriving[] }>(PATHS, parameters),
        { signal },
      );
      const edgesOf = (lists: readonly EdgeList[]) => lists.map(edgeOf).sort(heaviestFirst).map(readEdge);
      const expanded = rows
        .flatMap((row) => row.arriving)
        .flatMap(([target, edges]) =>
          edges.map(([key, source, ...rest]): EdgeList => [key, source, relation, target, ...rest]),
        );
      return { leaving: edgesOf(rows.flatMap((row) => row.leaving)), arriving: edgesOf(expanded) };
    },
    async scanNodes(scope: DatasetScope, query: ScanQuery) {
      return page(await scan<StoredNode>(scope, query, 'n:EngramNode', 'type', NODE_COLUMNS), query.limit, readNode);
    },
    async scanEdges(scope: DatasetScope, query: ScanQuery) {
      return page(
        await scan<StoredEdge>(scope, query, 'e:EngramEdge', 'relation', EDGE_COLUMNS),
        query.limit,
        readEdge,
      );
    },
  };

  /** One row more than requested says whether there is a next page. Rows of a node or edge share the start of their key. */
  async function scan<Row extends object>(
    scope: DatasetScope,
    query: ScanQuery,
    pattern: string,
    typeProperty: string,
    columns: string,
  ): Promise<readonly Row[]> {
    const row = pattern.slice(0, 1);
    const origin = query.provenance === undefined ? null : originKey(query.provenance);
    const ofOrigin = origin === null ? '' : `AND ${row}.origin = $origin`;
    // The order of an index either way.
    const place = origin === null ? '' : `${row}.origin, `;
    const statement = `MATCH (${pattern})
      WHERE ${row}.tenant = $tenant AND ${row}.dataset = $dataset AND ${row}.key > $after
        AND ($types IS NULL OR ${row}.${typeProperty} IN $types) ${ofOrigin}
      RETURN ${columns} ORDER BY ${row}.tenant, ${row}.dataset, ${place}${row}.key LIMIT $limit`;
    const { after, limit, types = null } = query;
    return client.read((run) =>
      run<Row & Record<string, unknown>>(statement, {
        ...scope,
        after: after ?? '',
        limit: BigInt(limit + 1),
        types,
        ...(origin === null ? {} : { origin }),
      }),
    );
  }
}

// The long ORDER BY is the order of an index: rows are read in it and the reading ends at the limit.
const MOST_MENTIONED = `UNWIND $refs AS ref CALL (ref) {
  MATCH (n:EngramNode) WHERE n.tenant = $tenant AND n.dataset = $dataset AND n.ref = ref AND n.mentions IS NOT NULL
  RETURN n ORDER BY n.tenant DESC, n.dataset DESC, n.ref DESC, n.mentions DESC LIMIT $perNode }
  RETURN ${NODE_COLUMNS}`;

/** Matches the edges `e` of the node `ref` at one of their ends, heaviest first. */
const edgesAt = (end: 'sourceRef' | 'targetRef', conditions: string, limit: string) =>
  `MATCH (e:EngramEdge) WHERE e.tenant = $tenant AND e.dataset = $dataset AND e.${end} = ref AND e.weight IS NOT NULL
     ${conditions}
   RETURN e ORDER BY e.tenant DESC, e.dataset DESC, e.${end} DESC, e.weight DESC LIMIT ${limit}`;

/** The edges at one target, without what they have in common. */
type Arriving = readonly [
  target: string,
  edges: readonly (readonly [key: string, source: string, item: string, generation: number, weight: number])[],
];

const PATHS = `CALL () { UNWIND $refs AS ref CALL (ref) { ${edgesAt('sourceRef', 'AND e.relation = $relation', '$leaving')} }
    RETURN collect(${EDGE_LIST}) AS leaving, collect(DISTINCT e.targetRef) AS targets }
  CALL (targets) { UNWIND targets AS ref CALL (ref) { ${edgesAt('targetRef', 'AND e.relation = $relation', '$arriving')} }
    WITH ref, head(collect(e.target)) AS target, collect([e.key, e.source, e.item, e.generation, e.weight]) AS edges
    RETURN collect([target, edges]) AS arriving }
  RETURN leaving, arriving`;

/** The heaviest edges at either end of each node, at most `limit` of each. */
async function heaviestEdges(
  run: Run,
  scope: DatasetScope,
  refs: readonly string[],
  query: NeighbourOptions & { readonly limit: number },
): Promise<readonly StoredEdge[]> {
  const { relations = null, excludeRelations = [], direction, limit, withProperties = true } = query;
  const conditions = [
    ...(relations === null ? [] : ['AND e.relation IN $relations']),
    ...(excludeRelations.length === 0 ? [] : ['AND NOT e.relation IN $excludeRelations']),
  ].join(' ');
  // An edge from a node to itself is read at its source.
  const toOthers = direction === 'in' ? conditions : `AND e.sourceRef <> ref ${conditions}`;
  const ends = [
    ...(direction === 'in' ? [] : [edgesAt('sourceRef', conditions, '$limit')]),
    ...(direction === 'out' ? [] : [edgesAt('targetRef', toOthers, '$limit')]),
  ];
  const list = withProperties ? EDGE_LIST : EDGE_KEY_LIST;
  const statement = `UNWIND $refs AS ref CALL (ref) { ${ends.join('\nUNION ALL\n')} } RETURN ref, collect(${list}) AS edges`;
  const rows = await inSlices(refs, (slice) =>
    run<{ readonly edges: readonly EdgeList[] }>(statement, {
      ...scope,
      refs: slice,
      relations,
      excludeRelations,
      limit: BigInt(limit),
    }),
  );
  return rows.flatMap(({ edges }) => edges.map(edgeOf).sort(heaviestFirst).slice(0, limit));
}

export function heaviestFirst(
  a: { readonly key: string; readonly weight: number },
  b: { readonly key: string; readonly weight: number },
): number {
  return b.weight - a.weight || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** Long lists of ids in several statements, so that none of them is unbounded. */
async function inSlices<Value, Row>(
  values: readonly Value[],
  read: (slice: readonly Value[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (values.length <= IDS_PER_STATEMENT) return read(values);
  const rows: Row[] = [];
  for (const slice of slices(values, IDS_PER_STATEMENT)) {
    for (const row of await read(slice)) rows.push(row);
  }
  return rows;
}

function page<Stored extends { readonly key: string }, Row>(
  rows: readonly Stored[],
  limit: number,
  read: (row: Stored) => Row,
): Page<Row> {
  const items = rows.slice(0, limit);
  return { items: items.map(read), next: rows.length > limit ? (items.at(-1)?.key ?? null) : null };
}

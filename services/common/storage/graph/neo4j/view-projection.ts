import { type MergedEdge, type MergedNode, mergeEdges, mergeNodes } from '../../../domain/graph/merge.ts';
import { createShownGraph } from '../../../domain/graph/shown.ts';
import { INTERNAL_RELATIONS } from '../../../domain/index-rows.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { EVIDENCE_PER_ELEMENT, edgeProperties, labelsOf, nodeProperties, typeOf } from '../../cypher/view.ts';
import { datasetLabel } from '../../rules/stored-scope.ts';
import {
  EDGE_COLUMNS,
  edgeRef,
  NODE_COLUMNS,
  readEdge,
  readNode,
  refOf,
  type StoredEdge,
  type StoredNode,
} from './evidence-rows.ts';
import type { Run } from './neo4j-client.ts';
import { VIEW_KEY, VIEW_LABEL } from './print-query.ts';

/** Runs work in a transaction that holds the dataset's lock and the lease of this refresh. */
export type Transaction = <T>(work: (run: Run) => Promise<T>) => Promise<T>;

interface Projection {
  readonly scope: DatasetScope;
  readonly names: KnownNames;
  /** Nothing is in the view yet, so nothing has to be taken out. */
  readonly isFirst: boolean;
}

/** Nodes or edges brought up to date in one transaction. */
const PAGE = 1000;
/** With more changed origins than this, reading the whole graph once beats reading each of them. */
const FEW_ORIGINS = 16;

/**
 * Brings every node and edge that the changed origins (by key) state up to date with the evidence that is wanted. All
 * nodes before the first edge: an edge is shown between two nodes that are.
 */
export async function project(
  transaction: Transaction,
  scope: DatasetScope,
  changed: readonly string[],
  names: KnownNames,
): Promise<void> {
  const isFirst = await transaction((run) => isViewEmpty(run, scope));
  const projection: Projection = { scope, names, isFirst };
  const isPartial = changed.length <= FEW_ORIGINS;
  const created: string[] = [];
  const origins = isPartial ? changed : [null];
  await forEachPage(transaction, scope, 'EngramNode', origins, async (run, refs) => {
    created.push(...(await projectNodes(run, projection, refs)));
  });
  await forEachPage(transaction, scope, 'EngramEdge', origins, (run, refs) => projectEdges(run, projection, refs));
  // Edges that other origins state may have waited for these nodes.
  for (const refs of isPartial ? slices(created, PAGE) : []) {
    const touching = await transaction((run) => touchingEdges(run, scope, refs, changed));
    for (const edges of slices(touching, PAGE)) await transaction((run) => projectEdges(run, projection, edges));
  }
}

async function isViewEmpty(run: Run, scope: DatasetScope): Promise<boolean> {
  const rows = await run<{ readonly count: number }>(`MATCH (n:\`${datasetLabel(scope)}\`) RETURN count(n) AS count`);
  return rows[0]?.count === 0;
}

/** The nodes or edges that the origins (null: any) state, by ref, a page in a transaction and each once. */
async function forEachPage(
  transaction: Transaction,
  scope: DatasetScope,
  label: 'EngramNode' | 'EngramEdge',
  origins: readonly (string | null)[],
  work: (run: Run, refs: readonly string[]) => Promise<void>,
): Promise<void> {
  const seen = new Set<string>();
  for (const origin of origins) {
    const [filter, order] = origin === null ? ['', ''] : ['AND n.origin = $origin', 'n.origin, '];
    const statement = `MATCH (n:${label}) WHERE n.tenant = $tenant AND n.dataset = $dataset ${filter} AND n.key > $after
      RETURN n.key AS key ORDER BY n.tenant, n.dataset, ${order}n.key LIMIT ${PAGE}`;
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after;
      const page = await transaction(async (run) => {
        const rows = await run<{ readonly key: string }>(statement, { ...scope, origin, after: from });
        const refs = [...new Set(rows.map(({ key }) => key.slice(0, key.length / 2)))];
        await work(run, refs.filter((ref) => !seen.has(ref))); // biome-ignore format: one line
        return { refs, next: rows.length < PAGE ? null : (rows.at(-1)?.key ?? null) };
      });
      // In the order of keys only the next page can have the same again.
      if (origin === null) seen.clear();
      for (const ref of page.refs) seen.add(ref);
      after = page.next;
    }
  }
}

/** Evidence that belongs in the view; asks the origin of each row. */
const OF_WANTED_ORIGIN =
  'EXISTS { MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset, key: n.origin}) WHERE o.isWanted }';
const NODE_OF_REF = 'n.tenant = $tenant AND n.dataset = $dataset AND n.ref = ref AND n.mentions IS NOT NULL';
const EDGE_OF_REF = 'n.tenant = $tenant AND n.dataset = $dataset AND n.key STARTS WITH ref';

/** Returns the refs of the nodes that the view did not have. */
async function projectNodes(run: Run, { scope, names, isFirst }: Projection, refs: readonly string[]) {
  const rows = await run<StoredNode & { readonly ref: string }>(
    `UNWIND $refs AS ref CALL (ref) {
       MATCH (n:EngramNode) WHERE ${NODE_OF_REF} AND ${OF_WANTED_ORIGIN}
       RETURN n ORDER BY n.tenant DESC, n.dataset DESC, n.ref DESC, n.mentions DESC LIMIT ${EVIDENCE_PER_ELEMENT} }
     RETURN ref, ${NODE_COLUMNS}`,
    { ...scope, refs },
  );
  const shown = createShownGraph();
  const merged = mergeNodes(rows.map(readNode)).filter(shown.shows);
  const refOfId = new Map(rows.map(({ ref, id }) => [id, ref]));
  const kept = new Set(merged.map(({ id }) => refOfId.get(id)));
  if (!isFirst) await removeNodes(run, scope, refs.filter((ref) => !kept.has(ref))); // biome-ignore format: one line
  const made = await run<{ readonly id: string }>(
    `UNWIND $rows AS row
     OPTIONAL MATCH (old:${VIEW_LABEL} {${VIEW_KEY}: row.ref})
     WITH row, old IS NULL AS isNew
     MERGE (n:${VIEW_LABEL} {${VIEW_KEY}: row.ref})
     REMOVE n:$([label IN labels(n) WHERE NOT label IN row.labels + ['${VIEW_LABEL}', $label]])
     SET n:$([$label] + row.labels), n = row.properties
     WITH row, isNew WHERE isNew RETURN row.properties.id AS id`,
    { rows: merged.map((node) => viewNode(scope, node, names)), label: datasetLabel(scope) },
  );
  return made.map(({ id }) => refOfId.get(id) as string);
}

async function removeNodes(run: Run, scope: DatasetScope, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  const rows = await run<{ readonly id: string }>(
    `UNWIND $refs AS ref CALL (ref) { MATCH (n:EngramNode) WHERE ${NODE_OF_REF} RETURN n.id AS id LIMIT 1 } RETURN id`,
    { ...scope, refs },
  );
  const gone = rows.map(({ id }) => viewRef(scope, id));
  await run(`UNWIND $gone AS ref MATCH (n:${VIEW_LABEL} {${VIEW_KEY}: ref}) DETACH DELETE n`, { gone });
}

async function projectEdges(run: Run, { scope, names, isFirst }: Projection, refs: readonly string[]): Promise<void> {
  const rows = await run<StoredEdge>(
    `UNWIND $refs AS ref CALL (ref) {
       MATCH (n:EngramEdge) WHERE ${EDGE_OF_REF} AND ${OF_WANTED_ORIGIN}
       RETURN n AS e ORDER BY n.weight DESC LIMIT ${EVIDENCE_PER_ELEMENT} }
     RETURN ${EDGE_COLUMNS}`,
    { ...scope, refs },
  );
  const merged = mergeEdges(rows.map(readEdge));
  if (!isFirst) await removeEdges(run, scope, refs);
  await run(
    `UNWIND $rows AS row
     MATCH (a:${VIEW_LABEL} {${VIEW_KEY}: row.source}), (b:${VIEW_LABEL} {${VIEW_KEY}: row.target})
     CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties`,
    {
      rows: merged
        .filter(({ relation }) => !INTERNAL_RELATIONS.has(relation))
        .map((edge) => viewEdge(scope, edge, names)),
    },
  );
}

async function removeEdges(run: Run, scope: DatasetScope, refs: readonly string[]): Promise<void> {
  const ends = await run<{ readonly ref: string; readonly source: string; readonly target: string }>(
    `UNWIND $refs AS ref CALL (ref) {
       MATCH (n:EngramEdge) WHERE ${EDGE_OF_REF} RETURN n.source AS source, n.target AS target LIMIT 1 }
     RETURN ref, source, target`,
    { ...scope, refs },
  );
  const old = ends.map(({ ref, source, target }) => ({
    ref,
    source: viewRef(scope, source),
    target: viewRef(scope, target),
  }));
  // `*1..1` makes the planner walk from the node found by its key; for a plain pattern it may read all relationships.
  await run(
    `UNWIND $old AS row
     MATCH (a:${VIEW_LABEL} {${VIEW_KEY}: row.source}), (b:${VIEW_LABEL} {${VIEW_KEY}: row.target})
     MATCH (a)-[found*1..1 {${VIEW_KEY}: row.ref}]->(b) UNWIND found AS r DELETE r`,
    { old },
  );
}

/** Edges that touch the nodes and that none of the origins has brought along already. */
async function touchingEdges(run: Run, scope: DatasetScope, refs: readonly string[], done: readonly string[]) {
  const end = (own: string) => `MATCH (e:EngramEdge)
    WHERE e.tenant = $tenant AND e.dataset = $dataset AND e.${own} = ref AND e.weight IS NOT NULL
      AND NOT e.origin IN $done RETURN e.ref AS edge`;
  const rows = await run<{ readonly edge: string }>(
    `UNWIND $refs AS ref CALL (ref) { ${end('sourceRef')} UNION ALL ${end('targetRef')} } RETURN DISTINCT edge`,
    { ...scope, refs, done },
  );
  return rows.map(({ edge }) => edge);
}

/**
 * Labels, types and property names are never forgotten by a server and their number is limited (65,000 relationship
 * types), yet they come from texts and from clients' graph models: beyond so many, further ones are not made.
 */
export const MAX_NAMES = 10_000;

export interface KnownNames {
  /** Whether the name may become a label, relationship type or property key; it counts as made from then on. */
  readonly admits: (name: string) => boolean;
}

function viewRef({ tenant, dataset }: DatasetScope, id: string): string {
  return refOf(tenant, dataset, id);
}

function viewNode(scope: DatasetScope, node: MergedNode, { admits }: KnownNames) {
  const ref = viewRef(scope, node.id);
  return { ref, labels: labelsOf(node.type, admits), properties: { ...nodeProperties(node, admits), [VIEW_KEY]: ref } };
}

function viewEdge(scope: DatasetScope, edge: MergedEdge, { admits }: KnownNames) {
  const ref = edgeRef(edge);
  return {
    ref,
    source: viewRef(scope, edge.source),
    target: viewRef(scope, edge.target),
    type: typeOf(edge.relation, admits),
    properties: { ...edgeProperties(edge, admits), [VIEW_KEY]: ref },
  };
}

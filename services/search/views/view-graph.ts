import { type MergedEdge, type MergedNode, mergeEdges, mergeNodes } from '../../common/domain/graph/merge.ts';
import { createShownGraph } from '../../common/domain/graph/shown.ts';
import { NODE_TYPES, RELATIONS, STRUCTURAL_RELATIONS } from '../../common/domain/index-rows.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { type Page, pagesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type {
  EdgeEvidence,
  GraphStore,
  NeighbourOptions,
  NodeEvidence,
} from '../../common/storage/ports/graph-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { TextIndex } from '../../common/storage/ports/text-index.ts';

interface ViewRequest {
  /** Returns the whole graph, whatever its size. */
  readonly full: boolean;
  readonly seedIds: readonly string[];
  /** Seeds are the nodes whose name or text contains all of its words. */
  readonly query: string | null;
  readonly depth: number;
  readonly maxSeeds: number;
  readonly maxNodes: number;
}

export interface GraphView extends WholeGraph {
  /** Creation times of nodes in epoch milliseconds, derived from their chunks. */
  readonly times: ReadonlyMap<string, number>;
  /** Number of nodes in the whole graph; null when only the neighbourhood of given nodes was read. */
  readonly totalNodes: number | null;
  readonly seeds: readonly string[];
  readonly seedSource: 'explicit' | 'query' | 'degree' | 'full';
}

export interface ViewDependencies {
  readonly graph: GraphStore;
  readonly text: TextIndex;
  readonly ledger: Ledger;
}

/** Returns the graph of a dataset, or the neighbourhood of its seeds: breadth first, at most `maxNodes` nodes. */
export async function viewGraph(
  dependencies: ViewDependencies,
  dataset: DatasetRef,
  request: ViewRequest,
): Promise<GraphView> {
  if (!request.full && request.seedIds.length > 0) {
    const seeds = [...new Set(request.seedIds)].slice(0, request.maxSeeds);
    const near = shownOf(await readNear(dependencies, scopeOf(dataset), seeds, request));
    const known = new Set(near.nodes.map(({ id }) => id));
    return {
      ...near,
      times: await timesOf(dependencies, dataset, near),
      totalNodes: null,
      seeds: seeds.filter((id) => known.has(id)),
      seedSource: 'explicit',
    };
  }
  const whole = shownOf(await readWholeGraph(dependencies, scopeOf(dataset)));
  const { seeds, seedSource } = chooseSeeds(whole, request);
  const view = seedSource === 'full' ? whole : neighbourhood(whole, seeds, request);
  const times = await timesOf(dependencies, dataset, view);
  return { ...view, times, totalNodes: whole.nodes.length, seeds, seedSource };
}

function shownOf({ nodes, edges }: WholeGraph): WholeGraph {
  const shown = createShownGraph();
  return { nodes: nodes.filter(shown.shows), edges: edges.filter(shown.showsEdge) };
}

function chooseSeeds(graph: WholeGraph, request: ViewRequest): Pick<GraphView, 'seeds' | 'seedSource'> {
  if (request.full) return { seeds: [], seedSource: 'full' };
  const words = (request.query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const degrees = degreesOf(graph);
  const byDegree = graph.nodes.toSorted(
    (a, b) => (degrees.get(b.id) ?? 0) - (degrees.get(a.id) ?? 0) || (a.id < b.id ? -1 : 1),
  );
  const named =
    words.length === 0
      ? []
      : byDegree.filter(({ name, description }) =>
          words.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
        );
  if (named.length > 0) return { seeds: named.slice(0, request.maxSeeds).map(({ id }) => id), seedSource: 'query' };
  return { seeds: byDegree.slice(0, request.maxSeeds).map(({ id }) => id), seedSource: 'degree' };
}

function degreesOf({ edges }: WholeGraph): ReadonlyMap<string, number> {
  const degrees = new Map<string, number>();
  for (const { source, target } of edges) {
    degrees.set(source, (degrees.get(source) ?? 0) + 1);
    degrees.set(target, (degrees.get(target) ?? 0) + 1);
  }
  return degrees;
}

function neighbourhood(graph: WholeGraph, seeds: readonly string[], { depth, maxNodes }: ViewRequest): WholeGraph {
  if (seeds.length === graph.nodes.length && seeds.length <= maxNodes) return graph;
  const neighbours = new Map<string, string[]>();
  for (const { source, target } of graph.edges) {
    push(neighbours, source, target);
    push(neighbours, target, source);
  }
  const reached = new Set(seeds.slice(0, maxNodes));
  let frontier = [...reached];
  for (let hop = 0; hop < depth && reached.size < maxNodes; hop += 1) {
    const next: string[] = [];
    for (const id of frontier.flatMap((node) => neighbours.get(node) ?? [])) {
      if (reached.size >= maxNodes) break;
      if (reached.has(id)) continue;
      reached.add(id);
      next.push(id);
    }
    frontier = next;
  }
  return {
    nodes: graph.nodes.filter(({ id }) => reached.has(id)),
    edges: graph.edges.filter(({ source, target }) => reached.has(source) && reached.has(target)),
  };
}

/** Relations whose targets everything hangs on: no way leads through them from one thing to another. */
const HUB_RELATIONS: readonly string[] = [RELATIONS.isA, RELATIONS.belongsToSet];
const PASSAGE_RELATIONS: readonly string[] = [RELATIONS.contains, RELATIONS.isPartOf, RELATIONS.madeFrom];
/** Edges between nodes that were reached in the last step, at most for each. */
const EDGES_BETWEEN = 100;
const EDGES_BETWEEN_SEEDS = 2000;

/** Reads the neighbourhood of nodes, breadth first, at most `maxNodes` nodes: the work does not grow with the graph. */
async function readNear(
  { graph, ledger }: ViewDependencies,
  scope: DatasetScope,
  seeds: readonly string[],
  { depth, maxNodes }: ViewRequest,
): Promise<WholeGraph> {
  const keep = createCommittedFilter(ledger, scope);
  const reached = new Set(seeds.slice(0, maxNodes));
  const rows = new Map<string, EdgeEvidence>();
  const read = async (ids: readonly string[], options: NeighbourOptions): Promise<readonly EdgeEvidence[]> => {
    const found = await keep(await graph.neighbours(scope, ids, options));
    for (const row of found) {
      rows.set(JSON.stringify([row.source, row.relation, row.target, row.item, row.generation]), row);
    }
    return found;
  };
  /** Facts first: of a thing that thousands of passages mention, its mentions would leave no room for them. */
  const readAll = async (ids: readonly string[], limitPerNode: number, hubs: 'both' | 'out' | null) => [
    ...(await read(ids, { excludeRelations: [...STRUCTURAL_RELATIONS], limitPerNode })),
    ...(await read(ids, { relations: PASSAGE_RELATIONS, limitPerNode })),
    // Every item says the type of its entities.
    ...(hubs === null
      ? []
      : await read(ids, {
          relations: HUB_RELATIONS,
          limitPerNode,
          ...(hubs === 'out' ? { direction: hubs } : {}),
        })),
  ];
  let frontier = [...reached];
  for (let hop = 0; hop < depth && frontier.length > 0; hop += 1) {
    const found = await readAll(frontier, maxNodes, hop === 0 ? 'both' : null);
    const next = new Set<string>();
    for (const { source, target } of found) {
      for (const id of [source, target]) {
        if (reached.size >= maxNodes || reached.has(id)) continue;
        reached.add(id);
        next.add(id);
      }
    }
    frontier = [...next];
  }
  // Without new nodes they are those between the seeds.
  if (frontier.length > 0) await readAll(frontier, EDGES_BETWEEN, 'out');
  else if (reached.size > 1) await readAll([...reached], EDGES_BETWEEN_SEEDS, 'out');
  const nodes = mergeNodes(await keep(await graph.nodes(scope, [...reached])));
  const known = new Set(nodes.map(({ id }) => id));
  const edges = mergeEdges([...rows.values()]);
  return { nodes, edges: edges.filter(({ source, target }) => known.has(source) && known.has(target)) };
}

async function timesOf(
  { text }: ViewDependencies,
  dataset: DatasetRef,
  { nodes, edges }: WholeGraph,
): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  const ids = nodes.filter(({ type }) => type === NODE_TYPES.chunk).map(({ id }) => id);
  for (const slice of slices(ids, 1000)) {
    for (const { id, payload } of await text.fetch(scopeOf(dataset), 'chunk', slice)) {
      const at = Date.parse(String(payload['createdAt']));
      if (!Number.isNaN(at)) times.set(id, at);
    }
  }
  // Documents, summaries and entities are linked to chunks, types and node sets to those: two steps reach every node.
  for (let step = 0; step < 2; step += 1) {
    const known = new Map(times);
    for (const { source, target } of edges) {
      for (const [from, to] of [
        [source, target],
        [target, source],
      ] as const) {
        const at = known.get(from);
        if (at !== undefined && !known.has(to)) times.set(to, Math.min(at, times.get(to) ?? at));
      }
    }
  }
  return times;
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const PAGE_ROWS = 10_000;

interface WholeGraph {
  readonly nodes: readonly MergedNode<NodeEvidence>[];
  /** Only edges with both ends among the nodes. */
  readonly edges: readonly MergedEdge<EdgeEvidence>[];
}

type CommittedFilter = <Row extends Provenance>(rows: readonly Row[]) => Promise<readonly Row[]>;

function createCommittedFilter(ledger: Ledger, scope: DatasetScope): CommittedFilter {
  const committed = new Map<DataItemId, number | null>();
  return async (rows) => {
    const unknown = [...new Set(rows.map(({ item }) => item))].filter((item) => !committed.has(item));
    const found = await ledger.committed(scope, unknown);
    for (const item of unknown) committed.set(item, found.get(item) ?? null);
    return visible(rows, committed as ReadonlyMap<DataItemId, number>);
  };
}

/** Reads the whole committed graph of a dataset. Memory grows with the graph. */
async function readWholeGraph(
  { graph, ledger }: { readonly graph: GraphStore; readonly ledger: Ledger },
  scope: DatasetScope,
): Promise<WholeGraph> {
  const keep = createCommittedFilter(ledger, scope);
  const nodes = mergeNodes(await scanAll((after) => graph.scanNodes(scope, { after, limit: PAGE_ROWS }), keep));
  const known = new Set(nodes.map(({ id }) => id));
  const edges = mergeEdges(await scanAll((after) => graph.scanEdges(scope, { after, limit: PAGE_ROWS }), keep));
  return { nodes, edges: edges.filter(({ source, target }) => known.has(source) && known.has(target)) };
}

async function scanAll<Row>(
  scan: (after: string | null) => Promise<Page<Row>>,
  keep: (rows: readonly Row[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const page of pagesOf(scan)) for (const row of await keep(page)) rows.push(row);
  return rows;
}

import { type MergedEdge, type MergedNode, mergeEdges, mergeNodes } from '../common/domain/graph/merge.ts';
import { createShownGraph } from '../common/domain/graph/shown.ts';
import { NODE_TYPES } from '../common/domain/index-rows.ts';
import type { DataItemId } from '../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { type Page, pagesOf } from '../common/kernel/result-page.ts';
import type { DatasetScope } from '../common/kernel/scope.ts';
import { slices } from '../common/kernel/slices.ts';
import { type Ledger, visible } from '../common/records/cognify/ledger.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../common/storage/ports/graph-store.ts';
import type { Provenance } from '../common/storage/ports/index-entry.ts';
import type { TextIndex } from '../common/storage/ports/text-index.ts';

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
  /** Number of nodes in the whole graph. */
  readonly totalNodes: number;
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
  const known = new Set(graph.nodes.map(({ id }) => id));
  const explicit = [...new Set(request.seedIds)].filter((id) => known.has(id)).slice(0, request.maxSeeds);
  if (explicit.length > 0 || request.seedIds.length > 0) return { seeds: explicit, seedSource: 'explicit' };
  const words = (request.query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const degrees = degreesOf(graph);
  const byDegree = graph.nodes.toSorted(
    (a, b) => (degrees.get(b.id) ?? 0) - (degrees.get(a.id) ?? 0) || a.id.localeCompare(b.id),
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

export interface WholeGraph {
  readonly nodes: readonly MergedNode<NodeEvidence>[];
  /** Only edges with both ends among the nodes. */
  readonly edges: readonly MergedEdge<EdgeEvidence>[];
}

/** Reads the whole committed graph of a dataset. Memory grows with the graph. */
async function readWholeGraph(
  { graph, ledger }: { readonly graph: GraphStore; readonly ledger: Ledger },
  scope: DatasetScope,
): Promise<WholeGraph> {
  const committed = new Map<DataItemId, number | null>();
  const keep = async <Row extends Provenance>(rows: readonly Row[]): Promise<readonly Row[]> => {
    const unknown = [...new Set(rows.map(({ item }) => item))].filter((item) => !committed.has(item));
    const found = await ledger.committed(scope, unknown);
    for (const item of unknown) committed.set(item, found.get(item) ?? null);
    return visible(rows, committed as ReadonlyMap<DataItemId, number>);
  };
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

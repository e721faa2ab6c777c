import { mergeEdges, mergeNodes } from '../../../../services/common/domain/graph/merge.ts';
import { createShownGraph } from '../../../../services/common/domain/graph/shown.ts';
import { INTERNAL_RELATIONS } from '../../../../services/common/domain/index-rows.ts';
import type { JsonObject } from '../../../../services/common/kernel/json.ts';
import type { DatasetScope } from '../../../../services/common/kernel/scope.ts';
import { createBudget } from '../../../../services/common/storage/cypher/budget.ts';
import { asSearchError } from '../../../../services/common/storage/cypher/errors.ts';
import { type CypherGraph, createGraph } from '../../../../services/common/storage/cypher/graph.ts';
import { parseQuery } from '../../../../services/common/storage/cypher/parse-query.ts';
import { asAnswer, runQuery } from '../../../../services/common/storage/cypher/run-query.ts';
import { fromJson, type Value } from '../../../../services/common/storage/cypher/values.ts';
import {
  EVIDENCE_PER_ELEMENT,
  edgeProperties,
  labelsOf,
  nodeProperties,
  typeOf,
} from '../../../../services/common/storage/cypher/view.ts';
import type {
  EdgeEvidence,
  GraphStore,
  NeighbourOptions,
  NodeEvidence,
  ScanQuery,
} from '../../../../services/common/storage/ports/graph-store.ts';
import { type Provenance, provenanceKey } from '../../../../services/common/storage/ports/index-entry.ts';
import { compareText, copyJson, createScopedState, removeSelected } from './scoped-state.ts';

interface Graph {
  readonly nodes: Map<string, NodeEvidence>;
  readonly edges: Map<string, EdgeEvidence>;
}

/** Looks at every row for every question: for tests and small graphs. */
export function createMemoryGraphStore(): GraphStore {
  const datasets = createScopedState<Graph>(() => ({ nodes: new Map(), edges: new Map() }));
  const isSeen =
    ({ withheld }: DatasetScope) =>
    ({ item }: Provenance) =>
      withheld?.has(item) !== true;
  const nodeRows = (scope: DatasetScope) => [...(datasets.existing(scope)?.nodes.values() ?? [])].filter(isSeen(scope));
  const edgeRows = (scope: DatasetScope) => [...(datasets.existing(scope)?.edges.values() ?? [])].filter(isSeen(scope));
  return {
    async upsert(scope, evidence) {
      const { nodes, edges } = copyJson(evidence);
      if (nodes.length + edges.length === 0) return;
      const graph = datasets.obtain(scope);
      for (const node of nodes) graph.nodes.set(nodeKey(node), node);
      for (const edge of edges) graph.edges.set(edgeKey(edge), edge);
    },
    async nodes(scope, ids, options = {}) {
      const rows = nodeRows(scope).sort((a, b) => b.mentions - a.mentions || compareText(nodeKey(a), nodeKey(b)));
      const found = [...new Set(ids)].flatMap((id) =>
        rows.filter((row) => row.id === id).slice(0, options.perNode ?? 64),
      );
      return copyJson(found);
    },
    async neighbours(scope, ids, options, signal) {
      signal?.throwIfAborted();
      const rows = edgeRows(scope);
      const found = new Set([...new Set(ids)].flatMap((id) => touching(rows, id, options)));
      return copyJson([...found].sort(heaviestFirst).map((edge) => shown(edge, options)));
    },
    async scanNodes(scope, query) {
      return page(nodeRows(scope), query, nodeKey, (row) => row.type);
    },
    async scanEdges(scope, query) {
      return page(edgeRows(scope), query, edgeKey, (row) => row.relation);
    },
    async remove(scope, selection) {
      const graph = datasets.existing(scope);
      return graph ? removeSelected(graph.nodes, selection) + removeSelected(graph.edges, selection) : 0;
    },
    async drop(scope) {
      datasets.discard(scope);
    },
    async count(scope, filter = {}) {
      const ofItem = (row: { readonly item: string }) => filter.item === undefined || row.item === filter.item;
      const nodes = nodeRows(scope).filter(ofItem);
      const edges = edgeRows(scope).filter(ofItem);
      return {
        nodes: new Set(nodes.map((row) => row.id)).size,
        edges: new Set(edges.map(edgeId)).size,
        nodeRows: nodes.length,
        edgeRows: edges.length,
      };
    },
    async cypher(scope, { text, committed, maxRows = 1000, timeoutMs = 10_000 }) {
      const [nodes, edges] = [nodeRows(scope), edgeRows(scope)];
      const kept = new Set((await committed([...nodes, ...edges])).map(provenanceKey));
      const isKept = (row: Provenance) => kept.has(provenanceKey(row));
      const graph = evidenceGraph(nodes.filter(isKept), edges.filter(isKept));
      try {
        return asAnswer(runQuery(parseQuery(text), graph, createBudget(timeoutMs), maxRows + 1), maxRows);
      } catch (error) {
        throw asSearchError(error);
      }
    },
  };
}

function evidenceGraph(nodeRows: readonly NodeEvidence[], edgeRows: readonly EdgeEvidence[]): CypherGraph {
  const graph = createGraph();
  const values = (properties: JsonObject) => () => fromJson(properties) as ReadonlyMap<string, Value>;
  const shown = createShownGraph();
  const nodes = new Map(
    mergeNodes(
      strongest(
        nodeRows,
        ({ id }) => id,
        ({ mentions }) => mentions,
      ),
    )
      .filter(shown.shows)
      .map((node) => [
        node.id,
        graph.addNode(
          labelsOf(node.type, () => true),
          values(nodeProperties(node, () => true)),
        ),
      ]),
  );
  for (const edge of mergeEdges(strongest(edgeRows, edgeId, ({ weight }) => weight))) {
    const [source, target] = [nodes.get(edge.source), nodes.get(edge.target)];
    if (!source || !target || INTERNAL_RELATIONS.has(edge.relation)) continue;
    graph.addEdge(
      source,
      typeOf(edge.relation, () => true),
      target,
      values(edgeProperties(edge, () => true)),
    );
  }
  return graph;
}

/** As many rows of each element as queries see. */
function strongest<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  weightOf: (row: Row) => number,
): readonly Row[] {
  const seen = new Map<string, number>();
  return rows
    .toSorted((a, b) => weightOf(b) - weightOf(a))
    .filter((row) => {
      const count = seen.get(keyOf(row)) ?? 0;
      seen.set(keyOf(row), count + 1);
      return count < EVIDENCE_PER_ELEMENT;
    });
}

function edgeId({ source, relation, target }: EdgeEvidence): string {
  return JSON.stringify([source, relation, target]);
}

function nodeKey(node: NodeEvidence): string {
  return JSON.stringify([node.id, node.item, node.generation]);
}

function edgeKey(edge: EdgeEvidence): string {
  return JSON.stringify([edge.source, edge.relation, edge.target, edge.item, edge.generation]);
}

function heaviestFirst(a: EdgeEvidence, b: EdgeEvidence): number {
  return b.weight - a.weight || compareText(edgeKey(a), edgeKey(b));
}

function touching(rows: readonly EdgeEvidence[], id: string, options: NeighbourOptions): readonly EdgeEvidence[] {
  const { direction } = options;
  return rows
    .filter((row) => (row.source === id && direction !== 'in') || (row.target === id && direction !== 'out'))
    .filter((row) => options.relations === undefined || options.relations.includes(row.relation))
    .filter((row) => !options.excludeRelations?.includes(row.relation))
    .sort(heaviestFirst)
    .slice(0, options.limitPerNode ?? 64);
}

function shown(edge: EdgeEvidence, { withProperties = true }: NeighbourOptions): EdgeEvidence {
  return withProperties ? edge : { ...edge, properties: {} };
}

function page<Row extends Provenance>(
  rows: readonly Row[],
  query: ScanQuery,
  keyOf: (row: Row) => string,
  typeOf: (row: Row) => string,
): { items: readonly Row[]; next: string | null } {
  const { after = null, limit, types, provenance: origin } = query;
  const rest = rows
    .filter((row) => !origin || (row.item === origin.item && row.generation === origin.generation))
    .filter((row) => types === undefined || types.includes(typeOf(row)))
    .map((row) => ({ row, key: keyOf(row) }))
    .filter(({ key }) => after === null || compareText(key, after) > 0)
    .sort((a, b) => compareText(a.key, b.key));
  const items = rest.slice(0, limit);
  return {
    items: copyJson(items.map(({ row }) => row)),
    next: rest.length > limit ? (items.at(-1)?.key ?? null) : null,
  };
}

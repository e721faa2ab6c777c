import type { DataItemId } from '../../domain/brand.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Page } from '../../domain/result-page.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../../ports/graph-store.ts';
import { edgeBatch, nodeBatch } from './batches.ts';
import type { DatasetWorkers } from './dataset-workers.ts';
import type { PackedEdge, PackedNode } from './graph-reader.ts';

const DEFAULT_PER_NODE = 64;
const NOTHING = { nodes: 0, edges: 0, nodeRows: 0, edgeRows: 0 };

export function createSqliteGraphStore({ writer, reader, pathOf, forget }: DatasetWorkers): GraphStore {
  return {
    capabilities: { cypher: false },
    async upsert(scope, { nodes, edges }) {
      if (nodes.length + edges.length === 0) return;
      await writer.call('upsertGraph', pathOf(scope), { nodes: nodeBatch(nodes), edges: edgeBatch(edges) });
    },
    async nodes(scope, ids, options = {}) {
      const perNode = options.perNode ?? DEFAULT_PER_NODE;
      return ((await reader.call('nodes', pathOf(scope), { ids, perNode })) ?? []).map(unpackNode);
    },
    async neighbours(scope, ids, options, signal) {
      const edges = await reader.call('neighbours', pathOf(scope), { ids, options }, { signal });
      return (edges ?? []).map(unpackEdge);
    },
    async subgraph(scope, query, signal) {
      return ((await reader.call('subgraph', pathOf(scope), query, { signal })) ?? []).map(unpackEdge);
    },
    async scanNodes(scope, query) {
      return unpackPage(await reader.call('scanNodes', pathOf(scope), query), unpackNode);
    },
    async scanEdges(scope, query) {
      return unpackPage(await reader.call('scanEdges', pathOf(scope), query), unpackEdge);
    },
    remove: (scope, selection) => writer.call('removeGraph', pathOf(scope), selection),
    async drop(scope) {
      await writer.call('dropGraph', pathOf(scope), null);
      forget(scope);
    },
    async count(scope, filter = {}) {
      return (await reader.call('countGraph', pathOf(scope), filter.item ?? null)) ?? NOTHING;
    },
  };
}

function unpackNode(packed: PackedNode): NodeEvidence {
  return {
    ...packed,
    item: packed.item as DataItemId,
    nodeSets: JSON.parse(packed.nodeSets) as readonly string[],
    properties: JSON.parse(packed.properties) as JsonObject,
  };
}

function unpackEdge(packed: PackedEdge): EdgeEvidence {
  return { ...packed, item: packed.item as DataItemId, properties: JSON.parse(packed.properties) as JsonObject };
}

function unpackPage<Packed, Row>(
  page: { readonly items: readonly Packed[]; readonly next: string | null } | null,
  unpack: (packed: Packed) => Row,
): Page<Row> {
  return page === null ? { items: [], next: null } : { items: page.items.map(unpack), next: page.next };
}

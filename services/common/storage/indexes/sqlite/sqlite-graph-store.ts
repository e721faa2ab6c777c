import type { DataItemId } from '../../../kernel/brand.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { abortable } from '../../../platform/async/abortable.ts';
import { withTimeout } from '../../../platform/async/time-limit.ts';
import { DEFAULT_ROWS, DEFAULT_TIMEOUT_MS, tookTooLong } from '../../cypher/budget.ts';
import { beingPrepared } from '../../cypher/errors.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../../ports/graph-store.ts';
import { provenanceKey } from '../../ports/index-entry.ts';
import { DEFAULT_PER_NODE, readSeenEdges, readSeenNodes } from '../../ports/read-seen.ts';
import { edgeBatch, nodeBatch } from './batches.ts';
import { EDGE_FIELDS, type PackedEdges, type PackedNode } from './graph-reader.ts';
import { edgeEvidence } from './schema.ts';
import type { DatasetWorkers } from './worker-client.ts';

/** Time after its limit in which a query ends by itself. */
const KILL_AFTER_MS = 2000;
const NOTHING = { nodes: 0, edges: 0, nodeRows: 0, edgeRows: 0 };

export function createSqliteGraphStore({ writer, reader, cypher, pathOf, forget }: DatasetWorkers): GraphStore {
  return {
    async upsert(scope, { nodes, edges }) {
      if (nodes.length + edges.length === 0) return;
      await writer.call('upsertGraph', pathOf(scope), { nodes: nodeBatch(nodes), edges: edgeBatch(edges) });
    },
    nodes: (scope, ids, { perNode: most = DEFAULT_PER_NODE } = {}) =>
      readSeenNodes(scope, ids, most, async (some, perNode) =>
        ((await reader.call('nodes', pathOf(scope), { ids: some, perNode })) ?? []).map(unpackNode),
      ),
    neighbours: (scope, asked, given, signal) =>
      readSeenEdges(scope, asked, given, async (ids, options) => {
        const found = await reader.call('neighbours', pathOf(scope), { ids, options }, { signal });
        return found === null || 'edges' in found ? unpackEdges(found) : found;
      }),
    async scanNodes(scope, query) {
      const page = await reader.call('scanNodes', pathOf(scope), query);
      return { items: (page?.items ?? []).map(unpackNode), next: page?.next ?? null };
    },
    async scanEdges(scope, query) {
      const page = await reader.call('scanEdges', pathOf(scope), query);
      return { items: unpackEdges(page?.edges ?? null), next: page?.next ?? null };
    },
    remove: (scope, selection) => writer.call('removeGraph', pathOf(scope), selection),
    async drop(scope) {
      await writer.call('dropGraph', pathOf(scope), null);
      forget(scope);
    },
    async count(scope, filter = {}) {
      return (await reader.call('countGraph', pathOf(scope), filter.item ?? null)) ?? NOTHING;
    },
    async cypher(scope, { text, ...query }, signal) {
      const { caller, maxRows = DEFAULT_ROWS, timeoutMs = DEFAULT_TIMEOUT_MS } = query;
      const path = pathOf(scope);
      return cypher.run({ caller: caller ?? path, path, limitMs: timeoutMs, signal }, async (thread) => {
        const prepare = async () => {
          const origins = await thread.call('begin', path, text);
          const committed = (await query.committed(origins)).map(provenanceKey);
          await thread.call('prepare', path, committed);
          return committed;
        };
        const committed = await withTimeout(abortable(prepare(), signal), timeoutMs, () => {
          throw beingPrepared();
        });
        const cancelled = new SharedArrayBuffer(4);
        const cancel = () => void Atomics.store(new Int32Array(cancelled), 0, 1);
        signal?.addEventListener('abort', cancel, { once: true });
        try {
          const job = { text, committed, maxRows, timeoutMs, cancelled };
          return await withTimeout(thread.call('query', path, job, { signal }), timeoutMs + KILL_AFTER_MS, () => {
            thread.kill();
            throw tookTooLong(timeoutMs);
          });
        } finally {
          signal?.removeEventListener('abort', cancel);
        }
      });
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

function unpackEdges(packed: PackedEdges | null): readonly EdgeEvidence[] {
  if (packed === null) return [];
  const { ids, relations, origins, edges, properties } = packed;
  return Array.from({ length: edges.length / EDGE_FIELDS }, (_, index) => {
    const [source = 0, relation = 0, target = 0, origin = 0, weight = 0] = edges.subarray(index * EDGE_FIELDS);
    const edge = { source: ids[source] ?? '', relation: relations[relation] ?? '', target: ids[target] ?? '', weight };
    return edgeEvidence(edge, origins[origin], properties?.[index]);
  });
}

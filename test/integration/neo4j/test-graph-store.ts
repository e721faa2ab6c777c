import { randomUUID } from 'node:crypto';
import type { TenantId } from '../../../services/common/kernel/brand.ts';
import type { DatasetScope } from '../../../services/common/kernel/scope.ts';
import {
  type Neo4jGraphStore,
  type Neo4jGraphStoreOptions,
  openNeo4jGraphStore,
} from '../../../services/common/storage/graph/neo4j/neo4j-graph-store.ts';
import type { BackendAddress } from '../backend.ts';

export interface TestGraphStore {
  /** Tenants of this run only: the server is shared. */
  readonly graph: Neo4jGraphStore;
  /** The scope as the server knows it. */
  scopeOf(scope: DatasetScope): DatasetScope;
  /** Removes what the tests wrote. */
  close(): Promise<void>;
}

export function connectionTo(address: BackendAddress<'neo4j'>): Neo4jGraphStoreOptions {
  return {
    url: address.ENGRAM_TEST_NEO4J_URL,
    user: address.ENGRAM_TEST_NEO4J_USER,
    password: address.ENGRAM_TEST_NEO4J_PASSWORD,
  };
}

/** Every tenant is given a prefix, and every dataset that was written is dropped at the end. */
export async function openTestGraphStore(
  address: BackendAddress<'neo4j'>,
  options: Partial<Neo4jGraphStoreOptions> = {},
): Promise<TestGraphStore> {
  const graph = await openNeo4jGraphStore({ ...connectionTo(address), ...options });
  const prefix = randomUUID().slice(0, 8);
  const used = new Map<string, DatasetScope>();
  const own = (scope: DatasetScope): DatasetScope => {
    const renamed = { ...scope, tenant: `${prefix}-${scope.tenant}` as TenantId };
    used.set(JSON.stringify(renamed), renamed);
    return renamed;
  };
  return {
    scopeOf: own,
    graph: {
      ...graph,
      upsert: (scope, evidence) => graph.upsert(own(scope), evidence),
      nodes: (scope, ...rest) => graph.nodes(own(scope), ...rest),
      neighbours: (scope, ...rest) => graph.neighbours(own(scope), ...rest),
      pathsOver: (scope, ...rest) => graph.pathsOver(own(scope), ...rest),
      scanNodes: (scope, query) => graph.scanNodes(own(scope), query),
      scanEdges: (scope, query) => graph.scanEdges(own(scope), query),
      remove: (scope, selection) => graph.remove(own(scope), selection),
      drop: (scope) => graph.drop(own(scope)),
      count: (scope, ...rest) => graph.count(own(scope), ...rest),
      cypher: (scope, ...rest) => graph.cypher(own(scope), ...rest),
      copy: (scope, options) => graph.copy(own(scope), options),
    },
    async close() {
      for (const scope of used.values()) await graph.drop(scope);
      await graph.close();
    },
  };
}

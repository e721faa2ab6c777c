import { graphStoreConformance } from '../../conformance/graph-store.ts';
import { createMemoryDatasetIndexes } from '../../support/memory/dataset-indexes.ts';
import { withBackend } from '../backend.ts';
import { openTestGraphStore } from './test-graph-store.ts';

withBackend('neo4j', (address) => {
  graphStoreConformance('Neo4j', async () => {
    const store = await openTestGraphStore(address);
    return { ...createMemoryDatasetIndexes(), graph: store.graph, close: store.close };
  });
});

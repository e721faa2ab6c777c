import type { DatasetIndexes } from '../../../../services/common/storage/ports/dataset-indexes.ts';
import { createMemoryGraphStore } from './memory-graph-store.ts';
import { createMemoryTextIndex } from './memory-text-index.ts';
import { createMemoryVectorIndex } from './memory-vector-index.ts';

/** All three indexes in plain maps, gone with the process: for tests. */
export function createMemoryDatasetIndexes(): DatasetIndexes {
  return {
    text: createMemoryTextIndex(),
    vectors: createMemoryVectorIndex(),
    graph: createMemoryGraphStore(),
    async close() {},
  };
}

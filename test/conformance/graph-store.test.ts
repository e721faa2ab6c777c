import { openTemporaryIndexes } from '../support/dataset-rows.ts';
import { createMemoryDatasetIndexes } from '../support/memory/indexes/memory-dataset-indexes.ts';
import { graphStoreConformance } from './graph-store-suite.ts';

graphStoreConformance('memory', async () => createMemoryDatasetIndexes());
graphStoreConformance('SQLite', () => openTemporaryIndexes());

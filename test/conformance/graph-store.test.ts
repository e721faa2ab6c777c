import { createMemoryDatasetIndexes } from '../../services/common/adapters/memory-index/memory-dataset-indexes.ts';
import { openTemporaryIndexes } from '../support/dataset-rows.ts';
import { graphStoreConformance } from './graph-store-suite.ts';

graphStoreConformance('memory', async () => createMemoryDatasetIndexes());
graphStoreConformance('SQLite', () => openTemporaryIndexes());

import { createMemoryDatasetIndexes } from '../../services/common/adapters/memory-index/memory-dataset-indexes.ts';
import { openTemporaryIndexes } from '../support/dataset-rows.ts';
import { textIndexConformance } from './text-index-suite.ts';

textIndexConformance('memory', async () => createMemoryDatasetIndexes());
textIndexConformance('SQLite', () => openTemporaryIndexes());

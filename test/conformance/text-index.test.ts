import { openTemporaryIndexes } from '../support/dataset-rows.ts';
import { createMemoryDatasetIndexes } from '../support/memory/indexes/memory-dataset-indexes.ts';
import { textIndexConformance } from './text-index-suite.ts';

textIndexConformance('memory', async () => createMemoryDatasetIndexes());
textIndexConformance('SQLite', () => openTemporaryIndexes());

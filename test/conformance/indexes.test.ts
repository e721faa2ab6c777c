import { openTemporaryIndexes } from '../support/dataset-rows.ts';
import { cypherConformance } from './cypher/cypher-store.ts';
import { graphStoreConformance } from './graph-store.ts';
import { textIndexConformance } from './text-index.ts';
import { vectorIndexConformance } from './vector-index.ts';

cypherConformance('SQLite', () => openTemporaryIndexes());
graphStoreConformance('SQLite', () => openTemporaryIndexes());
textIndexConformance('SQLite', () => openTemporaryIndexes());
vectorIndexConformance('SQLite, f32 in memory', () => openTemporaryIndexes());
vectorIndexConformance('SQLite, i8 in memory', () => openTemporaryIndexes({ quantiseAbove: 0 }));
vectorIndexConformance('SQLite, no memory for vectors', () => openTemporaryIndexes({ vectorMemoryBytes: 0 }));
vectorIndexConformance('SQLite, memory for one small dataset', () =>
  openTemporaryIndexes({ vectorMemoryBytes: 20 * 65_536, openFiles: 2, quantiseAbove: 100 }),
);

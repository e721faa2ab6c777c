import type { GraphStore } from './graph-store.ts';
import type { TextIndex } from './text-index.ts';
import type { VectorIndex } from './vector-index.ts';

/** The three indexes of datasets. */
export interface IndexStores {
  readonly text: TextIndex;
  readonly vectors: VectorIndex;
  readonly graph: GraphStore;
}

/** The three indexes, as a composition root makes and closes them together. */
export interface DatasetIndexes extends IndexStores {
  /** Ends what is running, then releases files, threads and memory. Calls made afterwards reject. */
  close(): Promise<void>;
}

/** The reading methods: for every service but cognify, which alone writes. */
export interface DatasetReaders {
  readonly text: Omit<TextIndex, Writing>;
  readonly vectors: Omit<VectorIndex, Writing>;
  readonly graph: Omit<GraphStore, Writing>;
}

type Writing = 'upsert' | 'remove' | 'drop';

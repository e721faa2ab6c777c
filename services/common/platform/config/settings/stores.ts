import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { optional, setting } = rowsOf('Stores');

const STORE_SHAPES = ['embedded', 'cluster'] as const;
export type StoreShape = (typeof STORE_SHAPES)[number];

const storeOverride = (name: string, what: string) =>
  optional(name, {
    type: type.oneOf(STORE_SHAPES),
    shownDefault: 'as `ENGRAM_STORES`',
    meaning: `Overrides the preset for ${what}.`,
  });

export const stores = {
  dataDir: setting('ENGRAM_DATA_DIR', {
    type: type.text(),
    default: './data',
    meaning: 'The one directory of the embedded shape: databases, files, generated keys, uploads under way.',
  }),
  storeShape: setting('ENGRAM_STORES', {
    type: type.oneOf(STORE_SHAPES),
    default: 'embedded',
    meaning: 'Preset for all stores: embedded (SQLite and files) or cluster (servers of their own).',
  }),
  documents: storeOverride('ENGRAM_DOCUMENTS', 'records, jobs and events'),
  blobs: storeOverride('ENGRAM_BLOBS', 'files'),
  index: storeOverride('ENGRAM_INDEX', 'the lexical and the vector index'),
  graph: storeOverride('ENGRAM_GRAPH', 'the graph'),
  bus: storeOverride('ENGRAM_BUS', 'messages between services'),
  vectorMemoryBytes: setting('ENGRAM_VECTOR_MEMORY', {
    type: type.bytes({ min: 16 * 2 ** 20 }),
    default: '512MB',
    meaning: 'Memory that loaded vectors may take; the least recently used datasets are unloaded beyond it.',
  }),
  copyMemoryBytes: setting('ENGRAM_COPY_MEMORY', {
    type: type.bytes({ min: 0 }),
    default: '128MB',
    meaning:
      'Memory of a search process for copies of small datasets that are searched repeatedly, where their indexes are on servers; the least recently used ones are dropped beyond it. `0`: none is made.',
  }),
  maxOpenFiles: optional('ENGRAM_MAX_OPEN_FILES', {
    type: type.integer({ min: 96 }),
    shownDefault: 'the limit of the process (`ulimit -n`)',
    meaning: 'File descriptors that the process may use: it bounds open dataset files and connections of clients.',
  }),
  autoMigrations: optional('ENABLE_AUTO_MIGRATIONS', {
    type: type.flag(),
    shownDefault: '`true` (cluster: `false`)',
    meaning: 'Bring the stores to the present schema at start; else `npm run migrate` does it.',
  }),
};

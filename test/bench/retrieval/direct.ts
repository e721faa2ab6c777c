import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { scopeOf } from '../../../services/common/kernel/dataset.ts';
import { createHashingEmbedder } from '../../../services/common/models/hashing/hashing-embedder.ts';
import { createSqliteDatasetIndexes } from '../../../services/common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import {
  createExtractionPool,
  createTextWorkers,
} from '../../../services/common/text/extraction/rules/extraction-pool.ts';
import { LANES, type LaneName } from '../../../services/search/model.ts';
import { createRetriever } from '../../../services/search/retrieval/pipeline.ts';
import { DEFAULT_SETTINGS, type RetrievalSettings } from '../../../services/search/retrieval/settings.ts';
import { createWorld, startCognify } from '../../support/cognify-service.ts';
import { type Ask, askAll, type RunReport } from './asked.ts';
import type { BenchCorpus } from './corpus.ts';

const DEPTH = 10;

interface DirectReport {
  readonly cognifyMs: number;
  readonly runs: Record<string, RunReport>;
}

/** Runs the ablations. */
export async function benchDirect(
  corpus: BenchCorpus,
  changes: readonly Partial<RetrievalSettings>[],
): Promise<DirectReport> {
  const directory = await mkdtemp(path.join(tmpdir(), 'engram-retrieval-'));
  const indexes = await createSqliteDatasetIndexes({ directory });
  const textWorkers = createTextWorkers();
  const extractor = createExtractionPool(textWorkers);
  try {
    const world = await createWorld({ indexes });
    const positions = new Map<string, number>();
    for (const [at, passage] of corpus.passages.entries()) {
      positions.set((await world.addText(passage.title, passage.text)).id, at);
    }
    const embedder = createHashingEmbedder();
    await using cognify = await startCognify(world, { extractor, embedder, runs: { leaseMs: 60_000 } });
    const start = performance.now();
    const run = await cognify.run();
    if (run.status !== 'DATASET_PROCESSING_COMPLETED') throw new Error(`cognify ended as ${run.status}`);
    const cognifyMs = Math.round(performance.now() - start);
    const scope = scopeOf(world.dataset);
    const askWith = (settings: RetrievalSettings): Ask => {
      const retriever = createRetriever({ indexes, ledger: world.ledger, settings });
      return async (query) => {
        const [vector = null] = await embedder.embed([query], { scope, purpose: 'query' });
        const { passages } = await retriever.retrieve({ scope, query, vector, limit: DEPTH });
        return passages.map((passage) => positions.get(passage.payload.documentId) ?? -1);
      };
    };
    const runs = ablations(changes).map(({ name, settings }) => ({ name, ask: askWith(settings) }));
    return { cognifyMs, runs: await askAll(corpus, runs) };
  } finally {
    await textWorkers.close();
    await indexes.close();
    await rm(directory, { recursive: true, force: true });
  }
}

interface NamedSettings {
  readonly name: string;
  readonly settings: RetrievalSettings;
}

/**
 * Returns the runs: BM25, all lanes, all but one lane, and the pipeline without each of its later steps. `changes`: further
 * runs, each a change of the default settings.
 */
export function ablations(changes: readonly Partial<RetrievalSettings>[]): readonly NamedSettings[] {
  const only = (...lanes: readonly LaneName[]): RetrievalSettings => ({
    ...DEFAULT_SETTINGS,
    lanes: new Set(lanes),
    bridgeSeeds: 0,
    redundancy: 0,
  });
  const without = LANES.filter((lane) => lane !== 'lexical').map((lane) => ({
    name: `all but ${lane}`,
    settings: { ...DEFAULT_SETTINGS, lanes: new Set(LANES.filter((other) => other !== lane)) },
  }));
  return [
    { name: 'BM25 alone', settings: { ...only('lexical'), fusionShare: 0, windowShare: 0 } },
    { name: 'BM25 + dense', settings: only('lexical', 'dense') },
    { name: 'all lanes, one hop', settings: only(...LANES) },
    { name: 'all', settings: DEFAULT_SETTINGS },
    ...without,
    { name: 'without redundancy', settings: { ...DEFAULT_SETTINGS, redundancy: 0 } },
    { name: 'without linked passages', settings: { ...DEFAULT_SETTINGS, linkedLimit: 0 } },
    { name: 'without fusion', settings: { ...DEFAULT_SETTINGS, fusionShare: 0 } },
    { name: 'without turns around', settings: { ...DEFAULT_SETTINGS, windowShare: 0 } },
    ...changes.map((change) => ({
      name: JSON.stringify(change),
      settings: { ...DEFAULT_SETTINGS, ...change, lanes: new Set(change.lanes ?? LANES) },
    })),
  ];
}

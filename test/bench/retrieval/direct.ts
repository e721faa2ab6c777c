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
import { type Ask, askAll, type Run, type RunReport } from './asked.ts';
import type { BenchCorpus } from './corpus.ts';

const DEPTH = 10;

interface DirectReport {
  readonly cognifyMs: number;
  readonly runs: Record<string, RunReport>;
}

/** Runs the ablations; `changes`: further runs, each a change of the default settings. */
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
    return { cognifyMs, runs: await askAll(corpus, [...ablations(askWith), ...changed(askWith, changes)]) };
  } finally {
    await textWorkers.close();
    await indexes.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the runs: BM25, all lanes, all but one lane, and the pipeline without each of its later steps. */
function ablations(askWith: (settings: RetrievalSettings) => Ask): readonly Run[] {
  const only = (...lanes: readonly LaneName[]): RetrievalSettings => ({
    ...DEFAULT_SETTINGS,
    lanes: new Set(lanes),
    bridgeSeeds: 0,
    redundancy: 0,
  });
  const bm25 = { ...only('lexical'), fusionShare: 0 };
  const without = LANES.filter((lane) => lane !== 'lexical').map((lane) => ({
    name: `all but ${lane}`,
    ask: askWith({ ...DEFAULT_SETTINGS, lanes: new Set(LANES.filter((other) => other !== lane)) }),
  }));
  return [
    { name: 'BM25 alone', ask: askWith(bm25) },
    { name: 'BM25 + dense', ask: askWith(only('lexical', 'dense')) },
    { name: 'all lanes, one hop', ask: askWith(only(...LANES)) },
    { name: 'all', ask: askWith(DEFAULT_SETTINGS) },
    ...without,
    { name: 'without redundancy', ask: askWith({ ...DEFAULT_SETTINGS, redundancy: 0 }) },
    { name: 'without linked passages', ask: askWith({ ...DEFAULT_SETTINGS, linkedLimit: 0 }) },
    { name: 'without fusion', ask: askWith({ ...DEFAULT_SETTINGS, fusionShare: 0 }) },
  ];
}

function changed(
  askWith: (settings: RetrievalSettings) => Ask,
  changes: readonly Partial<RetrievalSettings>[],
): readonly Run[] {
  return changes.map((change) => ({
    name: JSON.stringify(change),
    ask: askWith({ ...DEFAULT_SETTINGS, ...change, lanes: new Set(change.lanes ?? LANES) }),
  }));
}

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { scopeOf } from '../../../services/common/kernel/dataset.ts';
import { createHashingEmbedder } from '../../../services/common/models/hashing/hashing-embedder.ts';
import { createSqliteDatasetIndexes } from '../../../services/common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import {
  createExtractionPool,
  createTextWorkers,
} from '../../../services/common/text/extraction/rules/extraction-pool.ts';
import type { RankedPassage } from '../../../services/search/model.ts';
import { createRetriever } from '../../../services/search/retrieval/pipeline.ts';
import type { RetrievalSettings } from '../../../services/search/retrieval/settings.ts';
import { createWorld, startCognify } from '../../support/cognify-service.ts';
import { pairedDifference, percent } from '../paired.ts';
import { ablations } from './direct.ts';

interface Meeting {
  readonly turns: readonly { readonly speaker: string; readonly text: string }[];
  /** `gold`: positions of the turns that answer it. */
  readonly questions: readonly { readonly question: string; readonly gold: readonly number[] }[];
}

/** `turns`: each turn is a memory; `transcript`: the conversation is one text, and its passages hold several turns. */
const SHAPES = ['turns', 'transcript'] as const;
const DEPTH = 10;
/** Shorter turns ("Yeah.") are in many passages. */
const MIN_TELLING_LENGTH = 25;

/**
 * Questions about conversations, each asked of its own conversation. A result is right when it is (or holds) a turn that
 * answers: hit@n, and P@5, the share of the first five.
 */
export async function benchConversations(folder: string, changes: readonly Partial<RetrievalSettings>[]) {
  const read = await readFile(path.join(folder, 'qmsum.json'), 'utf8');
  const { meetings } = JSON.parse(read) as { readonly meetings: readonly Meeting[] };
  const directory = await mkdtemp(path.join(tmpdir(), 'engram-conversations-'));
  const textWorkers = createTextWorkers();
  const indexes = await createSqliteDatasetIndexes({ directory });
  const extractor = createExtractionPool(textWorkers);
  const embedder = createHashingEmbedder();
  const runs = ablations(changes);
  const report: Record<string, unknown> = {};
  try {
    for (const shape of SHAPES) {
      const outcomes = runs.map((): (readonly boolean[])[] => []);
      for (const [number, meeting] of meetings.entries()) {
        const world = await createWorld({ indexes });
        const spoken = meeting.turns.map(({ speaker, text }) => `${speaker}: ${text}`);
        const positions = new Map<string, number>();
        if (shape === 'transcript') await world.addText(`meeting ${number}`, spoken.join('\n\n'));
        else {
          for (const [at, text] of spoken.entries()) positions.set((await world.addText(`turn ${at}`, text)).id, at);
        }
        await using cognify = await startCognify(world, { extractor, embedder, runs: { leaseMs: 60_000 } });
        await cognify.run();
        const scope = scopeOf(world.dataset);
        for (const { question, gold } of meeting.questions) {
          const telling = gold.map((at) => spoken[at] ?? '').filter((text) => text.length >= MIN_TELLING_LENGTH);
          const isRight = ({ payload }: RankedPassage) =>
            shape === 'turns'
              ? gold.includes(positions.get(payload.documentId) ?? -1)
              : telling.some((text) => payload.text.includes(text));
          const [vector = null] = await embedder.embed([question], { scope, purpose: 'query' });
          for (const [at, { settings }] of runs.entries()) {
            const retriever = createRetriever({ indexes, ledger: world.ledger, settings });
            const { passages } = await retriever.retrieve({ scope, query: question, vector, limit: DEPTH });
            outcomes[at]?.push(passages.map(isRight));
          }
        }
      }
      const hits = (depth: number, of: readonly (readonly boolean[])[] = []) =>
        of.map((found) => Number(found.slice(0, depth).includes(true)));
      report[shape] = {
        questions: outcomes[0]?.length ?? 0,
        runs: Object.fromEntries(
          runs.map(({ name }, at) => {
            const found = outcomes[at] ?? [];
            const right = found.map((ranks) => ranks.slice(0, 5).filter(Boolean).length / 5);
            return [
              name,
              {
                'hit@1': percent(hits(1, found)),
                'hit@5': percent(hits(5, found)),
                'hit@10': percent(hits(10, found)),
                'P@5': percent(right),
                versusBm25: pairedDifference(hits(5, found), hits(5, outcomes[0])),
              },
            ];
          }),
        ),
      };
    }
    return report;
  } finally {
    await textWorkers.close();
    await indexes.close();
    await rm(directory, { recursive: true, force: true });
  }
}

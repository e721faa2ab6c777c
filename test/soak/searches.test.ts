import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { createWire, type Upload, type Wire } from '../support/wire.ts';
import { median, percentile, report } from './measures.ts';
import { makeText } from './texts.ts';

const BOOK = new URL('../../../shared/data/corpora/moby-dick.json', import.meta.url);
const CLIENTS = 100;
const EACH = 10;

function documents(): readonly Upload[] {
  if (!existsSync(BOOK)) {
    return Array.from({ length: 100 }, (_, index) => ({ name: `story-${index}.txt`, content: makeText(index, 200) }));
  }
  const book = JSON.parse(readFileSync(BOOK, 'utf8')) as { content: string }[];
  return book.map(({ content }, index) => ({ name: `chapter-${index}.txt`, content }));
}

const QUESTIONS = [
  'Who is Queequeg?',
  'white whale',
  'Ada Lovelace in London',
  'What did Ahab nail to the mast?',
  'Nantucket',
];

describe(`${CLIENTS} searches at the same time`, function () {
  this.timeout(300_000);
  const data = makeDataDir();
  let server: EngramProcess;
  let wire: Wire;
  before(async () => {
    server = await startProcess({ dataDir: data.path });
    wire = createWire(server.baseUrl);
    expect((await wire.upload('book', ...documents())).status).to.equal(200);
    expect((await wire.post('/cognify', { datasets: ['book'] })).status).to.equal(200);
  });
  after(async () => {
    await server.stop();
    data.remove();
  });

  for (const type of ['CHUNKS', 'CHUNKS_LEXICAL', 'GRAPH_COMPLETION', 'HYBRID_COMPLETION']) {
    it(`of type ${type} are all answered, 95 of 100 within a second`, async () => {
      const latencies: number[] = [];
      const failures: string[] = [];
      const client = async (number: number): Promise<void> => {
        for (let turn = 0; turn < EACH; turn += 1) {
          const query = QUESTIONS[(number + turn) % QUESTIONS.length];
          const start = performance.now();
          const answer = await wire.post('/search', { query, datasets: ['book'], search_type: type });
          latencies.push(performance.now() - start);
          if (answer.status !== 200) failures.push(`${answer.status} ${answer.text.slice(0, 200)}`);
        }
      };
      await client(0);
      latencies.length = 0;
      const start = performance.now();
      await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
      const perSecond = (CLIENTS * EACH) / ((performance.now() - start) / 1000);
      report(
        `${type}: p50 ${median(latencies).toFixed(0)} ms, p95 ${percentile(latencies, 0.95).toFixed(0)} ms, ${perSecond.toFixed(0)} a second`,
      );
      expect(failures).to.deep.equal([]);
      expect(percentile(latencies, 0.95)).to.be.below(1000);
    });
  }
});

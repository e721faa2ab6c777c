import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { improveSession } from '../support/improve-session.ts';
import { until } from '../support/until.ts';
import { createWire } from '../support/wire.ts';

const SESSIONS = ['s1', 's2', 's3'];

/** Reproducible moments: the seed is in the name of the test, `ENGRAM_TEST_SEED` repeats it. */
const seed = Number(process.env['ENGRAM_TEST_SEED'] ?? Date.now() % 100_000);

function seeded(first: number): () => number {
  let state = first;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

/** Names of the questions, and numbers of the steps, in everything that was persisted, in order. */
function contentOf(texts: readonly string[]): { readonly questions: string[]; readonly steps: string[] } {
  const all = texts.join('\n');
  return {
    questions: [...all.matchAll(/Question: (q\d+)/g)].map(([, question]) => question ?? ''),
    steps: [...all.matchAll(/look_(\d+) succeeded/g)].map(([, step]) => step ?? ''),
  };
}

describe('improve under kill -9', function () {
  this.timeout(240_000);
  const data = makeDataDir();
  let server: EngramProcess;
  // Small windows, so that there are many moments between one and the next.
  const environment = { IMPROVE_TRACE_WINDOW_STEPS: '2', IMPROVE_TRACE_WINDOWS_PER_RUN: '0' };
  const start = async () => {
    server = await startProcess({ dataDir: data.path, environment });
  };
  const wire = () => createWire(server.baseUrl);
  const notes = () => improveSession(wire(), 'notes');
  const untilIdle = async () => {
    const isIdle = async () => {
      const improves = (await wire().get('/activity/pipeline-runs?pipeline_name=improve')).json as { status: string }[];
      const started = improves.filter(({ status }) => status === 'DATASET_PROCESSING_STARTED').length;
      const { json } = await notes().improve([]);
      return 2 * started <= improves.length && json.stages[8].reason !== 'lock_held';
    };
    await until('no improve is running', isIdle, { everyMs: 100, limitMs: 60_000 });
  };

  before(start);
  after(async () => {
    await server.stop();
    data.remove();
  });

  itWhenWhole(`neither loses nor duplicates an entry, awaited or in the background (seed ${seed})`, async () => {
    const random = seeded(seed);
    let questions = 0;
    let steps = 0;
    for (let kills = 0; kills < 2; kills += 1) {
      for (const session of SESSIONS) {
        await notes().ask(session, `q${questions++}`, 'Ada Lovelace met Charles Babbage in London.');
        await notes().steps(session, 3, steps);
        steps += 3;
      }
      const improving = notes().improve(SESSIONS, { runInBackground: kills % 2 === 1 });
      await sleep(random() * 400);
      await server.kill();
      await improving.catch(() => null);
      await start();
    }
    await untilIdle();
    // It is skipped while an improve that started by itself holds the dataset.
    const isCompleted = async () => (await notes().improve(SESSIONS)).json.status === 'completed';
    await until('an improve of all sessions', isCompleted, { everyMs: 100, limitMs: 60_000 });
    const content = contentOf(await notes().persisted());
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));
    const sorted = (list: readonly string[]) => list.toSorted((one, other) => Number(one) - Number(other));
    expect(sorted(content.questions.map((question) => question.slice(1)))).to.deep.equal(numbers(questions));
    expect(sorted(content.steps)).to.deep.equal(numbers(steps));
  });

  it('continues accepted and automatic improves after a start', async () => {
    const form = new FormData();
    form.append('datasetName', 'wished');
    form.append('session_id', 's10');
    form.append('raw_data', 'q2000 was asked by Ada Lovelace.');
    await improveSession(wire(), 'others').ask('s9', 'q1000', 'Ada Lovelace met Mary Somerville.');
    expect((await wire().form('/remember', form)).status).to.equal(200);
    const accepted = await improveSession(wire(), 'others').improve(['s9'], { runInBackground: true });
    expect(accepted.json.status).to.equal('running');
    await server.kill();
    await start();
    const [others, wished] = [improveSession(wire(), 'others'), improveSession(wire(), 'wished')];
    for (const end = performance.now() + 40_000; performance.now() < end; await sleep(100)) {
      if ((await others.persisted()).length > 0 && (await wished.persisted()).length > 0) break;
    }
    expect(contentOf(await others.persisted()).questions).to.deep.equal(['q1000']);
    const texts = await wished.persisted();
    expect(texts).to.have.length(1);
    expect(texts[0]).to.include('q2000 was asked by Ada Lovelace.');
  });
});

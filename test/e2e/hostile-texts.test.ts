import { expect } from 'chai';
import { expectShortTurns, longestTurn } from '../support/cpu-time.ts';
import { describeWhenWhole } from '../support/extent.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

/** Texts whose reading once took the square of their length. */
const TEXTS: Readonly<Record<string, string>> = {
  'stops.txt': `Contents ${'.'.repeat(100_000)}x`,
  'calls.txt': `Contents ${'!'.repeat(100_000)}x`,
  'dots.txt': `Contents ${'…'.repeat(100_000)}x`,
  'names.txt': Array.from({ length: 1_500 }, (_, at) => `Ada X${at} met Ada Y${at}. `).join(''),
  'moves.txt': Array.from({ length: 1_500 }, (_, at) =>
    at % 2 === 0 ? `Ada lives in Town${at}.` : `Ada has moved to Berlin${at}.`,
  ).join('\n'),
};

describeWhenWhole('a server that builds memory of hostile texts', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp({});
  });
  after(() => app.stop());

  it('answers others meanwhile, and finds what stands beside them', async function () {
    this.timeout(240_000);
    const wire = createWire(app.baseUrl);
    // What is loaded with the first run and the first question is no matter of these.
    await wire.upload('first', { name: 'first.txt', content: 'Ada Lovelace lived in London. '.repeat(1_000) });
    await wire.post('/cognify', { datasets: ['first'] });
    await wire.post('/search', { query: 'Where did Ada live last year?', searchType: 'CHUNKS', datasets: ['first'] });
    const turn = await longestTurn(async () => {
      for (const [name, content] of Object.entries(TEXTS)) {
        expect((await wire.upload('hostile', { name, content })).status, name).to.equal(200);
      }
      await wire.upload('hostile', { name: 'good.txt', content: 'Grace Hopper wrote the compiler A-3 in Arlington.' });
      const run = await wire.post('/cognify', { datasets: ['hostile'] });
      expect(run.status).to.equal(200);
      expect(run.text).to.not.include('errored');
      const question = 'Who wrote the compiler A-3 in the last 99999999999 years?';
      const found = await wire.post('/search', { query: question, searchType: 'CHUNKS', datasets: ['hostile'] });
      expect(found.status).to.equal(200);
      expect(found.text).to.include('Grace Hopper');
    });
    expectShortTurns(turn);
  });
});

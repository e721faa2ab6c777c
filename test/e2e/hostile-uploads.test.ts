import { expect } from 'chai';
import {
  CONTAINER_BYTES,
  findGoodDocuments,
  SMALL_WORKERS,
  uploadHostileDocuments,
} from '../behaviour/hostile-uploads.ts';
import { expectShortTurns, longestTurn } from '../support/cpu-time.ts';
import { describeWhenWhole } from '../support/extent.ts';
import { watchTreeMemory } from '../support/process-tree.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

/** Of a server in a process of its own that has served a few requests. */
const SERVER_BYTES = 250_000_000;

describeWhenWhole('a server that is sent hostile documents', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp(SMALL_WORKERS);
  });
  after(() => app.stop());

  it('refuses each alone or takes it, without a pause for others and within 2 GiB of memory', async function () {
    this.timeout(240_000);
    // What is loaded with the first request is no matter of these.
    await createWire(app.baseUrl).upload('hostile', { name: 'first.txt', content: 'Ada Lovelace lived in London.' });
    // The server shares its process with the tests that ran before.
    const others = Math.max(0, process.memoryUsage.rss() - SERVER_BYTES);
    const memory = watchTreeMemory(process.pid);
    expectShortTurns(await longestTurn(() => uploadHostileDocuments(app.baseUrl)));
    await findGoodDocuments(app.baseUrl);
    expect(memory() - others).to.be.lessThan(CONTAINER_BYTES);
  });
});

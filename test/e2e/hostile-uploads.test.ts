import { expect } from 'chai';
import {
  CONTAINER_BYTES,
  findGoodDocuments,
  SMALL_WORKERS,
  uploadHostileDocuments,
} from '../conformance/hostile-uploads.ts';
import { longestTurn } from '../support/cpu-time.ts';
import { watchTreeMemory } from '../support/process-tree.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

describe('a server that is sent hostile documents', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp(SMALL_WORKERS);
  });
  after(() => app.stop());

  it('refuses each alone or takes it, without a pause for others and within 2 GiB of memory', async function () {
    this.timeout(240_000);
    // What is loaded with the first request is no matter of these.
    await createWire(app.baseUrl).upload('hostile', { name: 'first.txt', content: 'Ada Lovelace lived in London.' });
    const memory = watchTreeMemory(process.pid);
    expect(await longestTurn(() => uploadHostileDocuments(app.baseUrl))).to.be.lessThan(100);
    await findGoodDocuments(app.baseUrl);
    expect(memory()).to.be.lessThan(CONTAINER_BYTES);
  });
});

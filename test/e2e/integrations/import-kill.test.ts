import { expect } from 'chai';
import { makeDataDir, startProcess } from '../../support/engram-process.ts';
import { repeats } from '../../support/extent.ts';
import { startFakeGithub } from '../../support/fake-github.ts';
import { until } from '../../support/until.ts';
import { createWire } from '../../support/wire.ts';

/** More than a page of GitHub, which has 100. */
const ISSUES = repeats(150, 110);

describe('an import under kill -9', function () {
  this.timeout(300_000);

  it('goes on by itself after each start, and stores every document once', async () => {
    await using github = await startFakeGithub();
    const engine = github.add('acme/engine');
    for (let number = 1; number <= ISSUES; number += 1) {
      const updated = new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
      const body = `The part ${number} of the engine fails.`;
      engine.issues.set(number, { title: `Fault ${number}`, body, state: 'open', user: 'ada', updated, comments: [] });
    }
    const data = makeDataDir();
    const start = () => startProcess({ dataDir: data.path, environment: github.variables });
    let server = await start();
    try {
      const moments = [20, 105].map((number) => ({ number, isReached: Promise.withResolvers<void>() }));
      let documents = 0;
      github.state.hold = async (line) => {
        if (!/\/issues\/\d+\/comments/.test(line)) return;
        documents += 1;
        const moment = moments.find(({ number }) => number === documents);
        moment?.isReached.resolve();
        // The answer never comes: the process is killed while it waits.
        if (moment !== undefined) await new Promise((resolve) => setTimeout(resolve, 5000).unref());
      };
      const begun = await fetch(`${server.baseUrl}/api/v1/integrations/github/authorize`, { method: 'POST' });
      const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
      const query = github.install(new URL(authorizeUrl).searchParams.get('state') ?? '');
      await fetch(`${server.baseUrl}/api/v1/integrations/github/callback?${query}`, {
        ...{ redirect: 'manual', headers: { cookie: begun.headers.get('set-cookie')?.split(';')[0] ?? '' } },
      });
      for (const { isReached } of moments) {
        await isReached.promise;
        await server.kill();
        server = await start();
      }
      const wire = createWire(server.baseUrl);
      let connection = (await wire.get('/integrations/github/connection')).json;
      await until('the end of the import', async () => {
        connection = (await wire.get('/integrations/github/connection')).json;
        return connection.syncStatus === 'ok';
      });
      expect(connection.storedItems).to.equal(ISSUES);
      const items = (await wire.get(`/datasets/${connection.datasetId}/data?limit=1000`)).json as { name: string }[];
      const names = Array.from({ length: ISSUES }, (_, at) => `Fault ${at + 1} (#${at + 1})`);
      expect(items.map(({ name }) => name).toSorted(), 'each once').to.deep.equal(names.toSorted());
      await until('the graph', async () => {
        const { json } = await wire.get(`/datasets/status?dataset=${connection.datasetId}&pipeline=cognify_pipeline`);
        return json[connection.datasetId] === 'DATASET_PROCESSING_COMPLETED';
      });
    } finally {
      await server.stop();
      data.remove();
    }
  });
});

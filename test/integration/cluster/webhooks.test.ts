import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../../support/engram-process.ts';
import { startFakeGithub } from '../../support/fake-github.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';
import { withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';

const ISSUES = 80;
const SETTINGS = {
  REQUIRE_AUTHENTICATION: 'false',
  ENABLE_BACKEND_ACCESS_CONTROL: 'false',
  ENABLE_AUTO_MIGRATIONS: 'true',
  FASTAPI_USERS_JWT_SECRET: 'a secret that both replicas know, of more than 32 bytes',
};

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('a source that is connected to two replicas', function () {
    this.timeout(400_000);
    let github: Awaited<ReturnType<typeof startFakeGithub>>;
    const names = takeOwnNames();
    const folders = [makeDataDir(), makeDataDir()] as const;
    let one: EngramProcess;
    let two: EngramProcess;
    const start = (replica: 0 | 1) =>
      startProcess({
        dataDir: folders[replica].path,
        environment: { ...names.environment, ...SETTINGS, ...github.variables },
      });
    const wires = (): readonly [Wire, Wire] => [createWire(one.baseUrl), createWire(two.baseUrl)];
    const connection = async () => (await createWire(two.baseUrl).get('/integrations/github/connection')).json;
    const namesOfItems = async (dataset: string) => {
      const { json } = await createWire(two.baseUrl).get(`/datasets/${dataset}/data?limit=1000`);
      return (json as { name: string }[]).map(({ name }) => name).toSorted();
    };
    const named = (numbers: Iterable<number>) =>
      [...numbers].map((number) => `Fault ${number} (#${number})`).toSorted();
    const settled = async (after: string | null) => {
      const isOver = async () => {
        const state = await connection();
        return state.syncStatus === 'ok' && state.lastSyncedAt !== after ? state : null;
      };
      return until('the end of the import', isOver, { everyMs: 100 });
    };

    before(async () => {
      github = await startFakeGithub();
      const engine = github.add('acme/engine');
      for (let number = 1; number <= ISSUES; number += 1) {
        const updated = new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
        const body = `The part ${number} of the engine fails.`;
        engine.issues.set(number, {
          title: `Fault ${number}`,
          body,
          state: 'open',
          user: 'ada',
          updated,
          comments: [],
        });
      }
    });
    after(async () => {
      const { datasetId } = await connection();
      await createWire(two.baseUrl).remove(`/datasets/${datasetId}`);
      await Promise.all([one.stop(), two.stop()]);
      await github[Symbol.asyncDispose]();
      for (const folder of folders) folder.remove();
      await names.remove();
    });

    it('goes on with its back-fill at the other one when one is killed in the middle of it', async () => {
      one = await start(0);
      const isHalf = Promise.withResolvers<void>();
      const isOpen = Promise.withResolvers<void>();
      let documents = 0;
      github.state.hold = async (line) => {
        if (!/\/issues\/\d+\/comments/.test(line)) return;
        documents += 1;
        if (documents < ISSUES / 2) return;
        isHalf.resolve();
        await isOpen.promise;
      };
      const begun = await fetch(`${one.baseUrl}/api/v1/integrations/github/authorize`, { method: 'POST' });
      const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
      two = await start(1);
      const query = github.install(new URL(authorizeUrl).searchParams.get('state') ?? '');
      // The browser comes back to the other replica than the one that sent it away.
      const back = await fetch(`${two.baseUrl}/api/v1/integrations/github/callback?${query}`, {
        redirect: 'manual',
        headers: { cookie: begun.headers.get('set-cookie')?.split(';')[0] ?? '' },
      });
      expect(back.headers.get('location')).to.match(/github=connected$/);
      await isHalf.promise;
      const worker = (await holderOf(one, two)) === one ? 0 : 1;
      await (worker === 0 ? one : two).kill();
      isOpen.resolve();
      github.state.hold = null;
      if (worker === 1) two = one;
      const state = await settled(null);
      expect(state.storedItems).to.equal(ISSUES);
      expect(await namesOfItems(state.datasetId), 'each once').to.deep.equal(
        named(Array.from({ length: ISSUES }, (_, at) => at + 1)),
      );
      one = await start(worker);
    });

    it('works a delivery once that both of them get, many times over', async () => {
      const before = await connection();
      const [engine] = github.repositories;
      engine?.issues.delete(1);
      const asked = github.requests.length;
      const payload = deleted(1);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => github.deliver((at % 2 ? one : two).baseUrl, 'issues', payload, 'same')),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
      await settled(before.lastSyncedAt);
      for (const { baseUrl } of [one, two]) {
        expect((await github.deliver(baseUrl, 'issues', payload, 'same')).status).to.equal(200);
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const listed = github.requests.slice(asked).filter((line) => line.includes('/installation/repositories'));
      expect(listed, 'one import').to.have.length(1);
      expect(await namesOfItems(before.datasetId)).to.not.include.members(named([1]));
    });

    it('loses none of the deliveries that come to one or the other while imports are under way', async () => {
      const before = await connection();
      const [engine] = github.repositories;
      const gone = Array.from({ length: 40 }, (_, at) => at + 2);
      await Promise.all(
        gone.map(async (number, at) => {
          engine?.issues.delete(number);
          // Some come while the import of an earlier one is under way.
          await new Promise((resolve) => setTimeout(resolve, at * 50));
          const { status } = await github.deliver((at % 2 ? one : two).baseUrl, 'issues', deleted(number));
          expect(status).to.equal(200);
        }),
      );
      const left = named(Array.from({ length: ISSUES - 41 }, (_, at) => at + 42));
      await until('all of them are gone', async () => (await namesOfItems(before.datasetId)).length <= left.length, {
        everyMs: 200,
      });
      await until('the end of the last import', async () => (await connection()).syncStatus === 'ok');
      expect(await namesOfItems(before.datasetId)).to.deep.equal(left);
      for (const wire of wires()) {
        const { json } = await wire.get('/activity/jobs');
        expect(json.jobs, 'no dead letter').to.deep.equal([]);
      }
    });

    function deleted(number: number) {
      const [engine] = github.repositories;
      return { action: 'deleted', repository: { id: engine?.id, default_branch: 'main' }, issue: { number } };
    }
  });
});

/** The one of the two that carries out the import. */
async function holderOf(one: EngramProcess, two: EngramProcess): Promise<EngramProcess> {
  return until('a claimed import', () => [one, two].find((replica) => replica.output().includes('import.claimed')));
}

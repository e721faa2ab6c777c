import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import type { ServiceName } from '../../../services/common/domain/service-paths.ts';
import { type ModelProvider, startModelProvider } from '../../support/model-provider.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

const KEY = 'sk-the-new-key-of-the-cluster';
const REPLICAS = 2;

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('a cluster whose model is set at run time', function () {
    this.timeout(240_000);
    let provider: ModelProvider;
    let cluster: ClusterProcess;
    let wire: Wire;

    before(async () => {
      provider = await startModelProvider();
      cluster = await startCluster(
        {
          REQUIRE_AUTHENTICATION: 'false',
          ENABLE_BACKEND_ACCESS_CONTROL: 'false',
          LLM_MODEL: 'openai/first',
          LLM_ENDPOINT: `${provider.url}/v1`,
        },
        { replicas: REPLICAS },
      );
      wire = createWire(cluster.baseUrl);
    });
    after(async () => {
      await wire?.post('/forget', { everything: true }).catch(() => {});
      await cluster?.stop();
      await provider?.close();
    });

    /** Each replica by its own port. */
    function replicasOf(service: ServiceName): readonly Wire[] {
      const urls = cluster.urlsOf(service);
      expect(urls).to.have.length(REPLICAS);
      return urls.map((url) => createWire(url));
    }

    /** Model and key that the provider saw while something was asked of the cluster. */
    async function asked(work: () => Promise<{ readonly status: number; readonly text: string }>): Promise<string[]> {
      const before = provider.requests.length;
      const { status, text } = await work();
      expect(status, text).to.equal(200);
      const since = provider.requests.slice(before);
      return [...new Set(since.map(({ body, headers }) => `${String(body['model'])} ${headers.authorization}`))];
    }
    const remember = (through: Wire) => async () => {
      await wire.post('/add', { data: `Alice met Bob ${provider.requests.length} times.`, datasetName: 'notes' });
      return through.post('/cognify', { datasets: ['notes'] });
    };
    const search = (through: Wire) => () =>
      through.post('/search', { query: 'Who met Alice?', datasets: ['notes'], searchType: 'RAG_COMPLETION' });

    it('asks the new model with the new key from every replica within seconds', async () => {
      for (const through of replicasOf('cognify')) {
        expect(await asked(remember(through))).to.deep.equal(['first undefined']);
      }
      for (const through of replicasOf('search')) {
        expect(await asked(search(through))).to.deep.equal(['first undefined']);
      }
      const [one] = replicasOf('auth');
      const set = await one?.post('/settings', { llm: { provider: 'openai', model: 'second', apiKey: KEY } });
      expect(set?.status, set?.text).to.equal(200);
      const news = [`second Bearer ${KEY}`];
      const works = [...replicasOf('search').map(search), ...replicasOf('cognify').map(remember)];
      for (const work of works) {
        await until('the new model is asked', async () => isDeepStrictEqual(await asked(work), news));
      }
      for (const through of [...replicasOf('search'), ...replicasOf('search')]) {
        expect(await asked(search(through))).to.deep.equal(news);
      }
      for (const through of replicasOf('cognify')) {
        expect(await asked(remember(through))).to.deep.equal(news);
      }
      for (const through of replicasOf('auth')) {
        const { json } = await through.get('/settings');
        expect(json.llm).to.include({ model: 'second', apiKey: `sk-the-new${'*'.repeat(19)}` });
      }
    });

    it('shows the key neither in its database nor in its log', async () => {
      const client = new MongoClient(cluster.environment['ENGRAM_MONGODB_URL'] ?? '');
      const database = client.db(cluster.environment['ENGRAM_MONGODB_DATABASE']);
      const stored: string[] = [];
      for (const { name } of await database.listCollections().toArray()) {
        stored.push(JSON.stringify(await database.collection(name).find().toArray()));
      }
      await client.close();
      expect(stored.join('')).to.contain('second').and.not.contain(KEY);
      expect(cluster.output()).to.contain('models.opened').and.not.contain(KEY);
    });
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { type ModelProvider, type ProviderRequest, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const KEY = 'sk-the-new-key-of-the-server';
const SHOWN = `sk-the-new${'*'.repeat(18)}`;

/** The whole service over HTTP, its model set while it runs. */
describe('the service with a model set at run time', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  let wire: Wire;

  beforeEach(async () => {
    provider = await startModelProvider();
  });
  afterEach(async () => {
    await app.stop();
    await provider.close();
  });

  async function start(variables: Readonly<Record<string, string>>, dataDir?: string): Promise<void> {
    app = await startApp(variables, dataDir === undefined ? {} : { dataDir });
    wire = createWire(app.baseUrl);
  }
  const configured = () => ({ LLM_MODEL: 'openai/first', LLM_ENDPOINT: `${provider.url}/v1`, LLM_API_KEY: 'sk-first' });
  const set = (llm: object) =>
    wire.post('/settings', { llm: { provider: 'openai', model: 'second', apiKey: '', ...llm } });
  const askedWith = ({ body, headers }: ProviderRequest) => [body['model'], headers.authorization];
  /** Model and key of every question that the provider got since. */
  async function asked(work: () => Promise<unknown>): Promise<readonly unknown[]> {
    const before = provider.requests.length;
    await work();
    const distinct = new Set(provider.requests.slice(before).map((request) => JSON.stringify(askedWith(request))));
    return [...distinct].map((text) => JSON.parse(text) as unknown);
  }
  const remember = async (text: string) => {
    expect((await wire.post('/add', { data: text, datasetName: 'notes' })).status).to.equal(200);
    const { status } = await wire.post('/cognify', { datasets: ['notes'] });
    expect(status).to.equal(200);
  };
  const search = async () => {
    const { status } = await wire.post('/search', {
      query: 'Who met Alice?',
      datasets: ['notes'],
      searchType: 'RAG_COMPLETION',
    });
    expect(status).to.equal(200);
  };

  it('uses the new model with the new key from the next call on, also after a restart', async () => {
    await start(configured());
    expect(await asked(() => remember('Alice met Bob.'))).to.deep.equal([['first', 'Bearer sk-first']]);
    expect(await asked(search)).to.deep.equal([['first', 'Bearer sk-first']]);
    expect(await set({ apiKey: KEY })).to.include({ status: 200, text: 'null' });
    const second = [['second', `Bearer ${KEY}`]];
    expect(await asked(search)).to.deep.equal(second);
    expect(await asked(() => remember('Carol met Dave.'))).to.deep.equal(second);
    const { dataDir } = app;
    await app.stop({ keepData: true });
    await start(configured(), dataDir);
    expect(await asked(() => remember('Eve met Frank.'))).to.deep.equal(second);
    expect(await asked(search)).to.deep.equal(second);
    expect((await wire.get('/settings')).json.llm).to.include({ model: 'second', apiKey: SHOWN });
  });

  it('stores nothing that opens the key but the root key, which only its owner can read', async () => {
    await start(configured());
    await set({ apiKey: KEY });
    await search().catch(() => {});
    expect(readdirSync(app.dataDir)).to.include('root.key');
    const holding = (text: string) => {
      try {
        return execFileSync('grep', ['-rlaF', text, app.dataDir], { encoding: 'utf8' });
      } catch {
        return '';
      }
    };
    expect(holding('second')).to.not.equal('');
    expect(holding(KEY)).to.equal('');
  });

  it('changes from rules to a model and back', async () => {
    await start({ LLM_MODEL: 'openai/first' });
    expect(await asked(() => remember('Alice met Bob.'))).to.deep.equal([]);
    expect((await wire.get('/settings')).json.llm).to.include({ model: 'openai/gpt-5-mini', apiKey: null });
    await set({ model: 'gpt-5' });
    const detail =
      'LLM API key is not set: the settings choose openai, set its key there or LLM_API_KEY. [LLMAPIKeyNotSetError]';
    await wire.post('/add', { data: 'Carol met Dave.', datasetName: 'notes' });
    const failed = await wire.post('/cognify', { datasets: ['notes'] });
    expect([failed.status, failed.json]).to.deep.equal([500, { error: 'Pipeline run errored', detail }]);
    const question = { query: 'Who?', datasets: ['notes'] };
    expect(await wire.post('/search', question)).to.deep.include({ status: 422, json: { detail } });
    const health = await wire.get('/../../health/detailed');
    expect(health.json.components.llm_provider).to.deep.include({ status: 'degraded', provider: 'openai' });
    expect(await wire.remove('/settings')).to.include({ status: 200, text: 'null' });
    expect(await asked(() => remember('Eve met Frank.'))).to.deep.equal([]);
    await search();
  });

  it('finishes a run with the model that it started with', async () => {
    await start(configured());
    const gate = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    provider.answer = (request) => {
      seen.push(request.body['model']);
      if (seen.length === 1) gate.resolve();
      return undefined;
    };
    const texts = Array.from({ length: 30 }, (_, at) => `Alice met Number${at}.`);
    await wire.post('/add', { data: texts, datasetName: 'notes' });
    const running = wire.post('/cognify', { datasets: ['notes'], dataPerBatch: 1 });
    await gate.promise;
    await set({ model: 'second' });
    expect((await running).status).to.equal(200);
    expect(new Set(seen)).to.deep.equal(new Set(['first']));
    expect(seen.length).to.be.greaterThan(20);
  });
});

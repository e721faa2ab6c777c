import { expect } from 'chai';
import { embeddings, LETTERS, type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

type Json = Record<string, unknown>;

/** The whole service with an embedding endpoint, and what happens when that changes. */
describe('the service with an embedding endpoint', () => {
  let provider: ModelProvider;
  let app: StartedApp;

  beforeEach(async () => {
    provider = await startModelProvider();
  });
  afterEach(async () => {
    await app.stop();
    await provider.close();
  });

  const variables = (more: Record<string, string> = {}) => ({
    EMBEDDING_PROVIDER: 'custom',
    EMBEDDING_MODEL: 'letters',
    EMBEDDING_ENDPOINT: `${provider.url}/v1`,
    EMBEDDING_DIMENSIONS: String(LETTERS),
    EMBEDDING_BATCH_SIZE: '4',
    ...more,
  });
  async function post(path: string, body: object): Promise<{ status: number; body: Json }> {
    const { status, json } = await createWire(app.baseUrl).post(path, body);
    return { status, body: json as Json };
  }
  const add = (data: string | string[]) => post('/add', { data, datasetName: 'notes' });
  const cognify = () => post('/cognify', { datasets: ['notes'] });
  const search = (searchType: string) => post('/search', { query: 'Who met Alice?', searchType, datasets: ['notes'] });
  const runs = async () =>
    (await (
      await fetch(`${app.baseUrl}/api/v1/activity/pipeline-runs?pipeline_name=cognify_pipeline`)
    ).json()) as Json[];
  async function restart(more: Record<string, string>): Promise<void> {
    const { dataDir } = app;
    await app.stop({ keepData: true });
    app = await startApp(more, { dataDir });
  }

  it('embeds in batches of the configured size and bills the run', async () => {
    app = await startApp(variables());
    await add(['Alice met Bob.', 'Carol met Dave.', 'Eve met Frank.']);
    expect((await cognify()).status).to.equal(200);
    const sizes = provider.requests.map(({ body }) => (body['input'] as string[]).length);
    expect(Math.max(...sizes)).to.equal(4);
    const texts = sizes.reduce((sum, size) => sum + size, 0);
    // Items that are extracted at different times are embedded apart: one call of each may not be full.
    expect(sizes.length).to.be.at.most(Math.floor(texts / 4) + 3);
    expect((await runs())[0]).to.include({ tokens_in: 0, embedding_tokens: 3 * texts });
    const before = provider.requests.length;
    const { body } = await search('CHUNKS');
    expect(JSON.stringify(body)).to.include('Alice met Bob.');
    expect(provider.requests.slice(before).map((request) => request.body['input'])).to.deep.equal([['Who met Alice?']]);
  });

  for (const [what, change, length, names] of [
    ['dimensions', { EMBEDDING_DIMENSIONS: '16' }, 16, ['custom/letters with 8 dimensions', 'custom/letters with 16']],
    ['model', { EMBEDDING_MODEL: 'words' }, LETTERS, ['custom/letters with 8 dimensions', 'custom/words with 8']],
  ] as const) {
    it(`refuses other ${what} than a dataset was made with, naming both, before anything is written`, async () => {
      app = await startApp(variables());
      await add('Alice met Bob.');
      await cognify();
      await restart(variables(change));
      provider.answer = ({ body }) =>
        embeddings((body['input'] as string[]).map(() => new Array<number>(length).fill(1)));
      await add('Carol met Dave.');
      const asked = provider.requests.length;
      const cognified = await cognify();
      expect(provider.requests).to.have.length(asked);
      const found = await search('CHUNKS');
      const remembered = await post('/remember', { data: 'Eve met Frank.', datasetName: 'notes' });
      for (const { status, body } of [cognified, found]) {
        expect(status).to.equal(409);
        expect(body['detail']).to.include('[EmbeddingDimensionMismatchError]');
        for (const name of names) expect(body['detail']).to.include(name);
      }
      expect(remembered.status).to.equal(409);
      expect(remembered.body).to.include({ status: 'errored' });
      const lexical = await search('CHUNKS_LEXICAL');
      expect(lexical.status).to.equal(200);
      expect(JSON.stringify(lexical.body)).to.include('Alice').and.not.include('Carol');
      // What the message advises works.
      await post('/forget', { dataset: 'notes', memoryOnly: true });
      expect((await cognify()).status).to.equal(200);
      expect((await search('CHUNKS')).status).to.equal(200);
    });
  }

  it('refuses an endpoint that gives other dimensions than are configured, and keeps nothing', async () => {
    app = await startApp(variables({ EMBEDDING_DIMENSIONS: '16' }));
    await add('Alice met Bob.');
    const { status, body } = await cognify();
    expect(status).to.equal(409);
    expect(body['detail']).to.equal(
      'The embedding endpoint gives vectors of 8 dimensions, EMBEDDING_DIMENSIONS is 16. [EmbeddingDimensionMismatchError]',
    );
    expect((await search('CHUNKS_LEXICAL')).status).to.equal(404);
    await restart(variables());
    expect((await cognify()).status).to.equal(200);
    expect((await search('CHUNKS')).status).to.equal(200);
  });

  it('goes on with what the built-in embedder made, until the vectors have been made anew', async () => {
    app = await startApp();
    await add('Alice met Bob.');
    await cognify();
    await restart(variables());
    expect((await search('CHUNKS')).status).to.equal(200);
    await add('Carol met Dave.');
    expect((await cognify()).status).to.equal(200);
    expect(JSON.stringify((await search('CHUNKS')).body)).to.include('Carol');
    expect(provider.requests.filter(({ path }) => path.endsWith('/embeddings'))).to.have.length(0);
  });
});

describe('the service with a model that lacks its key', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp({ LLM_PROVIDER: 'openai' });
  });
  after(() => app.stop());

  async function post(path: string, body: object): Promise<{ status: number; body: Json }> {
    const { status, json } = await createWire(app.baseUrl).post(path, body);
    return { status, body: json as Json };
  }

  it('says so: cognify by 500 in its own form, other routes by 422', async () => {
    await post('/add', { data: 'Alice met Bob.', datasetName: 'notes' });
    const text = 'LLM API key is not set: LLM_PROVIDER is openai, set LLM_API_KEY or LLM_ENDPOINT.';
    const detail = `${text} [LLMAPIKeyNotSetError]`;
    expect(await post('/cognify', { datasets: ['notes'] })).to.deep.equal({
      status: 500,
      body: { error: 'Pipeline run errored', detail },
    });
    const refused = { status: 422, body: { detail } };
    expect(await post('/remember', { data: 'Eve met Frank.', datasetName: 'notes' })).to.deep.equal(refused);
    const question = { query: 'Who?', datasets: ['notes'] };
    expect(await post('/search', question)).to.deep.equal(refused);
    expect(await post('/recall', { ...question, searchType: 'RAG_COMPLETION', onlyContext: true })).to.have.property(
      'status',
      404,
    );
    const background = await post('/cognify', { datasets: ['notes'], runInBackground: true });
    expect(background.status).to.equal(200);
  });
});

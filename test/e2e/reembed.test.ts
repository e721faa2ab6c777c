import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LETTERS, type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { runCommand } from '../support/run-command.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';

interface State {
  readonly embedding: { readonly model: string; readonly dimensions: number } | null;
  readonly migration: { readonly phase: string } | null;
  readonly failure: object | null;
}

describe('migrating vectors to another model, over HTTP and the command line', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  let dataset: string;
  before(async () => {
    provider = await startModelProvider();
    const first = await startApp();
    await send(first, 'POST', '/add', { data: 'Alice met Bob in Oslo.', datasetName: 'notes' });
    await send(first, 'POST', '/cognify', { datasets: ['notes'] });
    await first.stop({ keepData: true });
    app = await startApp({ ...letters(), EMBEDDING_DIMENSIONS: String(LETTERS) }, { dataDir: first.dataDir });
    const [{ id }] = (await send(app, 'GET', '/datasets')).body as [{ id: string }];
    dataset = id;
  });
  after(async () => {
    await app?.stop();
    await provider?.close();
  });

  const send = async ({ baseUrl }: StartedApp, method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  const run = (...args: readonly string[]) => runCommand([...args, '--url', app.baseUrl]);
  const letters = () => ({
    EMBEDDING_PROVIDER: 'custom',
    EMBEDDING_MODEL: 'letters',
    EMBEDDING_ENDPOINT: `${provider.url}/v1`,
  });
  const put = (body: object) => send(app, 'PUT', `/datasets/embedding/${dataset}`, body);
  const search = async () => {
    const query = { query: 'Who met Alice?', searchType: 'CHUNKS', datasetIds: [dataset] };
    return JSON.stringify((await send(app, 'POST', '/search', query)).body);
  };

  it('is refused for a model that is not configured, and changes nothing', async () => {
    const { status, body } = await put({ model: 'somebody/else' });
    expect(status).to.equal(422);
    expect((body as { detail: string }).detail)
      .to.include('custom/letters')
      .and.include('builtin/hashing-v1');
    const { code, err } = await run('reembed', 'notes', '--model', 'somebody/else');
    expect([code, err.includes('is configured')]).to.deep.equal([1, true]);
    expect((await run('reembed', 'one', 'two')).code).to.equal(2);
  });

  it('does nothing when the vectors are of the model already', async () => {
    expect(await run('reembed', 'notes', '--model', 'hashing-v1')).to.deep.equal({
      code: 0,
      out: 'notes has vectors of builtin/hashing-v1 with 384 dimensions\n',
      err: '',
    });
  });

  it('makes vectors of the configured model, which are searched', async () => {
    await until('the new vectors are read', async () => {
      const { status, body } = await put({});
      expect(status).to.be.oneOf([200, 202]);
      const { embedding, failure } = body as State;
      expect(failure).to.equal(null);
      return embedding?.model === 'custom/letters';
    });
    const asked = provider.requests.length;
    expect(await search()).to.include('Alice met Bob');
    expect(provider.requests.length).to.be.greaterThan(asked);
  });

  it('makes the vectors again when their file was lost', async () => {
    await app.stop({ keepData: true });
    const files = join(app.dataDir, 'datasets', 'personal');
    const own = readdirSync(files).filter((name) => !name.startsWith(dataset));
    expect(own.length).to.be.greaterThan(0);
    for (const name of own) rmSync(join(files, name));
    app = await startApp({ ...letters(), EMBEDDING_DIMENSIONS: String(LETTERS) }, { dataDir: app.dataDir });
    expect(await search()).to.include('is being rebuilt');
    await until('they are back', async () => (await search()).includes('Alice met Bob'));
    expect(readdirSync(files).filter((name) => !name.startsWith(dataset))).to.include(own[0]);
  });
});

import { expect } from 'chai';
import { failure, type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';

describe('health of model providers', () => {
  let provider: ModelProvider;
  let app: StartedApp | undefined;
  beforeEach(async () => {
    provider = await startModelProvider();
  });
  afterEach(async () => {
    await app?.stop();
    await provider.close();
  });

  async function start(endpoint: string): Promise<void> {
    app = await startApp({
      LLM_MODEL: 'openai/first',
      LLM_ENDPOINT: `${endpoint}/v1`,
      LLM_API_KEY: 'sk-secret',
      EMBEDDING_PROVIDER: 'openai',
      EMBEDDING_MODEL: 'e',
      EMBEDDING_DIMENSIONS: '8',
      EMBEDDING_ENDPOINT: `${endpoint}/v1`,
      EMBEDDING_API_KEY: 'sk-secret',
    });
  }
  const look = async () => {
    const response = await fetch(`${app?.baseUrl}/health/detailed`);
    const text = await response.text();
    expect(text).to.not.include('sk-secret');
    const { components } = JSON.parse(text) as { components: Record<string, { status: string; details: string }> };
    return { status: response.status, llm: components['llm_provider'], embedder: components['embedding_service'] };
  };

  it('is unhealthy with a key that the provider refuses, and says so without its words', async () => {
    provider.answer = () => failure(401, { message: 'Incorrect API key provided: sk-secret' });
    await start(provider.url);
    const { status, llm, embedder } = await look();
    expect(status).to.equal(503);
    expect(llm).to.include({ status: 'unhealthy', details: 'The provider refuses the key or its payment' });
    expect(embedder).to.include({ status: 'unhealthy' });
  });

  it('is not healthy while the endpoint is dead', async () => {
    const dead = provider.url;
    await provider.close();
    await start(dead);
    expect((await look()).llm?.status).to.be.oneOf(['degraded', 'unhealthy']);
    await until('it is unhealthy', async () => (await look()).llm?.status === 'unhealthy', { everyMs: 200 });
    expect((await look()).status).to.equal(503);
    provider = await startModelProvider();
  });

  it('is asked of the provider once, however often somebody looks', async () => {
    await start(provider.url);
    await until('it is healthy', async () => (await look()).status === 200);
    for (let looks = 0; looks < 5; looks += 1) await look();
    expect(provider.requests).to.have.length(2);
  });
});

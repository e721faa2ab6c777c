import { expect } from 'chai';
import { type ModelProvider, startModelProvider } from '../../test/support/model-provider.ts';
import type { RequestOf } from '../common/platform/messaging/messages.ts';
import { createModelProbe } from './probe-model.ts';

const KEY = 'the-key-of-acme-0123456789';

describe('probes of models', () => {
  let provider: ModelProvider;
  beforeEach(async () => {
    provider = await startModelProvider();
  });
  afterEach(() => provider.close());

  const probe = (change: Partial<RequestOf<'cognify.ProbeModel'>> = {}) =>
    createModelProbe(['127.0.0.1'])({
      kind: 'language',
      provider: 'openai',
      model: 'gpt-x',
      endpoint: `${provider.url}/v1`,
      apiKey: KEY,
      ...change,
    });
  const embedding = { data: [{ index: 0, embedding: [1, 0, 0] }], usage: { prompt_tokens: 1, total_tokens: 1 } };

  it('accept a credential that the provider takes, with one small request', async () => {
    expect(await probe()).to.deep.equal({ outcome: 'accepted', detail: '' });
    expect(provider.requests).to.have.length(1);
    expect(provider.requests[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
  });

  it('tell a credential that is refused from a model that there is not, and from a provider that is away', async () => {
    const failing = (status: number, message: string) => {
      provider.answer = () => ({ status, body: { error: { message } } });
      return probe();
    };
    const refused = await failing(401, `Incorrect API key provided: ${KEY}. Also sk-abcdefgh1234.`);
    expect(refused.outcome).to.equal('rejected');
    expect(refused.detail)
      .to.include('does not accept the key')
      .and.not.to.match(/acme|abcdefgh/);
    expect((await failing(402, 'no credit')).outcome).to.equal('rejected');
    expect((await failing(404, 'The model gpt-x does not exist')).outcome).to.equal('invalid');
    expect((await failing(503, 'overloaded')).outcome).to.equal('unreachable');
    expect((await failing(429, 'slow down')).outcome).to.equal('unreachable');
    expect(provider.requests).to.have.length(5);
    await provider.close();
    expect((await probe()).outcome).to.equal('unreachable');
    provider = await startModelProvider();
  });

  it('know embedding models by the vectors they give', async () => {
    provider.answer = () => ({ body: embedding });
    const ask = (change: Partial<RequestOf<'cognify.ProbeModel'>>) =>
      probe({ kind: 'embedding', model: 'some-model', ...change });
    expect((await ask({ dimensions: 3 })).outcome).to.equal('accepted');
    expect((await ask({})).outcome).to.equal('accepted');
    const other = await ask({ dimensions: 4 });
    expect(other.outcome).to.equal('invalid');
    expect(other.detail).to.include('3 dimensions');
    expect((await ask({ provider: 'anthropic' })).outcome).to.equal('invalid');
  });

  it('reach no private host that no setting names, and tell nothing of what is there', async () => {
    const request = { kind: 'language', provider: 'openai', model: 'gpt-x', apiKey: KEY } as const;
    const ask = (endpoint: string) => createModelProbe(['models.svc:8000'])({ ...request, endpoint });
    const refusal = ({ host }: URL) => ({
      outcome: 'invalid',
      detail: `ENGRAM_TENANT_MODEL_HOSTS of the services does not name ${host}, and it is no public host.`,
    });
    expect(await ask(`${provider.url}/v1`)).to.deep.equal(refusal(new URL(provider.url)));
    expect(provider.requests).to.deep.equal([]);
    // Nobody answers there: nothing tells it from a place where somebody does.
    await provider.close();
    expect(await ask(`${provider.url}/v1`)).to.deep.equal(refusal(new URL(provider.url)));
    expect(await ask('http://169.254.169.254:8080/latest')).to.deep.equal(
      refusal(new URL('http://169.254.169.254:8080')),
    );
    const local = await createModelProbe([])({ kind: 'language', provider: 'ollama', model: 'llama3.2' });
    expect(local).to.deep.equal(refusal(new URL('http://127.0.0.1:11434')));
    provider = await startModelProvider();
  });

  it('follow no redirect', async () => {
    const elsewhere = await startModelProvider();
    provider.answer = () => ({ status: 307, headers: { location: `${elsewhere.url}/v1/chat/completions` } });
    expect((await probe()).outcome).to.equal('invalid');
    expect(provider.requests).to.have.length(1);
    expect(elsewhere.requests).to.deep.equal([]);
    await elsewhere.close();
  });

  it('need an endpoint for a provider that is not known by name', async () => {
    const answer = await probe({ provider: 'nobody', endpoint: '' });
    expect(answer.outcome).to.equal('invalid');
    expect(answer.detail).to.include('needs an endpoint');
  });
});

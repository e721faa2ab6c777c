import { expect } from 'chai';
import {
  completion,
  type ModelProvider,
  type ProviderAnswer,
  startModelProvider,
} from '../../../../test/support/model-provider.ts';
import { engramError } from '../../kernel/errors.ts';
import { closedObject } from '../../kernel/json.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import type { ModelCallContext } from '../../ports/models.ts';
import { createEmbedder } from './embedder.ts';
import { createLanguageModel } from './language-model.ts';
import { type ModelSettings, openLanguageModel } from './provider.ts';

const context: ModelCallContext = { scope: { tenant: PERSONAL_TENANT }, purpose: 'extraction' };
const retry = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1, maxAskedDelayMs: 1 };
const schema = closedObject({ answer: { type: 'string' } });
const ask = { system: 'Be brief.', prompt: 'What?', schema, schemaName: 'Answer' };

describe('providers by their own wire format', () => {
  let provider: ModelProvider;
  afterEach(() => provider.close());

  async function modelAt(answer: ProviderAnswer, settings: Omit<ModelSettings, 'endpoint'>, path = '') {
    provider = await startModelProvider(() => answer);
    return createLanguageModel({ ...settings, endpoint: provider.url + path, retry });
  }

  it('asks Anthropic under /v1/messages with its key header, and reads its answer and usage', async () => {
    const answer = (content: object) => ({
      body: {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [content],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 7, output_tokens: 2 },
      },
    });
    const settings = { provider: 'anthropic', model: 'anthropic/claude-haiku-4-5', apiKey: 'sk-ant' };
    const model = await modelAt(answer({ type: 'text', text: '{"answer":"yes"}' }), settings);
    expect(await model.structured(ask, context)).to.deep.equal({
      value: { answer: 'yes' },
      usage: { inputTokens: 7, outputTokens: 2 },
    });
    const [request] = provider.requests;
    expect(request?.path).to.equal('/v1/messages');
    expect(request?.headers).to.include({ 'x-api-key': 'sk-ant', 'anthropic-version': '2023-06-01' });
    expect(request?.headers).to.not.have.property('authorization');
    expect(request?.body).to.include({ model: 'claude-haiku-4-5' });
    expect(request?.body['system']).to.deep.equal([{ type: 'text', text: 'Be brief.' }]);
    expect(JSON.stringify(request?.body)).to.include('"answer"');
    expect(model.name).to.equal('anthropic/claude-haiku-4-5');
  });

  it('takes the endpoint of Anthropic in every form that other clients take', async () => {
    provider = await startModelProvider(() => ({ status: 500, body: {} }));
    for (const path of ['', '/', '/v1', '/v1/', '/v1/messages']) {
      const settings = { provider: 'anthropic', model: 'claude-haiku-4-5', endpoint: provider.url + path, retry };
      await createLanguageModel(settings)
        .text(ask, context)
        .catch(() => undefined);
    }
    expect(new Set(provider.requests.map(({ path }) => path))).to.deep.equal(new Set(['/v1/messages']));
    expect(provider.requests).to.have.length(5);
  });

  it('asks Gemini by generateContent with its key header and the schema', async () => {
    const body = {
      candidates: [{ content: { role: 'model', parts: [{ text: '{"answer":"yes"}' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 3, totalTokenCount: 7 },
    };
    const model = await modelAt({ body }, { provider: 'gemini', model: 'gemini/gemini-2.5-flash', apiKey: 'g-key' });
    expect(await model.structured(ask, context)).to.deep.equal({
      value: { answer: 'yes' },
      usage: { inputTokens: 4, outputTokens: 3 },
    });
    const [request] = provider.requests;
    expect(request?.path).to.equal('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(request?.headers).to.include({ 'x-goog-api-key': 'g-key' });
    expect(request?.body).to.have.nested.property('generationConfig.responseMimeType', 'application/json');
    expect(request?.body).to.have.nested.property('systemInstruction.parts[0].text', 'Be brief.');
  });

  it('asks Ollama under /v1, also when its own path is configured', async () => {
    provider = await startModelProvider();
    for (const path of ['', '/v1', '/api', '/api/chat']) {
      const settings = { provider: 'ollama', model: 'ollama/llama3.2', endpoint: provider.url + path, retry };
      expect((await createLanguageModel(settings).text(ask, context)).text).to.equal('The model says so.');
    }
    expect(new Set(provider.requests.map(({ path }) => path))).to.deep.equal(new Set(['/v1/chat/completions']));
    expect(provider.requests[0]?.body).to.include({ model: 'llama3.2' });
    expect(provider.requests[0]?.headers).to.not.have.property('authorization');
    const embedder = createEmbedder({
      provider: 'ollama',
      model: 'nomic-embed-text',
      endpoint: `${provider.url}/api/embed`,
      dimensions: 8,
      maxInputTokens: 10,
      retry,
    });
    expect((await embedder.embed(['a'], context))[0]).to.have.length(8);
    expect(provider.requests.at(-1)?.path).to.equal('/v1/embeddings');
  });

  for (const name of ['openai', 'mistral', 'custom', 'anything']) {
    it(`asks ${name} at an endpoint of its own by OpenAI's protocol, keeping the path`, async () => {
      const settings = { provider: name, model: `${name}/some-model`, apiKey: 'k-1' };
      const model = await modelAt(completion('hi'), settings, '/proxy/v2/');
      expect((await model.text(ask, context)).text).to.equal('hi');
      const [request] = provider.requests;
      expect(request?.path).to.equal('/proxy/v2/chat/completions');
      expect(request?.headers).to.include({ authorization: 'Bearer k-1' });
      expect(request?.body).to.deep.equal({
        model: 'some-model',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'What?' },
        ],
      });
    });
  }

  it('says which provider needs an endpoint, and asks none of the known ones anywhere else than at home', async () => {
    provider = await startModelProvider();
    const error = await openLanguageModel({ provider: 'bedrock', model: 'm' }).catch((caught: unknown) => caught);
    expect(error).to.have.property('message').that.includes('bedrock needs an endpoint');
    for (const [name, home] of [
      ['openai', 'https://api.openai.com/v1/chat/completions'],
      ['anthropic', 'https://api.anthropic.com/v1/messages'],
      ['gemini', 'https://generativelanguage.googleapis.com/v1beta'],
      ['mistral', 'https://api.mistral.ai/v1/chat/completions'],
      ['ollama', 'http://127.0.0.1:11434/v1/chat/completions'],
    ] as const) {
      const model = await openLanguageModel({ provider: name, model: 'm', apiKey: 'k' });
      expect(JSON.stringify(await homeOf(model))).to.include(home);
    }
  });

  it('reaches every provider through the given fetch alone', async () => {
    provider = await startModelProvider();
    for (const name of ['openai', 'anthropic', 'gemini', 'mistral', 'ollama', 'custom']) {
      for (const endpoint of [undefined, `${provider.url}/v1`]) {
        if (name === 'custom' && endpoint === undefined) continue;
        const asked: string[] = [];
        const refusing: typeof fetch = async (address) => {
          asked.push(String(address));
          throw engramError('SSRFProtectionError', 'Not there.');
        };
        const settings = { provider: name, model: 'm', apiKey: 'k', fetch: refusing, ...(endpoint && { endpoint }) };
        const calls = [createLanguageModel({ ...settings, retry }).text(ask, context)];
        const embedder = createEmbedder({ ...settings, dimensions: 8, maxInputTokens: 10, retry });
        if (name !== 'anthropic') calls.push(embedder.embed(['a'], context).then(() => expect.fail('embedded')));
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome, name).to.have.nested.property('reason.wireName', 'SSRFProtectionError');
        }
        expect(asked, name).to.have.length(calls.length);
      }
    }
    expect(provider.requests).to.deep.equal([]);
  });
});

/** The address a model object is bound to, without asking there. */
async function homeOf(model: unknown): Promise<unknown> {
  const { config, modelId } = model as {
    config: { baseURL?: string; url?: (call: { path: string; modelId: string }) => string };
    modelId: string;
  };
  const base = config.baseURL ?? '';
  return [base, `${base}/messages`, config.url?.({ path: '/chat/completions', modelId })];
}

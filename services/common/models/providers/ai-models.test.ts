import { expect } from 'chai';
import {
  completion,
  embeddings,
  failure,
  inOrder,
  type ModelProvider,
  type ProviderAnswer,
  startModelProvider,
  streamed,
  toolCall,
} from '../../../../test/support/model-provider.ts';
import { until } from '../../../../test/support/until.ts';
import { closedObject, type JsonObject } from '../../kernel/json.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import type { ModelCallContext, TokenUsage } from '../../ports/models.ts';
import { createEmbedder } from './embedder.ts';
import { createLanguageModel } from './language-model.ts';

const context: ModelCallContext = { scope: { tenant: PERSONAL_TENANT }, purpose: 'extraction' };
const retry = { attempts: 3, firstDelayMs: 1, maxDelayMs: 20, maxAskedDelayMs: 20 };
const schema = closedObject({ answer: { type: 'string' } });

describe('language model over an OpenAI-compatible endpoint', () => {
  const providers: ModelProvider[] = [];
  after(() => Promise.all(providers.map((provider) => provider.close())));

  async function modelWith(
    answers: ProviderAnswer[],
    options: { temperature?: number; callTimeoutMs?: number; retry?: typeof retry } = {},
  ) {
    const provider = await startModelProvider(inOrder(answers));
    providers.push(provider);
    const billed: TokenUsage[] = [];
    const model = createLanguageModel({
      provider: 'openai',
      model: 'openai/test-model',
      endpoint: `${provider.url}/v1`,
      apiKey: 'k',
      retry,
      meter: {
        admit: async () => ({ record: async (_name, usage) => void billed.push(usage), release: async () => {} }),
      },
      ...options,
    });
    return { model, provider, billed, bodies: () => provider.requests.map(({ body }) => body) };
  }

  const ask = { system: 'Answer.', prompt: 'What?', schema, schemaName: 'Answer' };
  const text = { system: 's', prompt: 'p' };
  const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

  it('sends the schema, strict where it can be, and gives the object with its usage', async () => {
    const { model, bodies } = await modelWith([completion('{"answer":"42"}'), completion('{"answer":"43"}')]);
    const { value, usage } = await model.structured(ask, context);
    expect(value).to.deep.equal({ answer: '42' });
    expect(usage).to.deep.equal({ inputTokens: 10, outputTokens: 5 });
    const loose: JsonObject = { type: 'object', properties: { answer: { type: 'string' } } };
    await model.structured({ ...ask, schema: loose }, context);
    const [strictly, loosely] = bodies();
    expect(strictly).to.have.nested.property('response_format.json_schema.name', 'Answer');
    expect(strictly).to.have.nested.property('response_format.json_schema.strict', true);
    expect(strictly).to.have.property('model', 'test-model');
    expect(loosely).to.have.nested.property('response_format.json_schema.strict', false);
  });

  it('sends a temperature only when one is set: some models refuse it', async () => {
    const silent = await modelWith([completion('x')]);
    await silent.model.text(text, context);
    expect(silent.bodies()[0]).to.not.have.property('temperature');
    const set = await modelWith([completion('x')], { temperature: 0.3 });
    await set.model.text(text, context);
    expect(set.bodies()[0]).to.have.property('temperature', 0.3);
  });

  it('repairs an answer that breaks the schema by telling the model what was wrong, and bills both calls', async () => {
    const { model, bodies, billed } = await modelWith([completion('{"wrong":1}'), completion('{"answer":"ok"}')]);
    const { value, usage } = await model.structured(ask, context);
    expect(value).to.deep.equal({ answer: 'ok' });
    expect(usage).to.deep.equal({ inputTokens: 20, outputTokens: 10 });
    expect(JSON.stringify(bodies()[1])).to.include('not usable').and.include('wrong');
    expect(billed).to.have.length(2);
  });

  it('takes an answer with a key too many as it is', async () => {
    const { model, provider } = await modelWith([completion('{"answer":"ok","thought":"hm"}')]);
    expect((await model.structured(ask, context)).value).to.include({ answer: 'ok' });
    expect(provider.requests).to.have.length(1);
  });

  it('reads an object out of a fenced answer', async () => {
    const { model } = await modelWith([completion('Here it is:\n```json\n{"answer":"x"}\n```')]);
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 'x' });
  });

  it('falls back from schema to tool to text when the server refuses, and remembers it for this schema alone', async () => {
    const { model, bodies } = await modelWith([
      failure(400, { message: 'response_format json_schema is not supported' }),
      failure(400, { message: 'tools are not supported' }),
      completion('{"answer":"t"}'),
      completion('{"answer":"u"}'),
      completion('{"other":"v"}'),
    ]);
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 't' });
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 'u' });
    const asked = bodies();
    expect(asked).to.have.length(4);
    expect(asked[3]).to.not.have.property('response_format');
    expect(asked[3]).to.not.have.property('tools');
    const another: JsonObject = { type: 'object', properties: { other: { type: 'string' } } };
    await model.structured({ ...ask, schema: another, schemaName: 'Other' }, context);
    expect(bodies()[4]).to.have.property('response_format');
  });

  it('takes the arguments of a forced tool as the object', async () => {
    const refused = failure(400, { message: 'json_schema is not supported' });
    const { model, bodies } = await modelWith([refused, toolCall('Answer', { answer: 'by tool' })]);
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 'by tool' });
    expect(bodies()[1]).to.have.nested.property('tool_choice.function.name', 'Answer');
  });

  it('does not take a prompt that is too long for a refusal of the schema', async () => {
    const tooLong = 'maximum context length is 8 tokens (2 in the messages, 6 in the functions)';
    const { model, provider } = await modelWith([failure(400, { message: tooLong })]);
    expect(await caught(model.structured(ask, context))).to.include({ status: 422 });
    expect(provider.requests).to.have.length(1);
  });

  it('says which schema cannot be used, without a call', async () => {
    const { model, provider } = await modelWith([]);
    const unusable: JsonObject = { type: 'object', properties: { a: { $ref: '#/nowhere' } } };
    expect(await caught(model.structured({ ...ask, schema: unusable }, context))).to.include({ status: 422 });
    expect(provider.requests).to.have.length(0);
  });

  it('waits as long as a throttling provider asks and then goes on', async () => {
    const { model, provider } = await modelWith([
      failure(429, { message: 'slow down', type: 'rate' }, { 'retry-after-ms': '5' }),
      completion('hello'),
    ]);
    expect((await model.text(text, context)).text).to.equal('hello');
    expect(provider.requests).to.have.length(2);
  });

  it('answers 429 with Retry-After when throttling outlives the retries', async () => {
    const throttled = failure(429, { message: 'slow down' });
    const { model, provider } = await modelWith([throttled, throttled, throttled]);
    const error = await caught(model.text(text, context));
    expect(error).to.include({ wireName: 'TooManyRequestsError', status: 429, retryAfterSeconds: 1 });
    expect(provider.requests).to.have.length(3);
  });

  it('gives up on a provider that hangs, and says that it did not answer in time', async () => {
    const { model, provider } = await modelWith([{ hangs: true }, { hangs: true }, completion('late')], {
      callTimeoutMs: 60,
    });
    const error = await caught(model.text(text, context));
    expect(error).to.include({ wireName: 'ServiceUnavailableError', status: 503 });
    expect((error as Error).message).to.include('in time');
    expect(provider.requests).to.have.length(2);
  });

  it('says that a provider could not be reached', async () => {
    const { model, provider } = await modelWith([]);
    await provider.close();
    const error = await caught(model.text(text, context));
    expect(error).to.include({ status: 503, message: 'the model provider could not be reached' });
  });

  const hopeless: readonly (readonly [string, ProviderAnswer, string, number])[] = [
    ['a spent budget (402)', failure(402, { message: 'pay' }), 'LLMPaymentRequiredError', 402],
    ['a spent budget (type)', failure(429, { message: 'x', type: 'budget_exceeded' }), 'LLMPaymentRequiredError', 402],
    [
      'a spent budget (sentence)',
      failure(400, { message: 'Budget has been exceeded! Current cost: 2, Max budget: 1.0' }),
      'LLMPaymentRequiredError',
      402,
    ],
    ['a spent quota', failure(429, { message: 'x', type: 'insufficient_quota' }), 'LLMQuotaExceededError', 422],
    ['spent credit', failure(400, { message: 'Your credit balance is too low' }), 'LLMQuotaExceededError', 422],
    ['a wrong key', failure(401, { message: 'bad key' }), 'LLMAPIKeyNotSetError', 422],
    ['a filter', failure(400, { code: 'content_policy_violation', message: 'no' }), 'ContentPolicyFilterError', 422],
    ['an unknown model', failure(404, { message: 'no such model' }), 'CogneeValidationError', 422],
  ];
  for (const [what, answer, wireName, status] of hopeless) {
    it(`does not ask again after ${what}`, async () => {
      const { model, provider } = await modelWith([answer, completion('never')]);
      expect(await caught(model.text(text, context))).to.include({ wireName, status });
      expect(provider.requests).to.have.length(1);
    });
  }

  it('takes an answer that its filter kept back, or that was cut off, for what it is, and bills it', async () => {
    const ended = (finish_reason: string, content: string) => ({
      body: {
        ...(completion(content).body as object),
        choices: [{ index: 0, finish_reason, message: { role: 'assistant', content } }],
      },
    });
    const filter = ended('content_filter', '');
    const filtered = await modelWith([filter, filter, filter]);
    for (const call of [() => filtered.model.structured(ask, context), () => filtered.model.text(text, context)]) {
      expect(await caught(call())).to.include({ wireName: 'ContentPolicyFilterError', status: 422 });
    }
    expect(filtered.billed).to.have.length(3);
    const cut = await modelWith([ended('length', '{"answer":"o'), completion('{"answer":"ok"}')]);
    expect((await cut.model.structured(ask, context)).value).to.deep.equal({ answer: 'ok' });
    expect(cut.billed).to.have.length(2);
  });

  it('tells the sentence of the provider without the names and keys in it', async () => {
    const message = 'ExceededBudget: User: ada@x.org Team: t-1 for key sk-abcdef123456, Budget=1.0';
    const { model } = await modelWith([failure(400, { message })]);
    const error = (await caught(model.text(text, context))) as Error;
    expect(error.message).to.match(/^LLM budget exhausted: ExceededBudget: User: <redacted>/);
    expect(error.message).to.not.match(/ada|t-1|abcdef/);
  });

  it('stops at once with the reason of the caller, also while a call or a pause is under way', async () => {
    const patient = { ...retry, maxAskedDelayMs: 60_000 };
    const busy = failure(429, { message: 'wait' }, { 'retry-after-ms': '10000' });
    const { model } = await modelWith([{ hangs: true }, busy], { retry: patient });
    const reason = new Error('stopping');
    const early = { ...context, signal: AbortSignal.abort(reason) };
    expect(await caught(model.text(text, early))).to.equal(reason);
    for (const afterMs of [30, 60]) {
      const stop = new AbortController();
      setTimeout(() => stop.abort(reason), afterMs);
      expect(await caught(model.structured(ask, { ...context, signal: stop.signal }))).to.equal(reason);
    }
  });

  it('meters what a failed call has cost', async () => {
    const { model, billed } = await modelWith([completion('no'), completion('no'), completion('no')]);
    expect(await caught(model.structured(ask, context))).to.be.instanceOf(Error);
    expect(billed.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens)).to.deep.equal([15, 15, 15]);
  });

  it('streams the pieces of an answer and bills what the provider counted', async () => {
    const { model, billed } = await modelWith([failure(500, { message: 'once' }), streamed(['one ', 'two'])]);
    const pieces: string[] = [];
    for await (const piece of model.stream(text, context)) pieces.push(piece);
    expect(pieces).to.deep.equal(['one ', 'two']);
    expect(billed).to.deep.equal([{ inputTokens: 10, outputTokens: 5 }]);
  });

  it('lets go of the provider when the reader of a stream leaves', async () => {
    const { model, provider, billed } = await modelWith([streamed(Array.from({ length: 200 }, (_, at) => `${at} `))]);
    for await (const piece of model.stream(text, context)) if (piece === '2 ') break;
    await until('the provider notices', () => provider.aborted() === 1);
    expect(billed).to.have.length(1);
  });
});

describe('embedder over an OpenAI-compatible endpoint', () => {
  async function embedderWith(answers: ProviderAnswer[], options: { batchSize?: number; model?: string } = {}) {
    const provider = await startModelProvider(inOrder(answers));
    const embedder = createEmbedder({
      provider: 'openai_compatible',
      model: 'm',
      endpoint: `${provider.url}/v1`,
      dimensions: 2,
      maxInputTokens: 100,
      batchSize: 8,
      retry,
      concurrency: 1,
      ...options,
    });
    return { embedder, provider };
  }

  it('gives unit vectors in order over several batches and a zero vector for an empty text', async () => {
    const answers = [
      embeddings([
        [3, 4],
        [0, 2],
      ]),
      embeddings([[1, 0]]),
    ];
    const { embedder, provider } = await embedderWith(answers, { batchSize: 2 });
    const vectors = await embedder.embed(['a', '', 'b', 'c'], context);
    await provider.close();
    expect(vectors.map((vector) => [...vector].map((value) => Math.round(value * 10) / 10))).to.deep.equal([
      [0.6, 0.8],
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
    expect(provider.requests.map(({ body }) => body['input'])).to.deep.equal([['a', 'b'], ['c']]);
    expect(provider.requests[0]?.body).to.not.have.property('dimensions');
  });

  it('asks models that can for the dimensions that are configured', async () => {
    const { embedder, provider } = await embedderWith([embeddings([[1, 0]])], {
      model: 'openai/text-embedding-3-small',
    });
    await embedder.embed(['a'], context);
    await provider.close();
    expect(provider.requests[0]?.body).to.include({ dimensions: 2, model: 'text-embedding-3-small' });
  });

  it('refuses another dimension, naming both', async () => {
    const { embedder, provider } = await embedderWith([embeddings([[1, 2, 3]])]);
    const error = await embedder.embed(['a'], context).catch((caught: unknown) => caught);
    await provider.close();
    expect(error).to.include({ wireName: 'EmbeddingDimensionMismatchError', status: 409 });
    expect((error as Error).message)
      .to.include('3')
      .and.include('2');
  });

  it('refuses an answer with too few vectors, and asks for no further batch after a failure', async () => {
    const short = embeddings([[1, 0]]);
    const { embedder, provider } = await embedderWith([short, short, short], { batchSize: 2 });
    const error = await embedder.embed(['a', 'b', 'c', 'd'], context).catch((caught: unknown) => caught);
    await provider.close();
    expect(error).to.have.property('wireName', 'EmbeddingException');
    expect(provider.requests.map(({ body }) => body['input'])).to.deep.equal([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});

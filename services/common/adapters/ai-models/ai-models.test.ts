import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { JsonObject } from '../../domain/json.ts';
import { PERSONAL_TENANT } from '../../domain/scope.ts';
import type { ModelCallContext } from '../../ports/models.ts';
import { createEmbedder } from './embedder.ts';
import { createLanguageModel } from './language-model.ts';
import { createMeteredLanguageModel } from './metered.ts';

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown };

/** A provider on a real socket: gives the scripted answers in order and keeps what it was asked. */
async function startProvider(
  answers: Answer[],
): Promise<{ endpoint: string; requests: Record<string, unknown>[]; server: Server }> {
  const requests: Record<string, unknown>[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    request.on('end', () => {
      requests.push(JSON.parse(text) as Record<string, unknown>);
      const answer = answers.shift() ?? { status: 500, body: {} };
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, server };
}

const context: ModelCallContext = { scope: { tenant: PERSONAL_TENANT }, purpose: 'extraction' };
const retry = { attempts: 3, firstDelayMs: 1, maxDelayMs: 20 };
const schema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['answer'],
  properties: { answer: { type: 'string' } },
};

function completion(content: string): Answer {
  return {
    body: {
      id: 'c1',
      object: 'chat.completion',
      created: 0,
      model: 'm',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  };
}

function toolCall(name: string, input: unknown): Answer {
  const call = { id: 't1', type: 'function', function: { name, arguments: JSON.stringify(input) } };
  return {
    body: {
      id: 'c1',
      object: 'chat.completion',
      created: 0,
      model: 'm',
      choices: [
        { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  };
}

const failure = (status: number, error: Record<string, unknown>, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: { error },
});

describe('language model over an OpenAI-compatible endpoint', () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });

  async function modelWith(answers: Answer[]) {
    const provider = await startProvider(answers);
    servers.push(provider.server);
    const model = createLanguageModel({
      provider: 'openai',
      model: 'openai/test-model',
      endpoint: provider.endpoint,
      apiKey: 'k',
      retry,
    });
    return { model, requests: provider.requests };
  }

  const ask = { system: 'Answer.', prompt: 'What?', schema, schemaName: 'Answer' };

  it('sends the schema and gives the object with its usage', async () => {
    const { model, requests } = await modelWith([completion('{"answer":"42"}')]);
    const { value, usage } = await model.structured(ask, context);
    expect(value).to.deep.equal({ answer: '42' });
    expect(usage).to.deep.equal({ inputTokens: 10, outputTokens: 5 });
    expect(requests[0]).to.have.nested.property('response_format.json_schema.name', 'Answer');
    expect(requests[0]).to.have.property('model', 'test-model');
  });

  it('repairs an answer that breaks the schema by telling the model what was wrong, and bills both calls', async () => {
    const { model, requests } = await modelWith([completion('{"wrong":1}'), completion('{"answer":"ok"}')]);
    const { value, usage } = await model.structured(ask, context);
    expect(value).to.deep.equal({ answer: 'ok' });
    expect(usage).to.deep.equal({ inputTokens: 20, outputTokens: 10 });
    expect(JSON.stringify(requests[1])).to.include('not usable');
  });

  it('reads an object out of a fenced answer', async () => {
    const { model } = await modelWith([completion('Here it is:\n```json\n{"answer":"x"}\n```')]);
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 'x' });
  });

  it('falls back from schema to tool to text when the server refuses, and remembers', async () => {
    const refused = failure(400, { message: 'response_format json_schema is not supported' });
    const refusedTool = failure(400, { message: 'tools are not supported' });
    const { model, requests } = await modelWith([
      refused,
      refusedTool,
      completion('{"answer":"t"}'),
      completion('{"answer":"u"}'),
    ]);
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 't' });
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 'u' });
    expect(requests).to.have.length(4);
    expect(requests[3]).to.not.have.property('response_format');
    expect(requests[3]).to.not.have.property('tools');
  });

  it('takes the arguments of a forced tool as the object', async () => {
    const refused = failure(400, { message: 'json_schema is not supported' });
    const { model, requests } = await modelWith([refused, toolCall('Answer', { answer: 'by tool' })]);
    expect((await model.structured(ask, context)).value).to.deep.equal({ answer: 'by tool' });
    expect(requests[1]).to.have.nested.property('tool_choice.function.name', 'Answer');
  });

  it('waits as long as a throttling provider asks and then goes on', async () => {
    const { model, requests } = await modelWith([
      failure(429, { message: 'slow down', type: 'rate' }, { 'retry-after-ms': '5' }),
      completion('hello'),
    ]);
    expect((await model.text({ system: 's', prompt: 'p' }, context)).text).to.equal('hello');
    expect(requests).to.have.length(2);
  });

  it('answers 429 with Retry-After when throttling outlives the retries', async () => {
    const throttled = failure(429, { message: 'slow down' });
    const { model } = await modelWith([throttled, throttled, throttled]);
    const error = await model.text({ system: 's', prompt: 'p' }, context).catch((caught: unknown) => caught);
    expect(error).to.include({ wireName: 'TooManyRequestsError', status: 429, retryAfterSeconds: 1 });
  });

  it('answers 402 at once when the budget is exhausted, without any secret of the message', async () => {
    const { model, requests } = await modelWith([
      failure(429, { message: 'Budget exceeded for key sk-abcdef123456', type: 'budget_exceeded' }),
    ]);
    const error = await model.text({ system: 's', prompt: 'p' }, context).catch((caught: unknown) => caught);
    expect(error).to.include({ wireName: 'LLMPaymentRequiredError', status: 402 });
    expect((error as Error).message)
      .to.match(/^LLM budget exhausted: /)
      .and.not.include('abcdef');
    expect(requests).to.have.length(1);
  });

  it('stops at once when the caller goes away', async () => {
    const { model } = await modelWith([completion('late')]);
    const error = await model
      .text({ system: 's', prompt: 'p' }, { ...context, signal: AbortSignal.abort() })
      .catch((caught: unknown) => caught);
    expect(error).to.have.property('name', 'AbortError');
  });

  it('meters what a failed call has cost', async () => {
    const { model } = await modelWith([completion('no'), completion('no'), completion('no')]);
    const recorded: number[] = [];
    const metered = createMeteredLanguageModel(model, {
      admit: async () => {},
      record: async (_name, usage) => {
        recorded.push(usage.inputTokens + usage.outputTokens);
      },
    });
    const error = await metered.structured(ask, context).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Error);
    expect(recorded).to.deep.equal([45]);
  });
});

describe('embedder over an OpenAI-compatible endpoint', () => {
  const embeddings = (vectors: number[][]): Answer => ({
    body: {
      object: 'list',
      model: 'm',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
  });

  async function embedderWith(answers: Answer[], batchSize: number) {
    const provider = await startProvider(answers);
    const embedder = createEmbedder({
      provider: 'openai_compatible',
      model: 'm',
      endpoint: provider.endpoint,
      dimensions: 2,
      maxInputTokens: 100,
      batchSize,
      retry,
      concurrency: 1,
    });
    return { embedder, ...provider };
  }

  it('gives unit vectors in order over several batches and a zero vector for an empty text', async () => {
    const { embedder, requests, server } = await embedderWith(
      [
        embeddings([
          [3, 4],
          [0, 2],
        ]),
        embeddings([[1, 0]]),
      ],
      2,
    );
    const vectors = await embedder.embed(['a', '', 'b', 'c'], context);
    server.close();
    expect(vectors.map((vector) => [...vector].map((value) => Math.round(value * 10) / 10))).to.deep.equal([
      [0.6, 0.8],
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
    expect(requests.map((request) => request['input'])).to.deep.equal([['a', 'b'], ['c']]);
  });

  it('refuses another dimension, naming both', async () => {
    const { embedder, server } = await embedderWith([embeddings([[1, 2, 3]])], 8);
    const error = await embedder.embed(['a'], context).catch((caught: unknown) => caught);
    server.close();
    expect(error).to.have.property('wireName', 'EmbeddingDimensionMismatchError');
    expect((error as Error).message)
      .to.include('3')
      .and.include('2');
  });
});

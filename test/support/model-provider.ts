import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { listening } from './listening.ts';

/** A request as the provider got it. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Name of the JSON schema asked for; '' for plain text. */
  readonly schema: string;
  /** The last message. */
  readonly prompt: string;
  readonly system: string;
}

export interface ProviderAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Server-sent events instead of a body. */
  readonly events?: readonly unknown[];
  /** Never answers; the connection stays open. */
  readonly hangs?: boolean;
  readonly delayMs?: number;
}

export interface ModelProvider {
  /** Without a path. */
  readonly url: string;
  /** Variables of a server whose language model it is. */
  readonly variables: Readonly<Record<string, string>>;
  readonly requests: ProviderRequest[];
  /** Requests that the client gave up. */
  aborted(): number;
  /** Replaced by a test to script faults; undefined falls through to the answers the provider was started with. */
  answer: (request: ProviderRequest) => ProviderAnswer | undefined;
  close(): Promise<void>;
}

/** A provider on a real socket that keeps what it was asked. */
export async function startModelProvider(
  standard: (request: ProviderRequest) => ProviderAnswer = answerAsModel,
): Promise<ModelProvider> {
  const requests: ProviderRequest[] = [];
  let aborted = 0;
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    response.on('close', () => {
      if (!response.writableEnded) aborted += 1;
    });
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const asked = readRequest(request.url ?? '', request.headers, Buffer.concat(pieces).toString());
      requests.push(asked);
      void send(response, provider.answer(asked) ?? standard(asked));
    });
  });
  const url = await listening(server);
  const provider: ModelProvider = {
    url,
    variables: {
      LLM_PROVIDER: 'custom',
      LLM_MODEL: 'custom/scripted',
      LLM_API_KEY: 'sk-test',
      LLM_ENDPOINT: `${url}/v1`,
    },
    requests,
    aborted: () => aborted,
    answer: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return provider;
}

/** Gives the answers in order, then 500. */
export function inOrder(answers: ProviderAnswer[]): (request: ProviderRequest) => ProviderAnswer {
  return () => answers.shift() ?? { status: 500, body: {} };
}

function readRequest(path: string, headers: IncomingHttpHeaders, text: string): ProviderRequest {
  const body = JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>;
  const messages = (body['messages'] ?? []) as { role: string; content: unknown }[];
  const format = body['response_format'] as { json_schema?: { name?: string } } | undefined;
  const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));
  return {
    path,
    headers,
    body,
    schema: format?.json_schema?.name ?? '',
    prompt: textOf(messages.at(-1)?.content),
    system: textOf(messages.find(({ role }) => role === 'system')?.content),
  };
}

async function send(response: ServerResponse, answer: ProviderAnswer): Promise<void> {
  if (answer.hangs === true) return;
  if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
  if (answer.events !== undefined) {
    response.writeHead(answer.status ?? 200, { 'content-type': 'text/event-stream' });
    for (const event of answer.events) {
      response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
    return;
  }
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
  response.end(JSON.stringify(answer.body ?? {}));
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** An answer of a chat model. */
export function completion(content: string): ProviderAnswer {
  return { body: chat({ finish_reason: 'stop', message: { role: 'assistant', content } }) };
}

export function toolCall(name: string, input: unknown): ProviderAnswer {
  const call = { id: 't1', type: 'function', function: { name, arguments: JSON.stringify(input) } };
  return {
    body: chat({ finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } }),
  };
}

export function failure(
  status: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {},
): ProviderAnswer {
  return { status, headers, body: { error } };
}

/** The pieces of an answer as a stream with its usage. */
export function streamed(pieces: readonly string[]): ProviderAnswer {
  const chunk = (choice: object, rest: object = {}) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, finish_reason: null, ...choice }],
    ...rest,
  });
  return {
    events: [
      ...pieces.map((content) => chunk({ delta: { role: 'assistant', content } })),
      chunk({ delta: {}, finish_reason: 'stop' }),
      { ...chunk({}), choices: [], usage: USAGE },
      '[DONE]',
    ],
  };
}

export function embeddings(vectors: readonly (readonly number[])[]): ProviderAnswer {
  return {
    body: {
      object: 'list',
      model: 'm',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      usage: { prompt_tokens: 3 * vectors.length, total_tokens: 3 * vectors.length },
    },
  };
}

function chat(choice: object): object {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 0,
    model: 'm',
    choices: [{ index: 0, ...choice }],
    usage: USAGE,
  };
}

/** A model that finds capitalised words and joins neighbours, answers questions with a fixed sentence, and embeds by letters. */
function answerAsModel(request: ProviderRequest): ProviderAnswer {
  if (request.path.endsWith('/embeddings')) return embeddings((request.body['input'] as string[]).map(letterVector));
  if (request.schema !== '') return completion(JSON.stringify(graphOf(request.prompt)));
  if (request.body['stream'] === true) return streamed(['The model ', 'says ', 'so.']);
  return completion('The model says so.');
}

export const LETTERS = 8;

function letterVector(text: string): readonly number[] {
  const counts = new Array<number>(LETTERS).fill(0);
  for (const letter of text.toLowerCase())
    counts[letter.charCodeAt(0) % LETTERS] = (counts[letter.charCodeAt(0) % LETTERS] ?? 0) + 1;
  return counts;
}

function graphOf(prompt: string): object {
  const passage = /"""\n([\s\S]*)\n"""/.exec(prompt)?.[1] ?? '';
  const names = [...new Set(passage.match(/\b[A-Z][a-z]+\b/g) ?? [])];
  return {
    summary: `About ${names.join(' and ')}.`,
    nodes: names.map((name) => ({ id: name, name, type: 'Person', description: `${name} is named.` })),
    edges: names.slice(1).map((name, index) => ({
      source_node_id: names[index],
      target_node_id: name,
      relationship_name: 'met',
      description: `${names[index]} met ${name}.`,
    })),
  };
}

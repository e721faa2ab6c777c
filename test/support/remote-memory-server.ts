import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closed, listening } from './listening.ts';

export const REMOTE_KEY = 'key-of-the-remote-memory';

interface RemoteItem {
  readonly name: string;
  readonly content: Buffer;
  /** The fields of the form that it came in. */
  readonly fields: Readonly<Record<string, string>>;
}

interface RemoteRequest {
  /** `POST /api/sync/<dataset>/diff` */
  readonly line: string;
  /** Of a body in JSON. */
  readonly json: unknown;
}

/** True: it has answered, or will not. The body is not read yet. */
type Intercept = (line: string, request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** The other side of sync (auth-integrations.md §5.3), over HTTP, as strict as it can be. */
export interface RemoteMemoryServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** In the order they were answered. */
  readonly requests: readonly RemoteRequest[];
  /** Items of a dataset by hash; changes are seen. */
  items(dataset: string): Map<string, RemoteItem>;
  put(dataset: string, name: string, content: string | Buffer): string;
  /** In place of the one before. */
  intercept(intercept: Intercept): void;
}

export async function startRemoteMemory(): Promise<RemoteMemoryServer> {
  const datasets = new Map<string, Map<string, RemoteItem>>();
  const requests: RemoteRequest[] = [];
  let intercept: Intercept = () => false;
  const items = (dataset: string): Map<string, RemoteItem> => {
    const present = datasets.get(dataset) ?? new Map<string, RemoteItem>();
    datasets.set(dataset, present);
    return present;
  };
  const server = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    try {
      if (await intercept(line, request, response)) return;
      const answer = await answerOf(line, request, items);
      requests.push({ line, json: answer.asked ?? null });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  const url = await listening(server);
  return {
    baseUrl: url,
    requests,
    items,
    put(dataset, name, content) {
      const bytes = Buffer.from(content);
      items(dataset).set(md5(bytes), { name, content: bytes, fields: {} });
      return md5(bytes);
    },
    intercept(next) {
      intercept = next;
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
}

export function md5(content: string | Buffer): string {
  return createHash('md5').update(content).digest('hex');
}

interface RemoteAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly asked?: unknown;
}

async function answerOf(
  line: string,
  request: IncomingMessage,
  items: (dataset: string) => Map<string, RemoteItem>,
): Promise<RemoteAnswer> {
  const body = await buffer(request);
  if (request.headers['x-api-key'] !== REMOTE_KEY) return { status: 401, body: 'wrong key' };
  const [, method = '', dataset = '', rest = ''] = /^(\w+) \/api\/sync\/([0-9a-f-]{36})(.*)$/.exec(line) ?? [];
  const json = () => JSON.parse(body.toString()) as Record<string, unknown>;
  if (line === 'POST /api/cognify') return { status: 200, asked: json(), body: '{}' };
  if (`${method} ${rest}` === 'POST /diff') {
    const asked = json();
    const hashes = asked['hashes'] as readonly string[];
    const have = [...items(dataset).keys()];
    const difference = {
      missing_on_remote: hashes.filter((hash) => !have.includes(hash)),
      missing_on_local: have.filter((hash) => !hashes.includes(hash)),
    };
    return { status: 200, asked, body: JSON.stringify(difference) };
  }
  if (`${method} ${rest}` === 'PUT ?prune=true') {
    const asked = json();
    const kept = asked['items'] as readonly string[];
    for (const hash of items(dataset).keys()) if (!kept.includes(hash)) items(dataset).delete(hash);
    return { status: 200, asked, body: '{"deleted_database_entries":0}' };
  }
  const [, part = ''] = /^\/data\/([\w-]+)$/.exec(rest) ?? [];
  if (method === 'GET' && part !== '') return fileAnswer(items(dataset).get(part));
  if (method === 'PUT' && part !== '') return keepUpload(request, body, { dataset, id: part }, items(dataset));
  return { status: 404, body: line };
}

function fileAnswer(item: RemoteItem | undefined): RemoteAnswer {
  if (item === undefined) return { status: 404 };
  const headers = { 'X-File-Name': Buffer.from(item.name).toString('latin1'), 'Content-Type': 'text/plain' };
  return { status: 200, headers, body: item.content };
}

/** Refuses what is not exactly as the contract has it. */
async function keepUpload(
  request: IncomingMessage,
  body: Buffer,
  { dataset, id }: { readonly dataset: string; readonly id: string },
  kept: Map<string, RemoteItem>,
): Promise<RemoteAnswer> {
  const type = request.headers['content-type'] ?? '';
  if (Number(request.headers['content-length']) !== body.byteLength) return { status: 411 };
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const file = form.get('file');
  const fields = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string')) as Record<
    string,
    string
  >;
  if (!(file instanceof File)) return { status: 422, body: 'no file' };
  const content = Buffer.from(await file.arrayBuffer());
  const isRight =
    fields['md5'] === md5(content) &&
    fields['data_id'] === id &&
    fields['dataset_id'] === dataset &&
    file.type.startsWith(fields['mime_type'] ?? 'none') &&
    Object.keys(fields).length === 6;
  if (!isRight) return { status: 422, body: JSON.stringify(fields) };
  kept.set(md5(content), { name: file.name, content, fields });
  return { status: 200, body: '{}' };
}

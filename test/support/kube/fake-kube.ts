import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createKubeClient } from '../../../operator/kube-runtime/http-kube-client.ts';
import type { KubeClient } from '../../../operator/kube-runtime/kube-client.ts';
import type { KubeConnection } from '../../../operator/kube-runtime/kube-connection.ts';
import type { KubeObject, ObjectName, ResourceKind } from '../../../operator/kube-runtime/kube-object.ts';
import { createKubeTransport } from '../../../operator/kube-runtime/kube-transport.ts';
import type { RuntimeClock } from '../../../operator/kube-runtime/runtime-clock.ts';
import { createFakeStore, type FakeStore, type Json, mergePatch, type StoredObject, StoreError } from './fake-store.ts';

/** A fault. `hang`: no answer; `silent`: a watch without lines; `reset`: a lost connection. */
type Fault =
  | { readonly status: number; readonly reason?: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly action: 'hang' | 'silent' | 'reset' }
  /** The watch answers these lines and ends. */
  | { readonly lines: readonly string[] };

interface FaultRule {
  readonly method?: string;
  readonly path?: RegExp;
  readonly watch?: boolean;
  /** Pages after the first. */
  readonly laterPage?: boolean;
  /** Default: once. */
  readonly times?: number;
  readonly fault: Fault;
}

interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: unknown;
}

/** An API server in this process, over HTTP, with watches and faults. */
export interface FakeKube {
  readonly connection: KubeConnection;
  readonly requests: readonly SeenRequest[];
  readonly store: FakeStore;
  /** Creates or changes an object as a user does. */
  put<T extends KubeObject>(kind: ResourceKind, object: T): T;
  change<T extends KubeObject>(kind: ResourceKind, name: ObjectName, patch: object): T;
  read<T extends KubeObject>(kind: ResourceKind, name: ObjectName): T | undefined;
  remove(kind: ResourceKind, name: ObjectName): void;
  fail(rule: FaultRule): void;
  /** Removes pending faults. */
  heal(): void;
  /** Number of open watches. */
  watches(): number;
  /** Ends open watches, cleanly or by a lost connection. */
  endWatches(how?: 'close' | 'reset'): void;
  bookmark(): void;
  client(options: { readonly clock: RuntimeClock; readonly fieldManager?: string }): KubeClient;
  close(): Promise<void>;
}

export async function startFakeKube(): Promise<FakeKube> {
  const store = createFakeStore();
  const requests: SeenRequest[] = [];
  let rules: (FaultRule & { left: number })[] = [];
  const watches = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  const closers: (() => void)[] = [];

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      const { code = 500, reason = 'InternalError', message = String(error) } = error as Partial<StoreError>;
      answer(response, code, { kind: 'Status', status: 'Failure', code, reason, message });
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://kube');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const seen: SeenRequest = {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      contentType: request.headers['content-type'] ?? '',
      body: text === '' ? undefined : JSON.parse(text),
    };
    requests.push(seen);
    const rule = rules.find((each) => each.left > 0 && applies(each, seen));
    if (rule !== undefined) {
      rule.left -= 1;
      if (misbehave(rule.fault, response)) return;
    }
    if (isWatch(seen)) serveWatch(store, seen, response, watches);
    else answer(response, 200, serve(store, seen));
  }

  function misbehave(fault: Fault, response: ServerResponse): boolean {
    if ('status' in fault) {
      const { status, reason = '', headers = {} } = fault;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      answer(response, status, { kind: 'Status', code: status, reason, message: `injected ${status}` });
    } else if ('lines' in fault) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(fault.lines.map((line) => `${line}\n`).join(''));
    } else if (fault.action === 'reset') response.destroy();
    else if (fault.action === 'silent') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      watches.add(response);
      response.once('close', () => watches.delete(response));
    }
    return true;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection: KubeConnection = {
    server: new URL(`http://127.0.0.1:${port}`),
    credentials: async () => ({ headers: { authorization: 'Bearer of-the-test' }, tls: {} }),
  };
  return {
    connection,
    requests,
    store,
    put: <T extends KubeObject>(kind: ResourceKind, object: T) =>
      store.create(collectionOf(kind), object as unknown as Json) as unknown as T,
    change: <T extends KubeObject>(kind: ResourceKind, { namespace, name }: ObjectName, patch: object) =>
      store.update(collectionOf(kind), { namespace, name }, (held) => mergePatch(held, patch) as Json) as unknown as T,
    read: <T extends KubeObject>(kind: ResourceKind, { namespace, name }: ObjectName) =>
      store.get(collectionOf(kind), namespace, name) as unknown as T | undefined,
    remove: (kind, { namespace, name }) => store.delete(collectionOf(kind), { namespace, name }),
    fail: (rule) => void rules.push({ ...rule, left: rule.times ?? 1 }),
    heal() {
      rules = [];
    },
    watches: () => watches.size,
    endWatches(how = 'close') {
      for (const response of watches) {
        if (how === 'close') response.end();
        else response.destroy();
      }
      watches.clear();
    },
    bookmark() {
      const metadata = { resourceVersion: String(store.version()) };
      for (const response of watches) response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n`);
    },
    client({ clock, fieldManager = 'test-operator' }) {
      const transport = createKubeTransport({ connection, clock, userAgent: fieldManager });
      closers.push(transport.close);
      return createKubeClient({ transport, fieldManager });
    },
    async close() {
      for (const close of closers) close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function collectionOf({ apiVersion, plural }: ResourceKind): string {
  return `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/${plural}`;
}

const isWatch = ({ query }: SeenRequest): boolean => query.get('watch') === 'true';

function applies(rule: FaultRule, seen: SeenRequest): boolean {
  return (
    (rule.method === undefined || rule.method === seen.method) &&
    (rule.path === undefined || rule.path.test(seen.path)) &&
    (rule.watch === undefined || rule.watch === isWatch(seen)) &&
    (rule.laterPage === undefined || rule.laterPage === seen.query.has('continue'))
  );
}

interface Place {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

function placeOf(path: string): Place {
  const root = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/(.*)$/.exec(path);
  if (root === null) throw new StoreError(404, 'NotFound', path);
  const [, base = '', rest = ''] = root;
  const parts = rest.split('/').map(decodeURIComponent);
  // `/namespaces/x` is a namespace, `/namespaces/x/secrets` something in it.
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? parts[1] : undefined;
  const [plural = '', name, subresource] = namespace === undefined ? parts : parts.slice(2);
  return { collection: `${base}/${plural}`, namespace, name, subresource };
}

function serve(store: FakeStore, seen: SeenRequest): unknown {
  const { collection, namespace, name, subresource } = placeOf(seen.path);
  if (name === undefined) {
    if (seen.method === 'POST') return store.create(collection, seen.body as Json);
    return servePage(store, seen, collection, namespace);
  }
  const place = { namespace, name };
  if (seen.method === 'DELETE') {
    const { preconditions } = (seen.body ?? {}) as { readonly preconditions?: { readonly uid?: string } };
    store.delete(collection, place, preconditions?.uid);
    return { kind: 'Status', status: 'Success' };
  }
  if (seen.method === 'PUT') return store.update(collection, place, () => seen.body as Json, subresource);
  if (seen.method === 'PATCH') {
    if (seen.contentType === 'application/apply-patch+yaml') {
      const manager = seen.query.get('fieldManager') ?? '';
      return store.apply(collection, seen.body as Json, { manager, force: seen.query.get('force') === 'true' }).object;
    }
    return store.update(collection, place, (held) => mergePatch(held, seen.body) as Json, subresource);
  }
  const held = store.get(collection, namespace, name);
  if (held === undefined) throw new StoreError(404, 'NotFound', `${name} not found`);
  return held;
}

/** A page shows the objects at the time of its request. */
function servePage(
  store: FakeStore,
  { query }: SeenRequest,
  collection: string,
  namespace: string | undefined,
): unknown {
  const all = store.list(collection, namespace).filter((object) => selected(object, query));
  const begin = Number(query.get('continue') ?? 0);
  const limit = Number(query.get('limit') ?? all.length);
  const next = begin + limit;
  return {
    kind: 'List',
    metadata: { resourceVersion: String(store.version()), ...(next < all.length ? { continue: String(next) } : {}) },
    items: all.slice(begin, next).map(({ apiVersion: _, kind: __, ...item }) => item),
  };
}

function selected({ metadata }: StoredObject, query: URLSearchParams): boolean {
  const name = /^metadata\.name=(.+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
  if (name !== undefined && name !== metadata.name) return false;
  const selector = query.get('labelSelector');
  if (selector === null) return true;
  return selector.split(',').every((term) => {
    const [label = '', value] = term.split('=');
    const held = metadata.labels?.[label];
    return value === undefined ? held !== undefined : held === value;
  });
}

function serveWatch(store: FakeStore, seen: SeenRequest, response: ServerResponse, watches: Set<ServerResponse>): void {
  const { collection, namespace } = placeOf(seen.path);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const missed = store.eventsSince(Number(seen.query.get('resourceVersion')));
  if (missed === 'expired') {
    const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    return;
  }
  const send = (event: (typeof missed)[number]) => {
    const { object, type } = event;
    if (response.writableEnded || event.collection !== collection || !selected(object, seen.query)) return;
    if (namespace === undefined || object.metadata.namespace === namespace) {
      response.write(`${JSON.stringify({ type, object })}\n`);
    }
  };
  for (const event of missed) send(event);
  const unsubscribe = store.onEvent(send);
  watches.add(response);
  response.once('close', () => {
    unsubscribe();
    watches.delete(response);
  });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

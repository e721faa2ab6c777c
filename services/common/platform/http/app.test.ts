import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { until } from '../../../../test/support/until.ts';
import { engramError } from '../../kernel/errors.ts';
import { HttpError } from './http-error.ts';
import { defineRoute, json, type Reply, type Route } from './route.ts';
import { NO_PERMISSION } from './route-permission.ts';

const common = { tag: 'test', summary: 'A test route', permission: NO_PERMISSION, responses: {} } as const;

function getRoute(path: string, answer: () => Promise<Reply> | Reply, auth: Route['auth'] = 'user'): Route {
  return defineRoute({ ...common, method: 'GET', path, auth, handle: async () => answer() });
}

const searchRoute = defineRoute({
  ...common,
  method: 'POST',
  path: '/api/v1/search',
  auth: 'user',
  body: { kind: 'json', schema: z.object({ query: z.string() }) },
  handle: async ({ body, principal, context }) =>
    json({ query: body.query, user: principal.email, caller: context.principal?.id ?? null }),
});

let lastSignal: AbortSignal | undefined;
let lateStream: Readable | undefined;

const routes: readonly Route[] = [
  searchRoute,
  getRoute('/api/v1/datasets', () => json([])),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/datasets',
    auth: 'user',
    handle: async () => json({ made: true }, 201),
  }),
  getRoute('/api/v1/datasets/status', () => json('status')),
  defineRoute({
    ...common,
    method: 'DELETE',
    path: '/api/v1/datasets/:datasetId',
    auth: 'user',
    params: z.object({ datasetId: z.string() }),
    handle: async ({ params }) => json({ deleted: params.datasetId }),
  }),
  getRoute('/api/v1/open', () => json({ ok: true }), 'none'),
  getRoute('/api/v1/strict', () => json({ ok: true }), 'strict'),
  getRoute('/api/v1/admin', () => json({ ok: true }), 'superuser'),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/nobody',
    auth: 'none',
    handle: async ({ principal }) => json(principal),
  }),
  getRoute('/api/v1/empty', () => ({ status: 204 })),
  getRoute('/api/v1/null', () => json(null)),
  getRoute('/api/v1/text', () => ({ text: 'plain' })),
  getRoute('/api/v1/missing', () => {
    throw engramError('DatasetNotFoundError', 'No such dataset', { extra: { code: 'c' } });
  }),
  getRoute('/api/v1/busy', () => {
    throw engramError('TooManyRequestsError', 'Slow down', { retryAfterSeconds: 2.2 });
  }),
  getRoute('/api/v1/passing', () => {
    throw engramError('ServiceUnavailableError', 'The store is away', { retryable: true });
  }),
  getRoute('/api/v1/fixed', () => {
    throw new HttpError(409, { error: 'Taken', detail: null }, { headers: { 'x-why': 'because' } });
  }),
  getRoute('/api/v1/broken', () => {
    throw new Error('password=hunter2 at /srv/secret');
  }),
  getRoute('/api/v1/stream', () => ({
    stream: Readable.from(['one ', 'two']),
    headers: { 'content-type': 'text/event-stream' },
  })),
  getRoute('/api/v1/broken-stream', () => ({
    stream: Readable.from(
      (async function* () {
        yield 'part';
        await sleep(20);
        throw new Error('source failed');
      })(),
    ),
  })),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/endless',
    auth: 'user',
    handle: async ({ signal }) => {
      lastSignal = signal;
      return {
        stream: Readable.from(
          (async function* () {
            for (;;) {
              yield 'tick\n';
              await sleep(5);
            }
          })(),
        ),
      };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/late-stream',
    auth: 'user',
    handle: async ({ signal }) => {
      lastSignal = signal;
      await once(signal, 'abort');
      lateStream = Readable.from(['too late']);
      return { stream: lateStream };
    },
  }),
];

describe('createApp', () => {
  let app: RunningApp;
  before(async () => {
    app = await runApp({ routes });
  });
  after(() => app.stop());

  describe('routing', () => {
    it('answers plain HEAD and OPTIONS with 405 and Allow', async () => {
      for (const method of ['HEAD', 'OPTIONS']) {
        const answer = await fetch(`${app.url}/`, { method });
        expect(answer.status).to.equal(405);
        expect(answer.headers.get('allow')).to.equal('GET');
      }
    });

    it('prefers a fixed segment, but falls back to the parameter for another method', async () => {
      expect(await (await app.get('/api/v1/datasets/status')).json()).to.equal('status');
      const answer = await fetch(`${app.url}/api/v1/datasets/status`, {
        method: 'DELETE',
        headers: { 'x-api-key': 'user-key' },
      });
      expect(await answer.json()).to.deep.equal({ deleted: 'status' });
    });

    it('decodes parameters, and keeps a malformed escape as text', async () => {
      const remove = async (id: string) =>
        JSON.parse((await app.raw(`/api/v1/datasets/${id}`, { 'x-api-key': 'user-key' }, 'DELETE')).text) as unknown;
      expect(await remove('a%2Fb%20c')).to.deep.equal({ deleted: 'a/b c' });
      expect(await remove('%E0%A4%A')).to.deep.equal({ deleted: '%E0%A4%A' });
    });
  });

  describe('authentication', () => {
    it('refuses without credentials with the posture in the text and no challenge', async () => {
      const answer = await fetch(`${app.url}/api/v1/datasets`);
      expect(answer.status).to.equal(401);
      expect(answer.headers.get('www-authenticate')).to.equal(null);
      const { detail } = (await answer.json()) as { detail: string };
      expect(detail)
        .to.match(/^Authentication required \(auth posture: explicit REQUIRE_AUTHENTICATION\)\. /)
        .and.include('ENABLE_BACKEND_ACCESS_CONTROL=false')
        .and.include('DEFAULT_USER_PASSWORD');
    });

    it('tells a wrong credential from none, and strangers nothing of how to switch authentication off', async () => {
      const detailOf = async (headers: Record<string, string>) =>
        ((await (await fetch(`${app.url}/api/v1/datasets`, { headers })).json()) as { detail: string }).detail;
      const told = {
        key: await detailOf({ 'x-api-key': 'wrong' }),
        bearer: await detailOf({ authorization: 'Bearer wrong' }),
        cookie: await detailOf({ cookie: 'auth_token=wrong' }),
        throughProxy: await detailOf({ 'x-forwarded-for': '203.0.113.9' }),
      };
      for (const [who, detail] of Object.entries(told)) {
        expect(detail, who)
          .to.match(/^Authentication required \(auth posture: /)
          .and.not.match(/ENABLE_BACKEND|DEFAULT_USER_PASSWORD/);
      }
      expect(told.key).to.contain('The API key of this request (X-Api-Key) is not valid');
      expect(told.bearer).to.contain('The bearer token of this request is not valid');
      expect(told.cookie).to.contain('log in again');
      expect(told.throughProxy).to.contain('Send an API key as X-Api-Key, or log in');
    });

    it('passes key, bearer and cookie in this order', async () => {
      app.asked.length = 0;
      await fetch(`${app.url}/api/v1/datasets`, {
        headers: { 'x-api-key': 'k', authorization: 'bearer t', cookie: 'a=b; auth_token="c"; auth_token_x=d' },
      });
      expect(app.asked).to.deep.equal([
        {
          credentials: [
            { kind: 'api-key', value: 'k' },
            { kind: 'bearer', value: 't' },
            { kind: 'cookie', value: 'c' },
          ],
          strict: false,
        },
      ]);
    });

    it('lets no page of a neighbour or a stranger act with the cookie of its visitor', async () => {
      const cookie = 'auth_token=user-key';
      const statusOf = async (method: string, headers: Record<string, string>) =>
        (await app.raw('/api/v1/datasets', { cookie, ...headers }, method)).status;
      const foreign = { 'sec-fetch-site': 'same-site', origin: 'http://blog.localhost' };
      expect(await statusOf('POST', foreign)).to.equal(401);
      expect(await statusOf('POST', { ...foreign, 'sec-fetch-site': 'cross-site', origin: 'null' })).to.equal(401);
      expect(await statusOf('POST', { ...foreign, 'x-api-key': 'user-key' })).to.equal(201);
      expect(await statusOf('POST', { ...foreign, origin: 'http://localhost:3000' })).to.equal(201);
      expect(await statusOf('POST', { 'sec-fetch-site': 'same-origin', origin: 'http://anything' })).to.equal(201);
      expect(await statusOf('POST', {})).to.equal(201);
      // A link may lead here.
      expect(await statusOf('GET', { 'sec-fetch-site': 'cross-site' })).to.equal(200);
    });

    it('tells pages of other sites by their Origin where a browser says nothing else', async () => {
      const cookie = 'auth_token=user-key';
      const statusOf = async (headers: Record<string, string>) =>
        (await app.raw('/api/v1/datasets', { cookie, ...headers }, 'POST')).status;
      const foreign = ['http://blog.localhost', 'http://127.0.0.1', 'http://127.0.0.1:1', 'null', '', 'no origin'];
      for (const origin of foreign) expect(await statusOf({ origin }), origin).to.equal(401);
      const own = [`http://127.0.0.1:${app.port}`, `https://127.0.0.1:${app.port}`, 'http://localhost:3000'];
      for (const origin of own) expect(await statusOf({ origin }), origin).to.equal(201);
      expect(await statusOf({ host: 'memory.example', origin: 'https://memory.example' })).to.equal(201);
      expect(await statusOf({ host: 'memory.example:443', origin: 'https://memory.example' })).to.equal(201);
    });

    it('asks strictly where the route says so, and not at all where it needs nobody', async () => {
      app.asked.length = 0;
      await app.get('/api/v1/strict');
      await app.get('/api/v1/open');
      expect(app.asked.map(({ strict }) => strict)).to.deep.equal([true]);
    });

    it('has no principal on a route without authentication', async () => {
      expect((await app.get('/api/v1/nobody')).status).to.equal(500);
    });

    it('gives the handler the principal, also in its call context', async () => {
      expect(await (await app.post('/api/v1/search', { query: 'a' })).json()).to.deep.equal({
        query: 'a',
        user: 'user-key@example.com',
        caller: 'user-key',
      });
    });

    it('reports malformed JSON before it asks for credentials, everything else after', async () => {
      const headers = { 'content-type': 'application/json' };
      const post = (body: string) => fetch(`${app.url}/api/v1/search`, { method: 'POST', headers, body });
      expect((await post('{"a":')).status).to.equal(400);
      expect((await post('{}')).status).to.equal(401);
      expect((await post(`{"a":"${'x'.repeat(100_000)}"`)).status).to.equal(401);
    });
  });

  describe('errors', () => {
    it('prints service errors with their class and extra keys', async () => {
      const answer = await app.get('/api/v1/missing');
      expect([answer.status, await answer.json()]).to.deep.equal([
        404,
        { detail: 'No such dataset [DatasetNotFoundError]', code: 'c' },
      ]);
    });

    it('sends Retry-After in whole seconds, rounded up', async () => {
      const answer = await app.get('/api/v1/busy');
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([429, '3']);
    });

    it('says when to come again after what passes by itself', async () => {
      const answer = await app.get('/api/v1/passing');
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1']);
    });

    it('sends a fixed body and its headers as they are', async () => {
      const answer = await app.get('/api/v1/fixed');
      expect([answer.status, answer.headers.get('x-why'), await answer.json()]).to.deep.equal([
        409,
        'because',
        { error: 'Taken', detail: null },
      ]);
    });

    it('tells nothing about an unknown error, and logs it with the request id and without secrets', async () => {
      app.log.length = 0;
      const answer = await app.get('/api/v1/broken', { 'x-request-id': 'my-id' });
      expect([answer.status, await answer.json()]).to.deep.equal([
        500,
        { error: 'Internal server error', detail: null },
      ]);
      await until('it is logged', () => app.log.some(({ event }) => event === 'http.request'));
      const line = app.log.find(({ event }) => event === 'http.request') ?? {};
      expect(line).to.include({ requestId: 'my-id', status: 500, level: 'error' });
      expect(JSON.stringify(line)).to.include('/srv/secret').and.not.include('hunter2');
    });

    it('shows errors as a page to browsers, with status and message, and JSON to programs', async () => {
      const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      const page = await fetch(`${app.url}/api/v1/<nowhere>`, { headers: browser });
      expect(page.status).to.equal(404);
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
      expect(await page.text())
        .to.contain('There is no such page on this server.')
        .and.not.contain('nowhere');
      for (const accept of ['*/*', 'application/json, text/html;q=0.9']) {
        const answer = await fetch(`${app.url}/api/v1/nowhere`, { headers: { accept } });
        expect(await answer.json()).to.deep.equal({ detail: 'Not Found' });
      }
    });

    it('refuses a request with two Host headers, equal ones too', async () => {
      for (const host of ['127.0.0.1', 'evil.example']) {
        const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nhost: ${host}\r\nConnection: close\r\n\r\n`;
        expect(await app.wire(request)).to.match(/^HTTP\/1\.1 400 .*"The request has more than one Host header\."/s);
      }
    });

    it('answers what is not HTTP, and a header that is too large', async () => {
      expect(await app.wire('NONSENSE\r\n\r\n')).to.match(/^HTTP\/1\.1 400 .*"This is not a valid HTTP request\."/s);
      const huge = `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`;
      expect(await app.wire(huge)).to.match(/^HTTP\/1\.1 431 /);
    });
  });

  describe('answers', () => {
    it('sends nothing, null and text as they are meant', async () => {
      const empty = await app.get('/api/v1/empty');
      expect([empty.status, await empty.text()]).to.deep.equal([204, '']);
      const nothing = await app.get('/api/v1/null');
      expect([nothing.headers.get('content-type'), await nothing.text()]).to.deep.equal(['application/json', 'null']);
      expect((await app.get('/api/v1/text')).headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    });

    it('carries a request id on every answer, the own one of the client when it is harmless', async () => {
      expect((await fetch(`${app.url}/nothing`)).headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
      expect((await app.get('/', { 'x-request-id': 'abc-1' })).headers.get('x-request-id')).to.equal('abc-1');
      expect((await app.get('/', { 'x-request-id': 'a b' })).headers.get('x-request-id')).to.not.equal('a b');
      expect((await app.get('/', { 'x-request-id': 'a'.repeat(200) })).headers.get('x-request-id')).to.have.length(36);
    });

    it('forbids sniffing, framing and storing', async () => {
      const { headers } = await app.get('/api/v1/datasets');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.include("frame-ancestors 'none'");
      expect(headers.get('cache-control')).to.equal('no-store');
    });

    it('streams', async () => {
      const answer = await app.get('/api/v1/stream');
      expect([answer.headers.get('content-type'), await answer.text()]).to.deep.equal(['text/event-stream', 'one two']);
    });

    it('breaks the connection when a stream fails in the middle, and says so in the log', async () => {
      app.log.length = 0;
      const answer = await app.get('/api/v1/broken-stream');
      let failure: unknown;
      await answer.text().catch((error: unknown) => {
        failure = error;
      });
      expect(failure).to.be.instanceOf(Error);
      await until('it is logged', () => app.log.some(({ event }) => event === 'http.reply-broken'));
    });

    it('aborts the signal when the client goes away', async () => {
      const abort = new AbortController();
      const answer = await fetch(`${app.url}/api/v1/endless`, {
        headers: { 'x-api-key': 'user-key' },
        signal: abort.signal,
      });
      await answer.body?.getReader().read();
      expect(lastSignal?.aborted).to.equal(false);
      abort.abort();
      await until('it is aborted', () => lastSignal?.aborted === true);
    });

    it('drops a stream that is ready after the client went away, without an error in the log', async () => {
      app.log.length = 0;
      const abort = new AbortController();
      const headers = { 'x-api-key': 'user-key' };
      const answer = fetch(`${app.url}/api/v1/late-stream`, { headers, signal: abort.signal }).catch(() => null);
      await until('it is asked', () => lastSignal?.aborted === false);
      abort.abort();
      await answer;
      await until('it is dropped', () => lateStream?.destroyed === true);
      await until('it is logged', () => app.log.some(({ event }) => event === 'http.request'));
      expect(app.log.map(({ event }) => event)).not.to.include('http.reply-broken');
    });

    it('logs one line per request without its query, and none of a probe at info', async () => {
      app.log.length = 0;
      await app.get('/api/v1/datasets?token=geheim');
      await app.get('/health');
      const requests = () => app.log.filter(({ event }) => event === 'http.request');
      await until('both are logged', () => requests().length >= 2);
      const lines = requests();
      expect(lines).to.have.length(2);
      expect(lines[0]).to.include({
        level: 'info',
        method: 'GET',
        path: '/api/v1/datasets',
        status: 200,
        user: 'user-key',
      });
      expect(lines[1]).to.include({ level: 'debug', path: '/health' });
      expect(JSON.stringify(lines)).to.not.include('geheim');
    });
  });
});

describe('App.close', () => {
  it('stops accepting, lets a request in flight end, and resolves', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const entered = Promise.withResolvers<void>();
    const app = await runApp({
      routes: [
        getRoute('/slow', async () => {
          entered.resolve();
          await gate;
          return json('done');
        }),
      ],
    });
    const pending = app.get('/slow');
    await entered.promise;
    const stopped = app.stop();
    const knock = () => fetch(`${app.url}/`).catch(() => 'refused');
    await until('it is refused', async () => (await knock()) === 'refused');
    release();
    expect(await (await pending).json()).to.equal('done');
    await stopped;
  });

  it('gives up on a request that does not end', async () => {
    const entered = Promise.withResolvers<void>();
    const never = () => {
      entered.resolve();
      return new Promise<Reply>(() => {});
    };
    const app = await runApp({ routes: [getRoute('/never', never)], settings: { drainTimeoutMs: 100 } });
    const pending = app.get('/never').catch(() => 'cut');
    await entered.promise;
    const start = performance.now();
    await app.stop();
    expect(performance.now() - start).to.be.lessThan(10_000);
    expect(await pending).to.equal('cut');
  });

  it('lets two instances run side by side without mixing their counts', async () => {
    const [one, two] = await Promise.all([runApp({ routes }), runApp({ routes })]);
    await one.get('/api/v1/datasets');
    await until('it is counted', async () => (await one.metrics.render()).includes('route="/api/v1/datasets"'));
    expect(await two.metrics.render()).to.not.include('route="/api/v1/datasets"');
    await Promise.all([one.stop(), two.stop()]);
  });

  it('rejects when the port is taken', async () => {
    const first = await runApp();
    const failure = await runApp({ port: first.port }).catch((error: NodeJS.ErrnoException) => error.code);
    expect(failure).to.equal('EADDRINUSE');
    await first.stop();
  });
});

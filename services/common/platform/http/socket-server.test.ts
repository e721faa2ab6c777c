import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { principalOf, type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { until } from '../../../../test/support/until.ts';
import { exchange } from '../../../../test/support/wire.ts';
import { engramError } from '../../kernel/errors.ts';
import type { SocketConnection, SocketRoute } from './socket-route.ts';

let last: SocketConnection | undefined;

const sockets: readonly SocketRoute[] = [
  {
    path: '/api/v1/cognify/subscribe/:runId',
    async serve(connection) {
      last = connection;
      if (connection.principal === null) return connection.close(1008, 'Unauthorized');
      await connection.send({
        run: connection.params['runId'],
        user: connection.principal.id,
        query: connection.query,
      });
      await connection.send({ second: true });
    },
  },
  {
    path: '/api/v1/follow',
    async serve(connection) {
      last = connection;
      await new Promise<void>((resolve) => connection.signal.addEventListener('abort', () => resolve()));
      await connection.send({ late: true });
    },
  },
  { path: '/api/v1/broken', serve: async () => Promise.reject(new Error('inside')) },
];

interface Talk {
  readonly frames: readonly unknown[];
  readonly code: number;
  readonly reason: string;
}

function talk(url: string, headers: Record<string, string> = {}): Promise<Talk> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    const frames: unknown[] = [];
    socket.on('message', (data) => frames.push(JSON.parse(String(data))));
    socket.on('close', (code, reason) => resolve({ frames, code, reason: String(reason) }));
    socket.on('error', reject);
  });
}

async function refusal(url: string, headers: Record<string, string> = {}): Promise<string> {
  return talk(url, headers).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

describe('WebSockets', () => {
  let app: RunningApp;
  let base: string;
  beforeEach(async () => {
    app = await runApp({ sockets });
    base = `ws://127.0.0.1:${app.port}`;
  });
  afterEach(() => app.stop());

  it('refuses targets that are no path, and goes on', async () => {
    const key = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    for (const target of ['//:x:y', 'http://[', '*', '//', '/%', '/api/v1/cognify/subscribe/%E0%A4%A/%']) {
      const request = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
      expect(await exchange(`http://127.0.0.1:${app.port}`, request)).to.match(/^HTTP\/1\.1 40[04] /);
    }
    expect((await talk(`${base}/api/v1/cognify/subscribe/run-1`, { 'x-api-key': 'user-key' })).code).to.equal(1000);
  });

  it('accepts first, then serves with parameters, query and principal, and closes 1000 at the end', async () => {
    const { frames, code } = await talk(`${base}/api/v1/cognify/subscribe/run-1/?since=x`, { 'x-api-key': 'user-key' });
    expect(frames).to.deep.equal([{ run: 'run-1', user: 'user-key', query: { since: 'x' } }, { second: true }]);
    expect(code).to.equal(1000);
  });

  it('opens for no page of a neighbour with the cookie of its visitor', async () => {
    const url = `${base}/api/v1/cognify/subscribe/run-1`;
    const headers = { cookie: 'auth_token=user-key', origin: 'http://blog.localhost' };
    expect((await talk(url, { ...headers, 'sec-fetch-site': 'same-site' })).code).to.equal(1008);
    expect((await talk(url, { ...headers, 'sec-fetch-site': 'same-origin' })).code).to.equal(1000);
    expect((await talk(url, headers)).code).to.equal(1008);
    expect((await talk(url, { ...headers, origin: `http://127.0.0.1:${app.port}` })).code).to.equal(1000);
  });

  it('does not open for a request with two Host headers', async () => {
    const key = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const target = 'GET /api/v1/cognify/subscribe/run-1 HTTP/1.1';
    const request = `${target}\r\nHost: a\r\nHost: b\r\n${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
    expect(await exchange(`http://127.0.0.1:${app.port}`, request)).to.match(/^HTTP\/1\.1 400 /);
  });

  it('takes the token of the query last, and keeps it from the handler and the log', async () => {
    app.asked.length = 0;
    const { frames } = await talk(`${base}/api/v1/cognify/subscribe/r?token=user-key`, { cookie: 'auth_token=c' });
    expect(app.asked[0]?.credentials).to.deep.equal([
      { kind: 'cookie', value: 'c' },
      { kind: 'bearer', value: 'user-key' },
    ]);
    expect(frames[0]).to.deep.include({ query: {} });
    await until('it is logged', () => app.log.some(({ event }) => event === 'http.socket'));
    expect(JSON.stringify(app.log)).to.not.include('token=');
  });

  it('counts as one request of the principal, and is refused before it opens when there are too many', async () => {
    const admitted: unknown[] = [];
    const limited = await runApp({
      sockets,
      budgets: {
        async admitRequest(payer) {
          admitted.push(payer);
          const wait = { retryAfterSeconds: 12.2 };
          if (admitted.length > 2) throw engramError('TooManyRequestsError', 'Budget exceeded: too many.', wait);
        },
        warnings: async () => [],
      },
    });
    try {
      const url = `ws://127.0.0.1:${limited.port}/api/v1/cognify/subscribe/run-1`;
      const key = { 'x-api-key': 'user-key' };
      for (let count = 0; count < 2; count += 1) expect((await talk(url, key)).frames).to.have.length(2);
      expect(await refusal(url, key)).to.equal('Unexpected server response: 429');
      const upgrade =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nX-Api-Key: user-key\r\n';
      const request = `GET /api/v1/follow HTTP/1.1\r\nHost: 127.0.0.1\r\n${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
      const answer = await exchange(limited.url, request);
      expect(answer).to.match(/^HTTP\/1\.1 429 Too Many Requests\r\nRetry-After: 13\r\n/);
      expect(answer).to.contain('{"detail":"Budget exceeded: too many. [TooManyRequestsError]"}');
      expect((await talk(url)).code, 'nobody has no budget').to.equal(1008);
      expect(admitted).to.have.length(4);
      expect(new Set(admitted.map((payer) => JSON.stringify(payer))).size).to.equal(1);
    } finally {
      await limited.stop();
    }
  });

  it('opens, and closes 1011, when it cannot be told who asks', async () => {
    const unable = await runApp({ sockets, authenticate: () => Promise.reject(new Error('the store is away')) });
    try {
      const { code, reason } = await talk(`ws://127.0.0.1:${unable.port}/api/v1/follow`);
      expect({ code, reason }).to.deep.equal({ code: 1011, reason: 'Internal error' });
    } finally {
      await unable.stop();
    }
  });

  it('lets the route refuse with 1008', async () => {
    expect(await talk(`${base}/api/v1/cognify/subscribe/r`)).to.deep.equal({
      frames: [],
      code: 1008,
      reason: 'Unauthorized',
    });
  });

  it('serves nobody in a tenant that does not answer, nor strangers to that of a host name', async () => {
    const hosts: (string | undefined)[] = [];
    const principal = principalOf('ada');
    const known = { principal, required: true, posture: 'x' };
    const hosted = await runApp({
      sockets,
      settings: { selectsTenantByHost: true },
      authenticate: async (_credentials, _strict, _context, { host } = {}) => {
        hosts.push(host);
        if (host === 'asleep.example.com') return { ...known, tenantState: 'Hibernated' };
        if (host === 'strange.example.com') throw engramError('PermissionDeniedError', 'You do not belong here.');
        return known;
      },
    });
    const url = `ws://127.0.0.1:${hosted.port}/api/v1/cognify/subscribe/r`;
    const codeAt = async (host: string) => (await talk(url, { host })).code;
    expect(await codeAt('Acme.example.com:8443')).to.equal(1000);
    expect(await codeAt('asleep.example.com')).to.equal(1008);
    expect(await codeAt('strange.example.com')).to.equal(1008);
    expect(hosts).to.deep.equal(['acme.example.com', 'asleep.example.com', 'strange.example.com']);
    await hosted.stop();
  });

  it('answers 404 to an unknown path, and 403 to a foreign page in the open mode', async () => {
    expect(await refusal(`${base}/api/v1/other`)).to.include('404');
    const open = await runApp({
      sockets,
      settings: { guard: { isActive: true, refusesProxies: true, allowedHosts: [] } },
    });
    const url = `ws://127.0.0.1:${open.port}/api/v1/cognify/subscribe/r`;
    expect(await refusal(url, { origin: 'https://evil.example' })).to.include('403');
    expect(await refusal(url, { host: 'evil.example' })).to.include('403');
    expect(await refusal(url, { origin: 'http://localhost:3000', 'x-api-key': 'user-key' })).to.equal('accepted');
    await open.stop();
  });

  it('closes 1011 when the route fails, without the reason', async () => {
    expect(await talk(`${base}/api/v1/broken`)).to.include({ code: 1011, reason: 'Internal error' });
    expect(app.log.some(({ event }) => event === 'http.socket-failed')).to.equal(true);
  });

  it('aborts the signal when the client goes away, and takes no harm from a late frame', async () => {
    const socket = new WebSocket(`${base}/api/v1/follow`);
    await new Promise((resolve) => socket.once('open', resolve));
    await until('it is open', () => last?.signal.aborted === false);
    expect(await app.metrics.render()).to.include('engram_websockets_open 1');
    socket.terminate();
    await until('it is aborted', () => last?.signal.aborted === true);
    expect(await app.metrics.render()).to.include('engram_websockets_open 0');
    expect((await app.get('/')).status).to.equal(200);
  });

  it('closes a socket with 1001 when the server stops', async () => {
    const ended = talk(`${base}/api/v1/follow`);
    await until('it is open', () => last?.signal.aborted === false);
    await sleep(30);
    await app.stop();
    expect((await ended).code).to.equal(1001);
  });
});

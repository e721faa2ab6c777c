import { Agent, createServer, get as httpGet, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { closed, listening } from '../../../test/support/listening.ts';
import { until } from '../../../test/support/until.ts';
import { exchange } from '../../../test/support/wire.ts';
import { SERVICE_NAMES, type ServiceName } from '../../common/domain/service-paths.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { createMetrics } from '../../common/platform/observability/metrics.ts';
import { createPathRouter, type PathRouter } from './path-router.ts';

describe('path router', () => {
  const servers: Server[] = [];
  const connections = new Map<string, number>();
  const metrics = createMetrics();
  let router: PathRouter;
  let url: string;

  /** Answers with its name and what it was sent. */
  async function startEcho(name: string): Promise<string> {
    const server = createServer(async (request, response) => {
      const body = (await Array.fromAsync(request)).join('');
      response.setHeader('content-type', 'application/json');
      const { host, 'x-forwarded-for': forwardedFor = 'nobody' } = request.headers;
      response.end(JSON.stringify({ name, url: request.url, host, forwardedFor, body }));
    });
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`${name}: ${data}`)));
    server.on('connection', () => connections.set(name, (connections.get(name) ?? 0) + 1));
    servers.push(server);
    return await listening(server);
  }

  before(async () => {
    const origins = new Map<ServiceName, readonly string[]>();
    for (const name of SERVICE_NAMES) origins.set(name, [await startEcho(name)]);
    origins.set('search', [await startEcho('search-1'), await startEcho('search-2')]);
    origins.set('improve', ['http://127.0.0.1:9']);
    const replicasOf = (service: ServiceName) => origins.get(service) ?? [];
    router = createPathRouter({ replicasOf, logger: createSilentLogger(), metrics });
    const { port } = await router.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${port}`;
  });

  after(async () => {
    await router.close();
    metrics.close();
    for (const server of servers) server.close();
  });

  const ask = async (path: string, init: RequestInit = {}) =>
    (await (await fetch(`${url}${path}`, init)).json()) as Record<string, string>;

  it('sends a request whole to the service that has its path', async () => {
    const body = 'x'.repeat(300_000);
    expect(await ask('/api/v1/add?name=%2F', { method: 'POST', body })).to.deep.include({
      name: 'ingest',
      url: '/api/v1/add?name=%2F',
      body,
      host: new URL(url).host,
    });
    expect((await ask('/health'))['name']).to.equal('auth');
  });

  it('tells its own metrics to scrapers, and to nobody who comes through a proxy', async () => {
    await ask('/api/v1/cognify');
    const scrape = async () => (await fetch(`${url}/metrics`)).text();
    await until('the request is counted', async () => /http_request[^\n]*route="cognify"/.test(await scrape()));
    expect(await scrape()).to.include('process_cpu');
    expect((await ask('/metrics', { headers: { 'x-forwarded-for': '10.0.0.1' } }))['name']).to.equal('auth');
  });

  it('adds the address of the client where it shall, whatever the client claims', async () => {
    expect(await ask('/health')).to.include({ forwardedFor: 'nobody' });
    const origin = await startEcho('auth');
    const replicasOf = () => [origin];
    const telling = createPathRouter({ replicasOf, forwardsAddresses: true, logger: createSilentLogger(), metrics });
    const { port } = await telling.listen(0, '127.0.0.1');
    const answer = await fetch(`http://127.0.0.1:${port}/health`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(await answer.json()).to.include({ forwardedFor: '192.0.2.1, 127.0.0.1' });
    await telling.close();
  });

  it('asks the replicas of a service in turn', async () => {
    const names = [];
    for (let turn = 0; turn < 4; turn += 1) names.push((await ask('/api/v1/search'))['name']);
    expect(names.sort()).to.deep.equal(['search-1', 'search-1', 'search-2', 'search-2']);
  });

  it('keeps its connections, and adds nothing to them with each request', async () => {
    const warnings: string[] = [];
    const listen = ({ name }: Error) => warnings.push(name);
    process.on('warning', listen);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = () =>
      new Promise<void>((resolve, reject) => {
        httpGet(`${url}/health`, { agent }, (response) => response.resume().once('end', resolve)).once('error', reject);
      });
    for (let turn = 0; turn < 15; turn += 1) await get();
    agent.destroy();
    process.off('warning', listen);
    expect(warnings).to.deep.equal([]);
    expect(connections.get('auth')).to.be.within(1, 3);
  });

  it('keeps idle connections of clients as long as the services tell them', async () => {
    const { headers } = await fetch(`${url}/metrics`);
    expect(headers.get('keep-alive')).to.equal('timeout=65');
  });

  it('hands WebSockets on', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/cognify/subscribe/0`);
    socket.on('open', () => socket.send('hello'));
    const message = await new Promise((resolve) => socket.on('message', (data) => resolve(String(data))));
    socket.close();
    expect(message).to.equal('cognify: hello');
  });

  it('refuses a request with two Host headers, of which a service would see one', async () => {
    for (const more of ['', 'Upgrade: websocket\r\nConnection: Upgrade\r\n']) {
      const request = `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n${more}Connection: close\r\n\r\n`;
      expect(await exchange(url, request)).to.match(/^HTTP\/1\.1 400 /);
    }
  });

  it('answers 503 with Retry-After while a service is away', async () => {
    const response = await fetch(`${url}/api/v1/improve`, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect(await response.json()).to.have.property('detail');
  });

  it('tells once when a replica stops to answer and once when it does again, with how many it could not ask', async () => {
    const told: { readonly event: string; readonly fields: Record<string, unknown> }[] = [];
    const note = (event: string, fields: object = {}) => void told.push({ event, fields: { ...fields } });
    const server = createServer((_, response) => response.end('{}'));
    const begin = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
    await begin(0);
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const telling = createPathRouter({
      replicasOf: () => [origin],
      logger: { ...createSilentLogger(), warn: note, info: note },
      metrics,
    });
    const at = await telling.listen(0, '127.0.0.1');
    const status = async () => {
      const answer = await fetch(`http://127.0.0.1:${at.port}/api/v1/search`);
      await answer.text();
      return answer.status;
    };
    expect(await status()).to.equal(200);
    await closed(server);
    for (let asked = 0; asked < 3; asked += 1) expect(await status()).to.equal(503);
    expect(told.map(({ event }) => event)).to.deep.equal(['router.unreachable']);
    await begin(port);
    for (let asked = 0; asked < 2; asked += 1) expect(await status()).to.equal(200);
    expect(told.map(({ event }) => event)).to.deep.equal(['router.unreachable', 'router.reachable']);
    expect(told[1]?.fields).to.include({ service: 'search', origin, refusedRequests: 3 });
    server.closeAllConnections();
    server.close();
    await telling.close();
  });

  it('answers 503 for a service that does not listen yet', async () => {
    const waiting = createPathRouter({ replicasOf: () => [], logger: createSilentLogger(), metrics });
    const { port } = await waiting.listen(0, '127.0.0.1');
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/search`);
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1']);
    await waiting.close();
  });
});

import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { makeDataDir, startProcess } from '../support/engram-process.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, exchange } from '../support/wire.ts';

describe('two instances in one process', () => {
  let one: StartedApp;
  let two: StartedApp;
  before(async () => {
    [one, two] = await Promise.all([startApp(), startApp()]);
  });
  after(() => Promise.all([one.stop(), two.stop()]));

  it('share nothing, under the same names and at the same time', async () => {
    const wires = [createWire(one.baseUrl), createWire(two.baseUrl)];
    const texts = ['Ada Lovelace met Charles Babbage.', 'Grace Hopper met Howard Aiken.'];
    await Promise.all(
      wires.map(async (wire, index) => {
        expect((await wire.post('/add', { data: texts[index], datasetName: 'same' })).status).to.equal(200);
        expect((await wire.post('/cognify', { datasets: ['same'] })).status).to.equal(200);
      }),
    );
    for (const [index, wire] of wires.entries()) {
      const answer = await wire.post('/search', { query: 'Who met whom?', datasets: ['same'], search_type: 'CHUNKS' });
      const found = answer.json[0].search_result.map(({ text }: { text: string }) => text);
      expect(found).to.deep.equal([texts[index]]);
    }
    const [first, second] = await Promise.all(wires.map(async (wire) => (await wire.get('/datasets')).json[0].id));
    expect(first).to.not.equal(second);
    expect((await wires[0]?.get(`/datasets/${second}/data`))?.status).to.equal(403);
  });

  it('continue when the other one stops', async () => {
    await two.stop();
    const answer = await createWire(one.baseUrl).post('/search', { query: 'Ada', datasets: ['same'] });
    expect(answer.status).to.equal(200);
    two = await startApp();
    expect((await createWire(two.baseUrl).get('/datasets')).json).to.deep.equal([]);
  });
});

describe('the open mode', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const request = (headers: Record<string, string>) => {
    const { port } = new URL(app.baseUrl);
    const all = { Host: `127.0.0.1:${port}`, Connection: 'close', ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return exchange(app.baseUrl, `GET /api/v1/datasets HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  };

  it('serves requests of the same machine', async () => {
    const { port, origin } = new URL(app.baseUrl);
    for (const headers of [{}, { Host: `localhost:${port}` }, { Host: `[::1]:${port}` }, { Origin: origin }]) {
      expect(await request(headers as Record<string, string>)).to.match(/^HTTP\/1\.1 200 /);
    }
  });

  it('refuses a foreign Host, a foreign Origin and forwarded requests, on every route', async () => {
    for (const headers of [
      { Host: 'memory.example.com' },
      { Host: 'localhost.example.com' },
      { Host: '127.0.0.1.example.com' },
      { Host: '' },
      { Origin: 'https://example.com' },
      { Origin: 'null' },
      { Origin: 'http://127.0.0.1:1' },
      { 'X-Forwarded-For': '10.0.0.1' },
      { 'X-Forwarded-Host': 'memory.example.com' },
      { Forwarded: 'for=10.0.0.1' },
      { 'X-Real-IP': '10.0.0.1' },
    ]) {
      const answer = await request(headers as Record<string, string>);
      expect(answer, JSON.stringify(headers)).to.match(/^HTTP\/1\.1 403 /);
      expect(answer).to.include('{"detail":"').and.not.include('access-control-allow-origin');
    }
    for (const path of ['/', '/docs', '/openapi.json', '/api/v1/auth/login', '/metrics']) {
      const answer = await exchange(
        app.baseUrl,
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      );
      expect(answer, path).to.match(/^HTTP\/1\.1 403 /);
    }
  });

  it('refuses a WebSocket from a foreign page', async () => {
    const url = `${app.baseUrl.replace('http', 'ws')}/api/v1/cognify/subscribe/00000000-0000-4000-8000-000000000000`;
    for (const headers of [
      { origin: 'https://example.com' },
      { host: 'evil.example' },
      { 'x-forwarded-for': '1.2.3.4' },
    ]) {
      const refused = await new Promise<string>((resolve) => {
        const socket = new WebSocket(url, { headers: headers as Record<string, string> });
        socket.on('open', () => resolve('accepted'));
        socket.on('error', ({ message }) => resolve(message));
      });
      expect(refused).to.include('403');
    }
  });
});

describe('a public address', () => {
  it('requires authentication by default', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((address) => address?.family === 'IPv4' && !address.internal)?.address;
    const data = makeDataDir();
    const server = await startProcess({ dataDir: data.path, environment: { HTTP_API_HOST: '0.0.0.0' } });
    try {
      const { port } = new URL(server.baseUrl);
      for (const host of ['127.0.0.1', ...(outside === undefined ? [] : [outside])]) {
        const wire = createWire(`http://${host}:${port}`);
        for (const answer of [
          await wire.get('/datasets'),
          await wire.post('/add', { data: 'x', datasetName: 'x' }),
          await wire.post('/search', { query: 'x' }),
          await wire.post('/forget', { everything: true }),
        ]) {
          expect(answer.status).to.equal(401);
          expect(answer.json.detail).to.match(/^Authentication required/);
        }
      }
      // No password was configured, so no password opens the default account.
      const login = await createWire(server.baseUrl).post(
        '/auth/login',
        'username=default_user@example.com&password=default_password',
        { 'content-type': 'application/x-www-form-urlencoded' },
      );
      expect(login.status).to.equal(401);
      expect(login.json).to.deep.equal({ detail: 'LOGIN_BAD_CREDENTIALS' });
    } finally {
      await server.stop();
      data.remove();
    }
  });
});

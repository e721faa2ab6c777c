import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { isEngramError } from '../../kernel/errors.ts';
import { createModelFetch, type ModelFetchOptions } from './model-fetch.ts';

describe('fetch to models of tenants', () => {
  let server: Server;
  let port: number;
  let requests: { readonly method: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
  let handle: (response: ServerResponse) => void;

  beforeEach(async () => {
    requests = [];
    server = createServer(async (request, response) => {
      requests.push({ method: request.method ?? '', headers: request.headers, body: await text(request) });
      handle(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    handle = (response) => response.end('{}');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  /** `models.svc` is this machine; the system knows no such name. */
  const open = (change: Partial<ModelFetchOptions> = {}) =>
    createModelFetch({
      privateHosts: ['models.svc'],
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      ...change,
    });
  const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => expect.fail('nothing was refused'),
      (error: unknown) => error,
    );
  const refusalOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await failureOf(work);
    if (!isEngramError(error) || error.wireName !== 'SSRFProtectionError') throw error;
    return error.message;
  };
  const unnamed = (host: string) =>
    `ENGRAM_TENANT_MODEL_HOSTS of the services does not name ${host}, and it is no public host.`;

  it('sends what it is given to the address that was checked, and gives the answer as it comes', async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    handle = async (response) => {
      response.writeHead(201, { 'x-request-id': '7', 'set-cookie': ['a=1', 'b=2'] }).write('first ');
      await isRead;
      response.end('second');
    };
    const init = { method: 'POST', headers: { authorization: 'Bearer k' }, body: '{"é":1}' };
    const response = await open()(`http://models.svc:${port}/v1/chat`, init);
    expect([response.status, response.headers.get('x-request-id')]).to.deep.equal([201, '7']);
    const pieces: string[] = [];
    for await (const piece of response.body ?? []) {
      pieces.push(Buffer.from(piece).toString());
      read();
    }
    expect(pieces.join('')).to.equal('first second');
    expect(requests).to.have.length(1);
    expect(requests[0]).to.include({ method: 'POST', body: '{"é":1}' });
    expect(requests[0]?.headers).to.include({
      authorization: 'Bearer k',
      'content-length': '8',
      host: `models.svc:${port}`,
    });
  });

  it('connects to private addresses of the hosts and ports only that are named', async () => {
    const to = (privateHosts: readonly string[], host: string) => open({ privateHosts })(`http://${host}/`);
    expect((await to([`models.svc:${port}`], `models.svc:${port}`)).status).to.equal(200);
    expect((await to(['127.0.0.1'], `127.0.0.1:${port}`)).status).to.equal(200);
    expect(await refusalOf(to([`models.svc:${port + 1}`], `models.svc:${port}`))).to.equal(
      unnamed(`models.svc:${port}`),
    );
    expect(await refusalOf(to(['svc'], `models.svc:${port}`))).to.equal(unnamed(`models.svc:${port}`));
    expect(await refusalOf(to([], 'models.svc'))).to.equal(unnamed('models.svc:80'));
    const spellings = ['2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1'];
    for (const host of spellings) await refusalOf(to([], `${host}:${port}`));
    expect(requests).to.have.length(2);
  });

  it('says the same of names that there are not, and of a name with a private address among its public ones', async () => {
    const to = (resolve: ModelFetchOptions['resolve']) => open({ privateHosts: [], ...(resolve && { resolve }) });
    const absent = to(() => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })));
    expect(await refusalOf(absent('http://store.svc:8080/'))).to.equal(unnamed('store.svc:8080'));
    const mixed = to(async () => [
      { address: '1.1.1.1', family: 4 },
      { address: '10.1.2.3', family: 4 },
    ]);
    expect(await refusalOf(mixed('http://store.svc:8080/'))).to.equal(unnamed('store.svc:8080'));
    const silent = to(() => Promise.reject(Object.assign(new Error('try again'), { code: 'EAI_AGAIN' })));
    expect(await failureOf(silent('http://store.svc:8080/'))).to.include({
      name: 'TypeError',
      message: 'fetch failed',
    });
  });

  it('refuses ports of other services, also of hosts that are named', async () => {
    expect(await refusalOf(open()('http://models.svc:6379/'))).to.equal(
      "Port 6379 of URL host 'models.svc' is blocked.",
    );
  });

  it('gives redirects as they are', async () => {
    handle = (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    const response = await open()(`http://models.svc:${port}/`);
    expect([response.status, requests.length]).to.deep.equal([302, 1]);
  });

  it('takes answers without a body, and none that is longer than allowed', async () => {
    handle = (response) => response.writeHead(204).end();
    expect(await (await open()(`http://models.svc:${port}/`)).text()).to.equal('');
    handle = (response) => response.end('x'.repeat(1001));
    const long = await open({ maxBytes: 1000 })(`http://models.svc:${port}/`);
    expect(String(await failureOf(long.text()))).to.include('longer than 1000 bytes');
  });

  it('fails as fetch does where nobody listens, and ends with the reason of its signal', async () => {
    const asked = new AbortController();
    handle = (response) => {
      response.write('begun');
    };
    const { signal } = asked;
    const response = await open()(`http://models.svc:${port}/`, { signal });
    const body = response.text();
    const reason = new DOMException('too late', 'TimeoutError');
    asked.abort(reason);
    expect(await failureOf(body)).to.equal(reason);
    expect(await failureOf(open()(`http://models.svc:${port}/`, { signal }))).to.equal(reason);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port: closed } = other.address() as AddressInfo;
    other.close();
    await once(other, 'close');
    const failure = await failureOf(open()(`http://models.svc:${closed}/`));
    expect(failure).to.include({ name: 'TypeError', message: 'fetch failed' });
  });
});

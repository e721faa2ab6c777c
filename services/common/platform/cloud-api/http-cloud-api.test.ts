import { createServer, type RequestListener, type Server } from 'node:http';
import { expect } from 'chai';
import { listening } from '../../../../test/support/listening.ts';
import { isEngramError } from '../../kernel/errors.ts';
import { createHttpCloudApi } from './http-cloud-api.ts';

const KEY = 'a-key-that-nobody-may-see';

describe('the cloud API over HTTP', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    return await listening(server);
  }

  async function faultOf(checking: Promise<void>): Promise<string> {
    const error = await checking.then(
      () => expect.fail('accepted'),
      (reason: unknown) => reason,
    );
    expect(error).to.satisfy(isEngramError);
    expect(error).to.include({ wireName: 'CloudConnnectionError', status: 503 });
    expect(String(error)).to.not.contain(KEY);
    return String(error);
  }

  it('shows the key to the one path that checks keys', async () => {
    const asked: unknown[] = [];
    const baseUrl = await serve((request, response) => {
      asked.push([request.method, request.url, request.headers['x-api-key']]);
      response.end('{}');
    });
    await createHttpCloudApi({ baseUrl }).checkKey(KEY);
    expect(asked).to.deep.equal([['POST', '/api/api-keys/check', KEY]]);
  });

  it('takes every answer but 200 for a refusal, and carries the key to no other address', async () => {
    const elsewhere: unknown[] = [];
    const other = await serve((request, response) => {
      elsewhere.push(request.url);
      response.end();
    });
    const statuses = [401, 403, 404, 500, 204];
    const baseUrl = await serve((_request, response) => {
      const status = statuses.shift() ?? 307;
      response.writeHead(status, status === 307 ? { location: `${other}/api/api-keys/check` } : {}).end();
    });
    const api = createHttpCloudApi({ baseUrl });
    for (const status of [...statuses, 307]) {
      expect(await faultOf(api.checkKey(KEY))).to.contain(`status ${status}`);
    }
    expect(elsewhere).to.deep.equal([]);
  });

  it('does not wait for a service that hangs or is not there', async () => {
    const baseUrl = await serve(() => {});
    const before = performance.now();
    expect(await faultOf(createHttpCloudApi({ baseUrl, timeoutMs: 100 }).checkKey(KEY))).to.contain('0.1 seconds');
    expect(performance.now() - before).to.be.lessThan(10_000);
    expect(await faultOf(createHttpCloudApi({ baseUrl: 'http://127.0.0.1:9' }).checkKey(KEY))).to.contain('reached');
  });

  it('is given up with the request that asked', async () => {
    const baseUrl = await serve(() => {});
    const caller = new AbortController();
    const checking = createHttpCloudApi({ baseUrl }).checkKey(KEY, caller.signal);
    caller.abort(new Error('the client went away'));
    expect(String(await checking.catch((reason: unknown) => reason))).to.contain('the client went away');
  });
});

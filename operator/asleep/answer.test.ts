import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { answerAsleep } from './answer.ts';

describe('what answers for a hibernated Dedicated tenant', () => {
  let server: Server;
  let url: string;
  before(async () => {
    server = createServer(answerAsleep);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  it('tells every request when to come again, in the API’s own words', async () => {
    for (const [path, init] of [
      ['/api/v1/search', { method: 'POST', body: '{"query":"x"}' }],
      ['/', {}],
      ['/health', {}],
    ] as const) {
      const answer = await fetch(`${url}${path}`, init);
      expect([answer.status, answer.headers.get('retry-after')], path).to.deep.equal([503, '30']);
      expect(await answer.json())
        .to.have.property('detail')
        .that.includes('hibernated');
    }
  });

  it('is alive and ready to its own probes', async () => {
    for (const path of ['/livez', '/readyz']) expect((await fetch(`${url}${path}`)).status).to.equal(200);
  });
});

import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { listening } from '../../test/support/listening.ts';
import { createActivatorListener } from './answer.ts';

describe('activator of a hibernated Dedicated tenant', () => {
  let server: Server;
  let url: string;
  let rung: number;
  const start = async (canRing: boolean) => {
    rung = 0;
    server = createServer(
      createActivatorListener(
        canRing
          ? () => {
              rung += 1;
            }
          : undefined,
      ),
    );
    url = await listening(server);
  };
  afterEach(() => server.close());

  it('answers requests with 503, Retry-After and the body of the API', async () => {
    for (const [canRing, seconds] of [
      [false, '30'],
      [true, '5'],
    ] as const) {
      await start(canRing);
      for (const [path, init] of [
        ['/api/v1/search', { method: 'POST', body: '{"query":"x"}' }],
        ['/', {}],
        ['/health', {}],
      ] as const) {
        const answer = await fetch(`${url}${path}`, init);
        expect([answer.status, answer.headers.get('retry-after')], path).to.deep.equal([503, seconds]);
        expect(await answer.json())
          .to.have.property('detail')
          .that.includes('hibernated');
      }
      server.close();
    }
  });

  it('answers its own probes', async () => {
    await start(true);
    for (const path of ['/livez', '/readyz']) expect((await fetch(`${url}${path}`)).status).to.equal(200);
    expect(rung).to.equal(0);
  });

  it('wakes the tenant after requests with a credential or a sign-in only', async () => {
    await start(true);
    const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
      const before = rung;
      const answer = await fetch(`${url}${path}`, { headers: { ...headers, connection: 'close' } });
      expect([answer.status, (await answer.text()) !== '']).to.deep.equal([503, true]);
      // A later request on a connection of its own: whatever the one before does has been done.
      await (await fetch(`${url}/livez`, { headers: { connection: 'close' } })).text();
      return rung - before;
    };
    expect(await ask('/api/v1/datasets', { authorization: 'Bearer x' })).to.equal(1);
    expect(await ask('/api/v1/datasets', { 'x-api-key': 'x' })).to.equal(1);
    expect(await ask('/', { cookie: 'auth_token=x' })).to.equal(1);
    expect(await ask('/api/v1/auth/login', {})).to.equal(1);
    expect(await ask('/api/v1/datasets', {})).to.equal(0);
    expect(await ask('/wp-login.php', {})).to.equal(0);
    expect(await ask('/api/v1/datasets/status?dataset=x', { cookie: 'auth_token=x' })).to.equal(0);
  });
});

import { expect } from 'chai';
import { freePort } from '../../test/support/engram-process.ts';
import { until } from '../../test/support/until.ts';
import { engramError } from '../common/kernel/errors.ts';
import { createSilentLogger } from '../common/platform/observability/logger.ts';
import { awaitStores } from './await-stores.ts';

const away = () => engramError('ServiceUnavailableError', 'MongoDB at db:27017 cannot be reached', { retryable: true });

describe('awaitStores', () => {
  it('waits until the stores can be opened, alive and not ready meanwhile, and leaves the port free', async () => {
    const port = await freePort();
    const logged: unknown[] = [];
    const logger = {
      ...createSilentLogger(),
      warn: (event: string, fields?: object) => void logged.push({ event, ...fields }),
    };
    let isUp = false;
    const opening = awaitStores(async () => (isUp ? 'stores' : Promise.reject(away())), {
      port,
      host: '127.0.0.1',
      logger,
      pausesMs: [20, 40],
    });
    const status = async (path: string) => {
      const ask = () => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
      return (await until('it answers', ask)).status;
    };
    expect([await status('/livez'), await status('/readyz'), await status('/api/v1/add')]).to.deep.equal([
      200, 503, 503,
    ]);
    isUp = true;
    expect(await opening).to.equal('stores');
    expect(logged[0]).to.deep.equal({ event: 'stores.awaited', reason: away().message, againInMs: 20 });
    const refused = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null);
    expect(refused).to.equal(null);
  });

  it('gives up at once on what waiting cannot mend', async () => {
    const wrong = engramError('ServiceUnavailableError', 'MongoDB refused the credentials');
    let attempts = 0;
    const opening = awaitStores(
      () => {
        attempts += 1;
        return Promise.reject(wrong);
      },
      { port: 0, host: '127.0.0.1', logger: createSilentLogger() },
    );
    expect(await opening.catch((error: unknown) => error)).to.equal(wrong);
    expect(attempts).to.equal(1);
  });
});

import { expect } from 'chai';
import { unsignedPrincipals } from '../../test/support/unsigned-principals.ts';
import { until } from '../../test/support/until.ts';
import type { ServiceName } from '../common/domain/service-paths.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import { loadConfig } from '../common/platform/config/load-config.ts';
import { createMessenger } from '../common/platform/messaging/messenger.ts';
import { createSilentLogger } from '../common/platform/observability/logger.ts';
import { createMetrics } from '../common/platform/observability/metrics.ts';
import { createInProcessBus } from '../common/storage/bus/in-process/bus.ts';
import type { Bus } from '../common/storage/ports/bus.ts';
import { openTracing, type Tracing } from './tracing.ts';

const everything = () => true;

/** Processes of a cluster that share a bus. */
async function start(bus: Bus, ...services: readonly ServiceName[]) {
  const { config } = loadConfig({});
  const clustered: Pick<Config, 'services' | 'stores'> = { services, stores: { ...config.stores, bus: 'cluster' } };
  const metrics = createMetrics();
  const tracing = openTracing(metrics);
  const own = tracing.bus(bus);
  const messenger = createMessenger(own, unsignedPrincipals);
  const step = tracing.sharing({ config: clustered, messenger, logger: createSilentLogger() });
  await step.start?.();
  return {
    tracing,
    bus: own,
    async stop() {
      await step.stop?.();
      metrics.close();
    },
  };
}

const namesOf = ({ traces }: Tracing) => traces.list(everything).map(({ spans }) => spans.map(({ name }) => name));

describe('tracing in a cluster', () => {
  it('shows at every replica of ingest what all processes did for a request', async () => {
    const bus = createInProcessBus();
    const [one, two] = [await start(bus, 'ingest'), await start(bus, 'ingest')];
    const auth = await start(bus, 'auth');
    await auth.bus.respond('engram.auth.Authenticate', async ({ payload }) => payload);
    await one.tracing.tracer.root({ name: 'GET /api/v1/datasets' }, () =>
      one.bus.request('engram.auth.Authenticate', new Uint8Array(), { deadlineMs: 10_000 }),
    );
    const whole = [['GET /api/v1/datasets', 'ask auth.Authenticate', 'answer auth.Authenticate']];
    for (const { tracing } of [one, two]) {
      await until('all of the trace', () => namesOf(tracing).flat().length >= 3);
      expect(namesOf(tracing)).to.deep.equal(whole);
    }
    expect(namesOf(auth.tracing)).to.deep.equal([]);
    await Promise.all([one, two, auth].map((process) => process.stop()));
  });

  it('tells of what it has still in hand when it stops', async () => {
    const bus = createInProcessBus();
    const [ingest, search] = [await start(bus, 'ingest'), await start(bus, 'search')];
    await search.tracing.tracer.root({ name: 'POST /api/v1/search' }, async () => {});
    await search.stop();
    await until('the trace', () => namesOf(ingest.tracing).length === 1);
    await ingest.stop();
  });

  it('goes without what it could not tell', async () => {
    const bus: Bus = { ...createInProcessBus(), publish: () => Promise.reject(new Error('down')) };
    const search = await start(bus, 'search');
    await search.tracing.tracer.root({ name: 'POST /api/v1/search' }, async () => {});
    await search.stop();
  });
});

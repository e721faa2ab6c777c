import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadAssembly } from '../../services/app/assemble.ts';
import { collections } from '../../services/app/collections.ts';
import { openStores } from '../../services/app/stores.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { createLifecycle } from '../../services/common/platform/lifecycle/lifecycle.ts';
import { createIdentify } from '../../services/common/platform/messaging/identify.ts';
import { type CallContext, createSignedMessenger } from '../../services/common/platform/messaging/messenger.ts';
import { rememberAccess } from '../../services/common/platform/messaging/remembered-access.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createMetrics } from '../../services/common/platform/observability/metrics.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createClient } from './speed/client.ts';
import { createShape, SHAPES } from './speed/shape.ts';
import { distribution } from './speed/timing.ts';

/**
 * Cost of authentication and authorisation: the calls before every request, made over the bus of the shape by a service
 * other than auth. `node test/bench/access.ts [--stores embedded,cluster]`
 */
const { values } = parseArgs({ options: { stores: { type: 'string', default: 'embedded' } } });
const COUNT = 300;
const logger = createSilentLogger();

async function bench(name: (typeof SHAPES)[number]): Promise<object> {
  const dataDir = mkdtempSync(join(tmpdir(), 'engram-bench-'));
  const shape = createShape(name);
  const { config } = loadConfig({
    ENGRAM_DATA_DIR: dataDir,
    HTTP_API_PORT: '0',
    MAX_USER_API_KEYS: '10000',
    ...(name === 'embedded' ? {} : { ENGRAM_STORES: 'cluster', ENGRAM_SERVICES: 'auth,ingest' }),
    FASTAPI_USERS_JWT_SECRET: 'only for a measurement, not for use',
    ...shape.environment,
  });
  const metrics = createMetrics();
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: 10_000 });
  const stores = await openStores({ config, collections, logger, metrics });
  const address = await (await loadAssembly(config))({ config, logger, metrics, stores }, lifecycle);
  await lifecycle.start();
  const ownStores =
    name === 'embedded' ? null : await openStores({ config, collections, logger, metrics: createMetrics() });
  try {
    const clock = createSystemClock();
    const asking = createSignedMessenger((ownStores ?? stores).bus, clock);
    const messenger = ownStores === null ? asking : rememberAccess(asking, { clock }).messenger;
    const identify = createIdentify(messenger, clock);
    const http = createClient(address());
    const keys: string[] = [];
    for (let made = 0; made < COUNT; made += 1) {
      keys.push(((await http.post('/api/v1/auth/api-keys', { name: `key ${made}` })) as { key: string }).key);
    }
    const credentials = (key: string) => [{ kind: 'api-key' as const, value: key }];
    const call: CallContext = { requestId: 'bench' };
    const { principal, proof } = await identify(credentials(keys[0] ?? ''), true, call);
    const context = {
      ...call,
      ...(principal === null ? {} : { principal }),
      ...(proof === undefined ? {} : { proof }),
    };
    const datasets: DatasetRef[] = [];
    for (let made = 0; made < COUNT; made += 1) {
      datasets.push((await messenger.call('auth.CreateDataset', { name: `dataset_${made}` }, context)).dataset);
    }
    const [one] = datasets;
    const resolve = (dataset: DatasetRef | undefined) =>
      messenger.call('auth.ResolveDatasets', { permission: 'read', ids: [dataset?.id ?? ''] }, context);
    const repeated = Array.from({ length: COUNT }, () => keys[0] ?? '');
    await new Promise((settled) => setTimeout(settled, 1_200));
    return {
      who: {
        cold: await distribution(keys, 1, (key) => identify(credentials(key), true, call)),
        warm: await distribution(repeated, 1, (key) => identify(credentials(key), true, call)),
      },
      what: {
        cold: await distribution(datasets, 1, resolve),
        warm: await distribution(repeated, 1, () => resolve(one)),
      },
    };
  } finally {
    await shape.forget(address());
    await lifecycle.stop();
    await ownStores?.close();
    await stores.close();
    await shape.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

for (const name of SHAPES.filter((shape) => values.stores.split(',').includes(shape))) {
  process.stdout.write(`${JSON.stringify({ stores: name, ...(await bench(name)) })}\n`);
}
process.exit(0);

import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createFakeServices } from '../../test/support/kube/fake-services.ts';
import { completeSpec } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import { type BusAddress, createDedicatedServices, type DedicatedServices } from './services.ts';

const NEVER = new AbortController().signal;

function tenant(name: string): Tenant {
  const { apiVersion, kind } = TENANT_KIND;
  const metadata = { name, namespace: 'memory', uid: `uid-of-${name}` };
  return { apiVersion, kind, metadata, spec: completeSpec({ isolation: 'Dedicated' }) };
}

describe('services of Dedicated tenants', () => {
  let now: number;
  let values: Record<string, string>;
  let opened: BusAddress[];
  let closed: number;
  let failure: Error | null;
  let services: DedicatedServices;
  beforeEach(() => {
    [now, opened, closed, failure] = [0, [], 0, null];
    values = { ENGRAM_NATS_URL: 'nats://one', ENGRAM_NATS_CA_FILE: 'authority', ENGRAM_MONGODB_URL: 'mongodb://x' };
    const get = async () => ({
      data: Object.fromEntries(
        Object.entries(values).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
      ),
    });
    services = createDedicatedServices({
      client: { get } as unknown as Pick<KubeClient, 'get'>,
      clock: { monotonicMs: () => now },
      async open(address) {
        opened.push(address);
        if (failure !== null) throw failure;
        return {
          ...createFakeServices(),
          async close() {
            closed += 1;
          },
        };
      },
    });
  });

  it('opens one connection for each tenant with the settings of its bus', async () => {
    const [first, again] = await Promise.all([services.of(tenant('a'), NEVER), services.of(tenant('a'), NEVER)]);
    expect(again).to.equal(first);
    await services.of(tenant('b'), NEVER);
    expect(opened).to.have.length(2);
    expect(opened[0]).to.deep.equal({
      settings: {},
      secrets: { ENGRAM_NATS_URL: 'nats://one' },
      files: { ENGRAM_NATS_CA_FILE: 'authority' },
    });
  });

  it('reconnects when the address of the bus changes', async () => {
    await services.of(tenant('a'), NEVER);
    const same = {
      settings: {},
      secrets: { ENGRAM_NATS_URL: 'nats://one' },
      files: { ENGRAM_NATS_CA_FILE: 'authority' },
    };
    await services.use('uid-of-a', { ...same, settings: { ENGRAM_MONGODB_DATABASE: 'x' } });
    expect(closed).to.equal(0);
    await services.use('uid-of-a', { ...same, secrets: { ENGRAM_NATS_URL: 'nats://two' } });
    expect(closed).to.equal(1);
    values['ENGRAM_NATS_URL'] = 'nats://two';
    await services.of(tenant('a'), NEVER);
    expect(opened.map(({ secrets }) => secrets['ENGRAM_NATS_URL'])).to.deep.equal(['nats://one', 'nats://two']);
  });

  it('connects with the next call after a failure', async () => {
    failure = engramError('ServiceUnavailableError', 'Away.', { retryable: true });
    const refused = await services.of(tenant('a'), NEVER).catch((error: unknown) => error);
    expect(refused).to.equal(failure);
    failure = null;
    await services.of(tenant('a'), NEVER);
    expect(opened).to.have.length(2);
  });

  it('closes idle and forgotten connections, and all of them at the end', async () => {
    for (const name of ['a', 'b', 'c']) await services.of(tenant(name), NEVER);
    now = 20 * 60_000;
    await services.of(tenant('b'), NEVER);
    await services.of(tenant('c'), NEVER);
    now = 40 * 60_000;
    await services.of(tenant('b'), NEVER);
    expect(closed).to.equal(1);
    await services.forget('uid-of-b');
    expect(closed).to.equal(2);
    await services.close();
    expect(closed).to.equal(3);
  });
});

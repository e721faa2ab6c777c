import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock } from '../../test/support/kube/fake-clock.ts';
import { createHealthServer } from './health.ts';
import { groupInformers, type Informer } from './informer.ts';
import { inClusterConnection } from './kube-connection.ts';
import type { KubeObject } from './kube-object.ts';
import { createManager } from './manager.ts';
import { createRuntimeMetrics } from './metrics.ts';

interface Fake {
  readonly informer: Informer<KubeObject>;
  sync(): void;
  alive: boolean;
}

function fakeInformer(kind: string, log: string[] = [], objects: readonly KubeObject[] = []): Fake {
  const { promise, resolve } = Promise.withResolvers<void>();
  let synced = false;
  const fake: Fake = {
    alive: true,
    sync() {
      synced = true;
      resolve();
    },
    informer: {
      kind: { apiVersion: 'v1', kind, plural: 'x', namespaced: true },
      get: (key) => objects.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key),
      list: () => objects,
      byIndex: () => objects,
      start: () => void log.push(`start ${kind}`),
      stop: async () => void log.push(`stop ${kind}`),
      get synced() {
        return synced;
      },
      whenSynced: () => promise,
      onChange: () => {},
      lastEventAt: 0,
      isAlive: () => fake.alive,
    },
  };
  return fake;
}

describe('manager', () => {
  it('starts caches, then the election, then the workers, and stops in the opposite order', async () => {
    const log: string[] = [];
    const cache = fakeInformer('Widget', log);
    const { promise: lead, resolve: elect } = Promise.withResolvers<void>();
    const manager = createManager({
      informers: [cache.informer],
      controllers: [
        {
          kind: 'Widget',
          enqueue: () => {},
          whenSynced: async () => {},
          subscribe: () => void log.push('subscribe'),
          start: () => void log.push('work'),
          stop: async () => void log.push('rest'),
        },
      ],
      elector: {
        start: () => void log.push('stand for election'),
        whenLeading: () => lead,
        isLeading: () => true,
        isAlive: () => true,
        stop: async () => void log.push('step down'),
      },
      events: { flush: async () => void log.push('flush') },
      logger: createSilentLogger(),
    });
    manager.start();
    expect(log).to.deep.equal(['subscribe', 'start Widget']);
    expect(manager.readiness['cache Widget']?.()).to.equal(false);
    cache.sync();
    await new Promise(setImmediate);
    expect(log.at(-1)).to.equal('stand for election');
    expect(manager.readiness['cache Widget']?.()).to.equal(true);
    elect();
    await new Promise(setImmediate);
    expect(log.at(-1)).to.equal('work');
    cache.alive = false;
    expect(manager.liveness['watch Widget']?.()).to.equal(false);
    await manager.stop();
    expect(log.slice(-4)).to.deep.equal(['rest', 'flush', 'step down', 'stop Widget']);
  });
});

describe('health server', () => {
  it('answers 200 while all checks pass, 503 with the failed ones, and the metrics', async () => {
    const registry = new Registry();
    const metrics = createRuntimeMetrics(registry, 'test_');
    metrics.leading(true);
    metrics.conditions('Widget', 'ns/w', [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Available',
        message: '',
        lastTransitionTime: '',
        observedGeneration: 1,
      },
    ]);
    let ready = false;
    const server = createHealthServer({
      host: '127.0.0.1',
      port: 0,
      liveness: () => ({ loop: () => true }),
      readiness: () => ({ cache: () => ready, bus: () => true }),
      metrics: { contentType: registry.contentType, render: () => registry.metrics() },
    });
    await server.start();
    const get = async (path: string) => {
      const answer = await fetch(`${server.url}${path}`);
      return [answer.status, await answer.text()];
    };
    try {
      expect(await get('/livez')).to.deep.equal([200, '+ loop\n']);
      expect(await get('/readyz')).to.deep.equal([503, '- cache\n+ bus\n']);
      ready = true;
      expect((await get('/readyz?verbose'))[0]).to.equal(200);
      const [, text] = await get('/metrics');
      expect(text).to.include('test_leader 1');
      expect(text).to.include('test_resource_condition{kind="Widget",ns="ns",name="w",type="Ready",status="True"} 1');
      metrics.conditions('Widget', 'ns/w', []);
      expect((await get('/metrics'))[1]).not.to.include('test_resource_condition{');
      expect((await get('/else'))[0]).to.equal(404);
    } finally {
      await server.stop();
    }
  });
});

describe('informers of several namespaces', () => {
  it('combines informers of several namespaces', async () => {
    const object = (namespace: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace },
    });
    const one = fakeInformer('Widget', [], [object('one')]);
    const two = fakeInformer('Widget', [], [object('two')]);
    const group = groupInformers(one.informer, two.informer);
    expect(group.list().map(({ metadata }) => metadata.namespace)).to.deep.equal(['one', 'two']);
    expect([group.get('two/w')?.metadata.namespace, group.get('three/w')]).to.deep.equal(['two', undefined]);
    one.sync();
    expect(group.synced).to.equal(false);
    two.sync();
    await group.whenSynced();
    expect([group.synced, group.isAlive()]).to.deep.equal([true, true]);
    two.alive = false;
    expect(group.isAlive()).to.equal(false);
  });
});

describe('connection of a pod', () => {
  it('reads the renewed token of the service account', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engram-account-'));
    try {
      await writeFile(join(folder, 'token'), 'first\n');
      await writeFile(join(folder, 'ca.crt'), 'authority');
      const clock = createFakeClock();
      const connection = inClusterConnection({ host: '10.96.0.1', port: '443', folder, clock });
      expect(connection.server.href).to.equal('https://10.96.0.1/');
      expect(await connection.credentials()).to.deep.equal({
        headers: { authorization: 'Bearer first' },
        tls: { ca: 'authority' },
      });
      await writeFile(join(folder, 'token'), 'second');
      expect((await connection.credentials()).headers['authorization']).to.equal('Bearer first');
      await clock.advance(60_000);
      expect((await connection.credentials()).headers['authorization']).to.equal('Bearer second');
      const six = inClusterConnection({ host: 'fd00::1', port: '6443', folder });
      expect(six.server.href).to.equal('https://[fd00::1]:6443/');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

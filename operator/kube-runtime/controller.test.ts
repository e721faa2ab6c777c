import { expect } from 'chai';
import type { Registry as RegistryType } from 'prom-client';
import { Registry } from 'prom-client';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock, type FakeClock } from '../../test/support/kube/fake-clock.ts';
import { until } from '../../test/support/until.ts';
import { ownershipLabels } from './applier.ts';
import { type Controller, createController, ownerKeys, ownKeys, type Reconciler, type Source } from './controller.ts';
import type { Change } from './informer.ts';
import { KubeError, NotLeaderError } from './kube-client.ts';
import type { KubeObject, ObjectMeta, ResourceKind } from './kube-object.ts';
import { createRuntimeMetrics } from './metrics.ts';

const WIDGET: ResourceKind = { apiVersion: 'example.dev/v1', kind: 'Widget', plural: 'widgets', namespaced: true };

describe('controller', () => {
  let clock: FakeClock;
  let registry: RegistryType;
  let controller: Controller;
  let add: (key: string) => void;
  let runs: string[];
  let reconcile: Reconciler['reconcile'];

  beforeEach(() => {
    clock = createFakeClock();
    registry = new Registry();
    runs = [];
    reconcile = async () => ({});
    add = () => {};
    const source: Source = {
      subscribe: (give) => {
        add = give;
      },
      whenSynced: async () => {},
    };
    controller = createController({
      reconciler: {
        kind: WIDGET,
        reconcile: (key, signal) => {
          runs.push(key);
          return reconcile(key, signal);
        },
      },
      sources: [source],
      workers: 3,
      clock,
      logger: createSilentLogger(),
      metrics: createRuntimeMetrics(registry, 'test_'),
      queue: { backoffMs: { first: 100, most: 1_000 } },
    });
    controller.subscribe();
  });
  afterEach(() => controller.stop());

  it('collects keys before it starts', async () => {
    for (const key of ['a', 'b', 'a']) add(key);
    await clock.advance(1_000);
    expect(runs).to.deep.equal([]);
    controller.start();
    await clock.advance(0);
    expect(runs).to.deep.equal(['a', 'b']);
  });

  it('reconciles a key with one worker at a time, and others in parallel', async () => {
    let inside = 0;
    let most = 0;
    const { promise: open, resolve: letGo } = Promise.withResolvers<void>();
    reconcile = async (key) => {
      if (key === 'free') return {};
      inside += 1;
      most = Math.max(most, inside);
      await open;
      inside -= 1;
      return {};
    };
    controller.start();
    add('held');
    await clock.advance(0);
    for (const key of ['held', 'free', 'held']) add(key);
    await clock.advance(10);
    expect(runs).to.deep.equal(['held', 'free']);
    letGo();
    await until('it ran again', () => runs.length === 3);
    expect([runs[2], most]).to.deep.equal(['held', 1]);
  });

  it('requeues on request, after failures with back-off, and after Retry-After', async () => {
    const answers: (() => Promise<{ requeueAfterMs?: number; retry?: boolean }>)[] = [
      () => Promise.reject(new Error('bug')),
      () => Promise.reject(new KubeError({ code: 429, reason: 'TooManyRequests', message: '', retryAfterMs: 5_000 })),
      async () => ({ retry: true }),
      async () => ({ requeueAfterMs: 60_000 }),
      async () => ({}),
    ];
    reconcile = () => (answers.shift() ?? (async () => ({})))();
    controller.start();
    add('a');
    const waits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await clock.advance(0);
      const begun = clock.monotonicMs();
      while (runs.length < round + 2) await clock.advance(50);
      waits.push(clock.monotonicMs() - begun);
    }
    expect(waits).to.deep.equal([100, 5_000, 400, 60_000]);
    await clock.advance(600_000);
    expect(runs).to.have.length(5);
    expect(await registry.metrics()).to.match(
      /test_reconcile_errors_total\{kind="Widget",reason="TooManyRequests"\} 1/,
    );
  });

  it('aborts a reconcile after two minutes and retries', async () => {
    reconcile = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    controller.start();
    add('a');
    await clock.advance(119_000);
    expect(runs).to.have.length(1);
    reconcile = async () => ({});
    await clock.advance(2_000);
    expect(runs).to.have.length(2);
  });

  it('does not retry a reconcile that lost the lease', async () => {
    reconcile = () => Promise.reject(new NotLeaderError());
    controller.start();
    add('a');
    await clock.advance(600_000);
    expect(runs).to.have.length(1);
  });

  it('aborts reconciles when it stops, and starts no more', async () => {
    let aborted = false;
    reconcile = (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve({ requeueAfterMs: 1 });
        });
      });
    controller.start();
    add('a');
    await clock.advance(0);
    await controller.stop();
    add('b');
    await clock.advance(1_000);
    expect([aborted, runs]).to.deep.equal([true, ['a']]);
  });
});

describe('sources', () => {
  const change = (
    previous: Partial<ObjectMeta>,
    next: Partial<ObjectMeta>,
    status: unknown = {},
  ): Change<KubeObject> => {
    const object = (metadata: Partial<ObjectMeta>): KubeObject =>
      ({
        ...WIDGET,
        metadata: { name: 'w', namespace: 'ns', uid: 'u', generation: 1, ...metadata },
        status,
      }) as KubeObject;
    return { type: 'modified', key: 'ns/w', object: object(next), previous: object(previous) };
  };

  it('ignores status writes and added finalizers', () => {
    expect(ownKeys(change({ resourceVersion: '1' }, { resourceVersion: '2' }, { ready: true }))).to.deep.equal([]);
    expect(ownKeys(change({ labels: {} }, { labels: { team: 'red' } }))).to.deep.equal([]);
    expect(ownKeys(change({}, { finalizers: ['ours'] }))).to.deep.equal([]);
  });

  it('reacts to generation, annotations, deletion, removed finalizers and a new object of the name', () => {
    const concerning = [
      change({}, { generation: 2 }),
      change({}, { annotations: { 'example.dev/reconcile-at': 'now' } }),
      change({}, { deletionTimestamp: '2026-08-01T00:00:00Z' }),
      change({ finalizers: ['ours'] }, { finalizers: [] }),
      change({}, { uid: 'another' }),
      { ...change({}, {}), type: 'deleted' } as const,
    ];
    expect(concerning.map((each) => ownKeys(each))).to.deep.equal(concerning.map(() => ['ns/w']));
  });

  it('finds the owner of a child, also of one that lost its annotation', () => {
    const labels = ownershipLabels('example.dev');
    const keys = ownerKeys('Widget', labels);
    const owned = { annotations: { 'example.dev/owner': 'Widget/ns/owner' } };
    expect(keys(change(owned, owned))).to.deep.equal(['ns/owner']);
    expect(keys(change(owned, {}))).to.deep.equal(['ns/owner']);
    expect(keys(change({}, { annotations: { 'example.dev/owner': 'Other/ns/owner' } }))).to.deep.equal([]);
  });
});

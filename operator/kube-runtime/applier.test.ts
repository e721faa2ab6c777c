import { expect } from 'chai';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock } from '../../test/support/kube/fake-clock.ts';
import { type FakeKube, startFakeKube } from '../../test/support/kube/fake-kube.ts';
import { type Applier, createApplier, type Desired, ForeignObjectError, ownershipLabels } from './applier.ts';
import { createEventRecorder } from './events.ts';
import { NotLeaderError } from './kube-client.ts';
import { type ConfigMap, KINDS, type KubeObject, type ResourceKind } from './kube-object.ts';
import { createFencedClient } from './leader-election.ts';

const WIDGET: ResourceKind = { apiVersion: 'example.dev/v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const labels = ownershipLabels('example.dev');

describe('applier', () => {
  let kube: FakeKube;
  let applier: Applier;
  let owner: KubeObject;
  const clock = createFakeClock();

  beforeEach(async () => {
    kube = await startFakeKube();
    applier = createApplier({ client: kube.client({ clock }), labels, manager: 'test-operator' });
    owner = kube.put(WIDGET, { ...WIDGET, metadata: { name: 'w', namespace: 'ns' }, spec: {} } as KubeObject);
  });
  afterEach(() => kube.close());

  const map = (name: string, data: Record<string, string> = {}): Desired => ({
    kind: KINDS.configMap,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'ns', labels: { own: 'label' } },
      data,
    } as KubeObject,
  });
  const read = (name: string) => kube.read<ConfigMap>(KINDS.configMap, { name, namespace: 'ns' });
  const apply = (...desired: Desired[]) => applier.apply(owner, desired, { prune: [KINDS.configMap] });
  const nothing = { created: [], corrected: [], updated: [], pruned: [] };

  it('creates wanted objects with their owner, and writes nothing afterwards', async () => {
    expect(await apply(map('a'), map('b'))).to.deep.equal({
      ...nothing,
      created: ['ConfigMap ns/a', 'ConfigMap ns/b'],
    });
    const { metadata } = read('a') ?? {};
    expect(metadata?.labels).to.deep.equal({
      own: 'label',
      'app.kubernetes.io/managed-by': 'test-operator',
      'example.dev/owner-uid': owner.metadata.uid,
      'example.dev/owner-generation': '1',
    });
    expect(metadata?.annotations).to.deep.equal({ 'example.dev/owner': 'Widget/ns/w' });
    expect(metadata?.ownerReferences?.[0]).to.include({ kind: 'Widget', uid: owner.metadata.uid, controller: true });
    const version = metadata?.resourceVersion;
    expect(await apply(map('a'), map('b'))).to.deep.equal(nothing);
    expect(read('a')?.metadata.resourceVersion).to.equal(version);
  });

  it('corrects a changed object once, and leaves foreign fields', async () => {
    await apply(map('a', { key: 'ours' }));
    const place = { name: 'a', namespace: 'ns' };
    kube.change(KINDS.configMap, place, { data: { key: 'theirs', more: 'kept' } });
    expect((await apply(map('a', { key: 'ours' }))).corrected).to.deep.equal(['ConfigMap ns/a']);
    expect(read('a')?.data).to.deep.equal({ key: 'ours', more: 'kept' });
    expect(await apply(map('a', { key: 'ours' }))).to.deep.equal(nothing);
  });

  it('leaves the replicas that an autoscaler set', async () => {
    const deployment: Desired = {
      kind: KINDS.deployment,
      object: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd', namespace: 'ns' },
        spec: { template: {} },
      } as KubeObject,
    };
    await apply(deployment);
    kube.change(KINDS.deployment, { name: 'd', namespace: 'ns' }, { spec: { replicas: 7 } });
    expect(await apply(deployment)).to.deep.equal(nothing);
    expect(kube.read(KINDS.deployment, { name: 'd', namespace: 'ns' })).to.have.nested.property('spec.replicas', 7);
  });

  it('reports updates after a change of the owner, and prunes only its own objects', async () => {
    await apply(map('a'), map('b'));
    const other = kube.put(WIDGET, { ...WIDGET, metadata: { name: 'other', namespace: 'ns' } } as KubeObject);
    await applier.apply(other, [map('c')], { prune: [KINDS.configMap] });
    kube.put(KINDS.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'users', namespace: 'ns' } });
    owner = kube.change(WIDGET, { name: 'w', namespace: 'ns' }, { spec: { other: true } });
    expect(await apply(map('a', { new: 'value' }))).to.deep.equal({
      ...nothing,
      updated: ['ConfigMap ns/a'],
      pruned: ['ConfigMap ns/b'],
    });
    expect([read('b'), read('c') !== undefined, read('users') !== undefined]).to.deep.equal([undefined, true, true]);
  });

  it('refuses a foreign object of the same name without writing to it', async () => {
    kube.put(KINDS.configMap, map('a', { key: 'of a user' }).object);
    const error = await apply(map('a', { key: 'ours' })).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ForeignObjectError).with.property('object', 'ConfigMap ns/a');
    expect(read('a')?.data).to.deep.equal({ key: 'of a user' });
  });

  it('sets no owner reference across namespaces', async () => {
    const elsewhere: Desired = {
      kind: KINDS.configMap,
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'elsewhere' } },
    };
    await applier.apply(owner, [elsewhere], { prune: [KINDS.configMap], namespaces: ['elsewhere'] });
    const made = kube.read(KINDS.configMap, elsewhere.object.metadata);
    expect([made?.metadata.ownerReferences, made?.metadata.labels?.[labels.ownerUid]]).to.deep.equal([
      undefined,
      owner.metadata.uid,
    ]);
    const { pruned } = await applier.apply(owner, [], { prune: [KINDS.configMap], namespaces: ['elsewhere'] });
    expect(pruned).to.deep.equal(['ConfigMap elsewhere/a']);
  });

  it('stops applying when the lease is lost', async () => {
    let writes = 0;
    const client = createFencedClient(kube.client({ clock }), () => {
      writes += 1;
      return writes <= 1;
    });
    const fenced = createApplier({ client, labels, manager: 'test-operator' });
    const error = await fenced
      .apply(owner, [map('a'), map('b')], { prune: [KINDS.configMap] })
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(NotLeaderError);
    expect([read('a') !== undefined, read('b')]).to.deep.equal([true, undefined]);
  });
});

describe('event recorder', () => {
  let kube: FakeKube;
  beforeEach(async () => {
    kube = await startFakeKube();
  });
  afterEach(() => kube.close());
  const events = () => kube.store.list('/apis/events.k8s.io/v1/events', 'ns') as unknown as EventLike[];
  interface EventLike {
    readonly reason: string;
    readonly note: string;
    readonly type: string;
    readonly regarding: object;
    readonly series?: { readonly count: number; readonly lastObservedTime: string };
  }

  it('counts repeated events in a series, and records another message as another event', async () => {
    const clock = createFakeClock();
    const logger = createSilentLogger();
    const recorder = createEventRecorder({
      client: kube.client({ clock }),
      clock,
      logger,
      controller: 'example.dev/operator',
      instance: 'pod-1',
    });
    const object = kube.put(WIDGET, { ...WIDGET, metadata: { name: 'w', namespace: 'ns' } } as KubeObject);
    for (let round = 0; round < 5; round += 1) {
      recorder.record(object, { type: 'Warning', reason: 'StoreDown', message: 'The store is down.' });
    }
    recorder.record(object, { type: 'Normal', reason: 'Available', message: 'All is well' });
    await recorder.flush();
    const [down, available] = events();
    expect(events()).to.have.length(2);
    expect(down).to.include({ reason: 'StoreDown', note: 'The store is down', type: 'Warning' });
    expect(down?.series?.count).to.equal(5);
    expect(down?.regarding).to.include({ kind: 'Widget', name: 'w', uid: object.metadata.uid });
    expect(available).not.to.have.property('series');

    await clock.advance(600_000);
    recorder.record(object, { type: 'Warning', reason: 'StoreDown', message: 'The store is down' });
    await recorder.flush();
    expect(events()).to.have.length(3);
  });

  it('drops an event that the server refuses', async () => {
    const clock = createFakeClock();
    const recorder = createEventRecorder({
      client: kube.client({ clock }),
      clock,
      logger: createSilentLogger(),
      controller: 'example.dev/operator',
      instance: 'pod-1',
    });
    const object = kube.put(WIDGET, { ...WIDGET, metadata: { name: 'w', namespace: 'ns' } } as KubeObject);
    kube.fail({ fault: { status: 500 } });
    recorder.record(object, { type: 'Normal', reason: 'Lost', message: 'One' });
    recorder.record(object, { type: 'Normal', reason: 'Kept', message: 'Two' });
    await recorder.flush();
    expect(events().map(({ reason }) => reason)).to.deep.equal(['Kept']);
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createApplier, ForeignObjectError, ownershipLabels } from '../../operator/kube-runtime/applier.ts';
import { createEventRecorder } from '../../operator/kube-runtime/events.ts';
import { createKubeClient } from '../../operator/kube-runtime/http-kube-client.ts';
import { type Change, createInformer, type Informer } from '../../operator/kube-runtime/informer.ts';
import type { KubeClient, KubeError } from '../../operator/kube-runtime/kube-client.ts';
import { kubeconfigConnection } from '../../operator/kube-runtime/kube-connection.ts';
import { type ConfigMap, KINDS, type KubeObject } from '../../operator/kube-runtime/kube-object.ts';
import { createKubeTransport, type KubeTransport } from '../../operator/kube-runtime/kube-transport.ts';
import { createLeaderElector, type LeaderElector, type Lease } from '../../operator/kube-runtime/leader-election.ts';
import { createRuntimeClock } from '../../operator/kube-runtime/runtime-clock.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { rejection } from '../support/refusal-of.ts';
import { until } from '../support/until.ts';
import { describeWithCluster } from './with-cluster.ts';

const { configMap } = KINDS;
const clock = createRuntimeClock();
const logger = createSilentLogger();

describeWithCluster('runtime of the operator on a real API server', (server) => {
  let transport: KubeTransport;
  let client: KubeClient;
  let asUser: KubeClient;
  let namespace: string;
  const stops: (() => Promise<unknown>)[] = [];

  before(async () => {
    const connection = await kubeconfigConnection(process.env['ENGRAM_TEST_KUBECONFIG'] ?? '');
    transport = createKubeTransport({ connection, clock, userAgent: 'engram-tests' });
    client = createKubeClient({ transport, fieldManager: 'test-operator' });
    asUser = createKubeClient({ transport, fieldManager: 'a-user' });
    namespace = await server().newNamespace();
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });
  after(() => transport.close());

  const map = (name: string, data: Readonly<Record<string, string>> = {}): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  });

  describe('client', () => {
    it('creates, reads, replaces by version, patches and deletes by uid', async () => {
      expect(await client.get(configMap, { name: 'a', namespace })).to.equal(null);
      const made = await client.create(configMap, map('a', { one: '1' }));
      expect(await rejection<KubeError>(client.create(configMap, map('a')))).to.include({
        code: 409,
        reason: 'AlreadyExists',
      });
      const replaced = await client.replace<ConfigMap>(configMap, { ...made, data: { two: '2' } });
      expect(await rejection<KubeError>(client.replace(configMap, made))).to.include({ code: 409, reason: 'Conflict' });
      const stale = { metadata: { resourceVersion: made.metadata.resourceVersion }, data: { three: '3' } };
      expect((await rejection<KubeError>(client.patch(configMap, made.metadata, stale))).code).to.equal(409);
      const patched = await client.patch<ConfigMap>(configMap, made.metadata, { data: { two: null, four: '4' } });
      expect([replaced.data, patched.data]).to.deep.equal([{ two: '2' }, { four: '4' }]);
      expect(
        (await rejection<KubeError>(client.delete(configMap, made.metadata, { uid: randomUUID() }))).code,
      ).to.equal(409);
      const { uid = '' } = made.metadata;
      expect(await client.delete(configMap, made.metadata, { uid })).to.equal(true);
      expect(await client.delete(configMap, made.metadata)).to.equal(false);
    });

    it('applies fields, removes its own, keeps foreign ones, and takes over only by force', async () => {
      await client.apply(configMap, map('applied', { ours: '1', gone: '2' }));
      await asUser.patch(configMap, { name: 'applied', namespace }, { data: { theirs: '3' } });
      const again = await client.apply<ConfigMap>(configMap, map('applied', { ours: '1' }));
      expect(again.data).to.deep.equal({ ours: '1', theirs: '3' });
      const conflict = await rejection<KubeError>(asUser.apply(configMap, map('applied', { ours: 'taken' })));
      expect(conflict).to.include({ code: 409, reason: 'Conflict' });
      const forced = await asUser.apply<ConfigMap>(configMap, map('applied', { ours: 'taken' }), { force: true });
      expect(forced.data?.['ours']).to.equal('taken');
      const same = await asUser.apply<ConfigMap>(configMap, map('applied', { ours: 'taken' }), { force: true });
      expect(same.metadata.resourceVersion).to.equal(forced.metadata.resourceVersion);
    });

    it('lists all pages by label', async () => {
      const labelled = (index: number) => ({
        ...map(`page-${index}`),
        metadata: { name: `page-${index}`, namespace, labels: { of: 'pages' } },
      });
      for (let begin = 0; begin < 520; begin += 40) {
        const some = Array.from({ length: Math.min(40, 520 - begin) }, (_, index) => labelled(begin + index));
        await Promise.all(some.map((object) => client.create(configMap, object)));
      }
      const { items } = await client.list<ConfigMap>(configMap, { namespace, labelSelector: 'of=pages' });
      expect(new Set(items.map(({ metadata }) => metadata.name)).size).to.equal(520);
      expect(items[0]).to.include({ apiVersion: 'v1', kind: 'ConfigMap' });
    });
  });

  describe('informer', () => {
    const follow = (): { informer: Informer<ConfigMap>; changes: Change<ConfigMap>[]; restarts: string[] } => {
      const restarts: string[] = [];
      const changes: Change<ConfigMap>[] = [];
      const informer = createInformer<ConfigMap>({
        kind: configMap,
        client,
        clock,
        logger,
        namespace,
        labelSelector: 'watched=yes',
        metrics: { watchRestarted: (_, cause) => void restarts.push(cause), watchEventAge: () => {} },
      });
      informer.onChange((change) => changes.push(change));
      stops.push(() => informer.stop());
      return { informer, changes, restarts };
    };
    const watched = (name: string) => ({
      ...map(name, {}),
      metadata: { name, namespace, labels: { watched: 'yes' } },
    });

    it('caches and follows selected objects', async () => {
      await client.create(configMap, watched('first'));
      const { informer, changes } = follow();
      informer.start();
      await informer.whenSynced();
      expect(informer.get(`${namespace}/first`)?.metadata.name).to.equal('first');
      await client.create(configMap, map('not-watched'));
      await client.create(configMap, watched('second'));
      await client.patch(configMap, { name: 'second', namespace }, { data: { new: 'value' } });
      await client.delete(configMap, { name: 'first', namespace });
      await until('all came', () => changes.length === 4);
      expect(changes.map(({ type, key }) => `${type} ${key.split('/')[1]}`)).to.deep.equal([
        'added first',
        'added second',
        'modified second',
        'deleted first',
      ]);
      // An object that no longer matches the selector is removed.
      await client.patch(configMap, { name: 'second', namespace }, { metadata: { labels: { watched: null } } });
      await until('it went', () => informer.list().length === 0);
    });
  });

  describe('applier', () => {
    const labels = ownershipLabels('engram.test');
    it('creates, corrects and prunes objects of an owner, and keeps foreign ones', async () => {
      const applier = createApplier({ client, labels, manager: 'test-operator' });
      const owner = await client.create<ConfigMap>(configMap, map('owner'));
      const child = (name: string, data = {}) => ({ kind: configMap, object: map(name, data) });
      const options = { prune: [configMap, KINDS.secret] };
      const first = await applier.apply(owner, [child('one', { a: '1' }), child('two')], options);
      expect(first.created).to.deep.equal([`ConfigMap ${namespace}/one`, `ConfigMap ${namespace}/two`]);
      await asUser.patch(configMap, { name: 'one', namespace }, { data: { a: 'edited', b: 'theirs' } });
      const second = await applier.apply(owner, [child('one', { a: '1' })], options);
      expect(second).to.deep.include({
        corrected: [`ConfigMap ${namespace}/one`],
        pruned: [`ConfigMap ${namespace}/two`],
      });
      const held = await client.get<ConfigMap>(configMap, { name: 'one', namespace });
      expect(held?.data).to.deep.equal({ a: '1', b: 'theirs' });
      expect(held?.metadata.ownerReferences?.[0]?.uid).to.equal(owner.metadata.uid);
      const third = await applier.apply(owner, [child('one', { a: '1' })], options);
      expect(third).to.deep.equal({ created: [], corrected: [], updated: [], pruned: [] });
      await asUser.create(configMap, map('of-a-user'));
      const error = await applier.apply(owner, [child('of-a-user')], options).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ForeignObjectError);
    });
  });

  describe('events', () => {
    it('are accepted by the server, first as one and then as a series', async () => {
      const recorder = createEventRecorder({
        client,
        clock,
        logger,
        controller: 'engram.test/operator',
        instance: 'test-1',
      });
      const about = await client.create<ConfigMap>(configMap, map('noted'));
      for (let round = 0; round < 3; round += 1) {
        recorder.record(about, { type: 'Warning', reason: 'StoreUnreachable', message: 'The store is away.' });
      }
      await recorder.flush();
      const { items } = await client.list<KubeObject & { series?: { count: number }; note?: string }>(KINDS.event, {
        namespace,
      });
      expect(items).to.have.length(1);
      expect(items[0]).to.deep.include({ note: 'The store is away', reason: 'StoreUnreachable' });
      expect(items[0]?.series?.count).to.equal(3);
    });
  });

  describe('leader election', () => {
    const times = { durationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200 };
    const elector = (identity: string, lost: string[] = []): LeaderElector => {
      const lease = { name: 'the-lease', namespace };
      const made = createLeaderElector({
        client,
        clock,
        logger,
        lease,
        identity,
        times,
        onLost: () => void lost.push(identity),
      });
      stops.push(() => made.stop());
      return made;
    };

    it('elects one leader, hands over on a stop, and takes over from a dead one', async () => {
      const lost: string[] = [];
      const [one, two] = [elector('one', lost), elector('two', lost)];
      one.start();
      await one.whenLeading();
      two.start();
      expect([one.isLeading(), two.isLeading()]).to.deep.equal([true, false]);
      await one.stop();
      await two.whenLeading();
      const held = await client.get<Lease>(KINDS.lease, { name: 'the-lease', namespace });
      expect(held?.spec?.holderIdentity).to.equal('two');
      expect(lost).to.deep.equal([]);
      await two.stop();

      // It holds the lease but no longer renews it.
      const dead = { ...held?.spec, holderIdentity: 'dead', leaseDurationSeconds: 1 };
      await client.patch(KINDS.lease, { name: 'the-lease', namespace }, { spec: dead });
      const three = elector('three');
      three.start();
      await three.whenLeading();
      expect(three.isLeading()).to.equal(true);
    });

    it('loses the lease when another process takes it', async () => {
      const lost: string[] = [];
      const one = elector('first', lost);
      one.start();
      await one.whenLeading();
      await client.patch(KINDS.lease, { name: 'the-lease', namespace }, { spec: { holderIdentity: 'thief' } });
      await until('it was told', () => lost.length === 1);
      expect(one.isLeading()).to.equal(false);
    });
  });
});

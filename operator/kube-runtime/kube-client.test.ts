import { expect } from 'chai';
import { createFakeClock } from '../../test/support/kube/fake-clock.ts';
import { type FakeKube, startFakeKube } from '../../test/support/kube/fake-kube.ts';
import { rejection } from '../../test/support/refusal-of.ts';
import { until } from '../../test/support/until.ts';
import { type KubeError, NotLeaderError, type WatchEvent } from './kube-client.ts';
import { type ConfigMap, KINDS, type KubeObject } from './kube-object.ts';
import { createFencedClient, fencePort } from './leader-election.ts';
import { createRuntimeClock } from './runtime-clock.ts';

const { configMap } = KINDS;
const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns' },
  data,
});

describe('kube client', () => {
  let kube: FakeKube;
  beforeEach(async () => {
    kube = await startFakeKube();
  });
  afterEach(() => kube.close());

  it('reads, creates, applies, patches and deletes objects', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    expect(await client.get(configMap, { name: 'a', namespace: 'ns' })).to.equal(null);
    const made = await client.create(configMap, map('a', { one: '1' }));
    await client.apply(configMap, map('a', { two: '2' }), { force: true });
    await client.apply(configMap, map('a', { three: '3' }), { force: true });
    const patched = await client.patch<ConfigMap>(configMap, made.metadata, { data: { one: null } });
    expect(patched.data).to.deep.equal({ three: '3' });
    const apply = kube.requests.find(({ contentType }) => contentType === 'application/apply-patch+yaml');
    expect(apply?.query.get('fieldManager')).to.equal('test-operator');
    expect((await rejection<KubeError>(client.create(configMap, map('a')))).reason).to.equal('AlreadyExists');
    const stale = { ...made, data: { stale: 'yes' } };
    expect((await rejection<KubeError>(client.replace(configMap, stale))).code).to.equal(409);
    expect((await rejection<KubeError>(client.delete(configMap, made.metadata, { uid: 'another' }))).code).to.equal(
      409,
    );
    expect(await client.delete(configMap, made.metadata)).to.equal(true);
    expect(await client.delete(configMap, made.metadata)).to.equal(false);
  });

  it('sends unknown fields unchanged', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    await client.apply(configMap, { ...map('a'), somethingNew: { deep: [1, null] } } as ConfigMap);
    expect(kube.requests.at(-1)?.body).to.have.deep.property('somethingNew', { deep: [1, null] });
  });

  it('lists by pages and sets the kind of each item', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    for (let index = 0; index < 1_203; index += 1) kube.put(configMap, map(`m${index}`));
    const { items } = await client.list<ConfigMap>(configMap, { namespace: 'ns' });
    expect(new Set(items.map(({ metadata }) => metadata.name)).size).to.equal(1_203);
    expect(items[0]).to.include({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect(kube.requests).to.have.length(3);
  });

  it('lists without pages when a page has expired', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    for (let index = 0; index < 600; index += 1) kube.put(configMap, map(`m${index}`));
    kube.fail({ laterPage: true, fault: { status: 410, reason: 'Expired' } });
    expect((await client.list<ConfigMap>(configMap)).items).to.have.length(600);
    expect(kube.requests.map(({ query }) => query.get('limit'))).to.deep.equal(['500', '500', null]);
  });

  for (const [seconds, waitMs] of [
    ['3', 3_000],
    ['0', 100],
  ] as const) {
    it(`retries ${waitMs} ms after an answer with Retry-After: ${seconds}`, async () => {
      const clock = createFakeClock();
      const client = kube.client({ clock });
      kube.put(configMap, map('a'));
      kube.fail({ fault: { status: 429, headers: { 'retry-after': seconds } } });
      const reading = client.get(configMap, { name: 'a', namespace: 'ns' });
      // The time-out of the call, and the wait.
      await until('it waits', () => clock.pending === 2);
      await clock.advance(waitMs - 1);
      expect(kube.requests).to.have.length(1);
      await clock.advance(1);
      expect(await reading).to.have.nested.property('metadata.name', 'a');
    });
  }

  it('fails at once when Retry-After exceeds the time limit', async () => {
    const client = kube.client({ clock: createFakeClock() });
    kube.fail({ fault: { status: 429, headers: { 'retry-after': '30' } } });
    const error = await rejection<KubeError>(client.get(configMap, { name: 'a', namespace: 'ns' }));
    expect(error).to.include({ code: 429, reason: 'TooManyRequests', retryAfterMs: 30_000, transient: true });
  });

  it('fails after ten seconds without an answer', async () => {
    const clock = createFakeClock();
    const client = kube.client({ clock });
    kube.fail({ fault: { action: 'hang' } });
    const reading = rejection<KubeError>(client.get(configMap, { name: 'a', namespace: 'ns' }));
    await until('it was asked', () => kube.requests.length === 1);
    await clock.advance(10_000);
    expect(await reading).to.include({ code: 0, reason: 'Timeout', transient: true });
  });

  it('distinguishes a lost connection from a refusal', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    kube.fail({ fault: { action: 'reset' } });
    expect(await rejection<KubeError>(client.list(configMap))).to.include({ code: 0, reason: 'Unreachable' });
    kube.fail({ fault: { status: 403, reason: 'Forbidden' } });
    expect(await rejection<KubeError>(client.list(configMap))).to.include({
      code: 403,
      reason: 'Forbidden',
      transient: false,
    });
  });

  it('watches changes and bookmarks; an expired version and a broken line are errors', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    const stop = new AbortController();
    const options = { resourceVersion: String(kube.store.version()), timeoutSeconds: 290, signal: stop.signal };
    const events: WatchEvent<KubeObject>[] = [];
    const watching = (async () => {
      for await (const event of client.watch(configMap, options)) events.push(event);
    })();
    await until('it watches', () => kube.watches() === 1);
    kube.put(configMap, map('a'));
    kube.bookmark();
    await until('both came', () => events.length === 2);
    expect(events.map(({ type }) => type)).to.deep.equal(['ADDED', 'BOOKMARK']);
    expect(kube.requests[0]?.query.get('allowWatchBookmarks')).to.equal('true');
    stop.abort();
    await watching;

    kube.store.compact();
    const again = { ...options, signal: new AbortController().signal };
    const drain = async () => {
      for await (const _ of client.watch(configMap, again));
    };
    expect((await rejection<KubeError>(drain())).code).to.equal(410);
    kube.fail({ watch: true, fault: { lines: ['{"type":"ADDED","obj'] } });
    expect((await rejection<KubeError>(drain())).reason).to.equal('BrokenWatch');
  });

  it('makes calls beside any number of watches', async () => {
    const client = kube.client({ clock: createRuntimeClock() });
    const stop = new AbortController();
    const drain = async () => {
      const options = { resourceVersion: String(kube.store.version()), timeoutSeconds: 290, signal: stop.signal };
      for await (const _ of client.watch(configMap, options));
    };
    const watching = Array.from({ length: 50 }, drain);
    await until('all watch', () => kube.watches() === 50);
    await client.create(configMap, map('a'));
    stop.abort();
    await Promise.all(watching);
  });

  it('reads but does not write without the lease', async () => {
    let leads = true;
    const client = createFencedClient(kube.client({ clock: createRuntimeClock() }), () => leads);
    const made = await client.create(configMap, map('a'));
    leads = false;
    const writes = [
      client.create(configMap, map('b')),
      client.apply(configMap, map('a')),
      client.patch(configMap, made.metadata, {}),
      client.patchStatus(configMap, made.metadata, {}),
      client.replace(configMap, made),
      client.delete(configMap, made.metadata),
    ];
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map((each) => each.status === 'rejected' && each.reason instanceof NotLeaderError)).to.deep.equal(
      writes.map(() => true),
    );
    expect(kube.requests).to.have.length(1);
    expect(await client.get(configMap, made.metadata)).not.to.equal(null);
    const erased: string[] = [];
    const port = fencePort({ erase: async (what: string) => void erased.push(what), limit: 3 }, () => leads);
    expect(await port.erase('one').catch((error: unknown) => error)).to.be.instanceOf(NotLeaderError);
    leads = true;
    await port.erase('two');
    expect([erased, port.limit]).to.deep.equal([['two'], 3]);
  });
});

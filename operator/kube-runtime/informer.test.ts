import { expect } from 'chai';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock } from '../../test/support/kube/fake-clock.ts';
import { type FakeKube, startFakeKube } from '../../test/support/kube/fake-kube.ts';
import { until } from '../../test/support/until.ts';
import { type Change, createInformer, type Informer } from './informer.ts';
import { type ConfigMap, KINDS } from './kube-object.ts';

const { configMap } = KINDS;
const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns', labels: { team: data['team'] ?? 'none' } },
  data,
});
const name = (object: string) => ({ name: object, namespace: 'ns' });

describe('informer', () => {
  let kube: FakeKube;
  let informer: Informer<ConfigMap>;
  let clock: ReturnType<typeof createFakeClock>;
  let restarts: string[];
  let changes: Change<ConfigMap>[];

  beforeEach(async () => {
    kube = await startFakeKube();
    clock = createFakeClock();
    restarts = [];
    changes = [];
    informer = createInformer<ConfigMap>({
      kind: configMap,
      client: kube.client({ clock }),
      clock,
      logger: createSilentLogger(),
      metrics: { watchRestarted: (_, cause) => void restarts.push(cause), watchEventAge: () => {} },
      indexes: { team: ({ data }) => (data?.['team'] === undefined ? [] : [data['team']]) },
      random: () => 0.5,
    });
    informer.onChange((change) => changes.push(change));
  });
  afterEach(async () => {
    await informer.stop();
    await kube.close();
  });

  const synced = async () => {
    informer.start();
    await informer.whenSynced();
    await until('it watches', () => kube.watches() === 1);
  };
  const lists = () => kube.requests.filter(({ query }) => query.get('watch') === null).length;
  const watchesAsked = () => kube.requests.length - lists();
  /** Lets time pass in small steps until it is so: what the answer to a request sets off takes real time. */
  const passUntil = async (what: string, isSo: () => boolean, stepMs = 1_000) => {
    await until(what, async () => {
      if (isSo()) return true;
      await clock.advance(stepMs);
      return isSo();
    });
  };

  it('caches listed and changed objects by key and index', async () => {
    kube.put(configMap, map('a', { team: 'red' }));
    await synced();
    expect(informer.get('ns/a')?.data).to.deep.equal({ team: 'red' });
    kube.put(configMap, map('b', { team: 'red' }));
    kube.change(configMap, name('a'), { data: { team: 'blue' } });
    kube.remove(configMap, name('b'));
    await until('all came', () => changes.length === 4);
    expect(changes.map(({ type, key }) => `${type} ${key}`)).to.deep.equal([
      'added ns/a',
      'added ns/b',
      'modified ns/a',
      'deleted ns/b',
    ]);
    expect(changes[2]?.previous?.data).to.deep.equal({ team: 'red' });
    expect(informer.byIndex('team', 'red')).to.deep.equal([]);
    expect(informer.byIndex('team', 'blue').map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
    expect(() => informer.byIndex('other', 'x')).to.throw('no index');
  });

  for (const how of ['close', 'reset'] as const) {
    it(`resumes the watch without a list after it ended by ${how}`, async () => {
      await synced();
      kube.put(configMap, map('a'));
      await until('it came', () => changes.length === 1);
      kube.endWatches(how);
      kube.put(configMap, map('missed'));
      await passUntil('it watches again', () => kube.watches() === 1, 100);
      await until('the missed one came', () => informer.get('ns/missed') !== undefined);
      expect(lists()).to.equal(1);
      expect(changes).to.have.length(2);
    });
  }

  it('retries the watch after 429, 500 and 401 with back-off', async () => {
    await synced();
    for (const status of [429, 500, 401]) {
      kube.fail({ watch: true, fault: { status, headers: status === 429 ? { 'retry-after': '1' } : {} } });
    }
    kube.endWatches('reset');
    await passUntil('it watches again', () => kube.watches() === 1, 100);
    kube.put(configMap, map('late'));
    await until('it came', () => informer.get('ns/late') !== undefined);
    expect(restarts.filter((cause) => cause === 'error')).to.have.length(4);
  });

  it('lists again after three failed watches in a row', async () => {
    await synced();
    kube.fail({ watch: true, times: 3, fault: { status: 500 } });
    kube.endWatches('reset');
    await passUntil('it watches again', () => kube.watches() === 1, 100);
    expect(lists()).to.equal(2);
  });

  it('retries while the server does not answer, and is complete afterwards', async () => {
    await synced();
    kube.put(configMap, map('goes'));
    await until('it came', () => changes.length === 1);
    kube.fail({ times: 1_000, fault: { status: 500 } });
    kube.endWatches('reset');
    await passUntil('it tried often', () => restarts.length > 8, 5_000);
    expect(informer.isAlive()).to.equal(true);
    kube.remove(configMap, name('goes'));
    kube.put(configMap, map('comes'));
    kube.store.compact();
    kube.heal();
    await passUntil('it is complete', () => informer.get('ns/comes') !== undefined, 1_000);
    expect(informer.get('ns/goes')).to.equal(undefined);
    expect(changes.at(-2)?.type === 'deleted' || changes.at(-1)?.type === 'deleted').to.equal(true);
  });

  it('lists again when its version has expired', async () => {
    await synced();
    for (const round of [2, 3]) {
      if (round === 2) kube.fail({ watch: true, fault: { status: 410, reason: 'Expired' } });
      kube.put(configMap, map(`seen-${round}`));
      await until('it came', () => informer.get(`ns/seen-${round}`) !== undefined);
      await clock.advance(10_000);
      kube.endWatches('close');
      kube.put(configMap, map(`unseen-${round}`));
      kube.store.compact();
      await passUntil('it listed', () => informer.get(`ns/unseen-${round}`) !== undefined, 100);
      await passUntil('it watches', () => kube.watches() === 1, 100);
      expect(lists()).to.equal(round);
    }
    expect(restarts.filter((cause) => cause === 'expired')).to.have.length(2);
  });

  it('replaces a watch that is silent for 90 seconds', async () => {
    kube.fail({ watch: true, fault: { action: 'silent' } });
    await synced();
    kube.put(configMap, map('unheard'));
    await clock.advance(89_000);
    expect(informer.get('ns/unheard')).to.equal(undefined);
    await passUntil('it came', () => informer.get('ns/unheard') !== undefined);
    expect(restarts).to.deep.equal(['idle']);
    expect(lists()).to.equal(1);
  });

  it('resumes from a bookmark', async () => {
    await synced();
    for (let minute = 0; minute < 4; minute += 1) {
      const before = informer.lastEventAt;
      await clock.advance(60_000);
      kube.put(KINDS.secret, { apiVersion: 'v1', kind: 'Secret', metadata: { name: `s${minute}`, namespace: 'ns' } });
      kube.bookmark();
      await until('it was heard', () => informer.lastEventAt > before);
    }
    expect(restarts).to.deep.equal([]);
    kube.endWatches('close');
    await passUntil('it watches again', () => watchesAsked() === 2, 100);
    const asked = kube.requests.filter(({ query }) => query.get('watch') !== null).at(-1);
    expect(asked?.query.get('resourceVersion')).to.equal(String(kube.store.version()));
  });

  it('finds missed changes by the list every ten minutes', async () => {
    kube.put(configMap, map('stays'));
    kube.put(configMap, map('goes'));
    await synced();
    kube.store.silent = true;
    kube.put(configMap, map('lost'));
    kube.change(configMap, name('stays'), { data: { changed: 'yes' } });
    kube.remove(configMap, name('goes'));
    kube.store.silent = false;
    await passUntil('it was found', () => informer.get('ns/lost') !== undefined, 10_000);
    expect(changes.slice(2).map(({ type, key }) => `${type} ${key}`)).to.have.members([
      'added ns/lost',
      'modified ns/stays',
      'deleted ns/goes',
    ]);
  });

  it('trims cached objects and still reports all changes', async () => {
    const trimmed = createInformer<ConfigMap>({
      kind: configMap,
      client: kube.client({ clock }),
      clock,
      logger: createSilentLogger(),
      metrics: { watchRestarted: () => {}, watchEventAge: () => {} },
      trim: ({ data: _, ...rest }) => rest,
    });
    const told: (ConfigMap | undefined)[] = [];
    trimmed.onChange(({ object, previous }) => told.push(object, previous));
    kube.put(configMap, map('a', { key: 'secret' }));
    trimmed.start();
    await trimmed.whenSynced();
    await until('it watches', () => kube.watches() === 1);
    kube.change(configMap, name('a'), { data: { key: 'another' } });
    await until('both came', () => told.length === 4);
    expect(JSON.stringify([told, trimmed.list()])).not.to.match(/secret|another/);
    await trimmed.stop();
  });

  it('reports no change for unchanged objects of a list', async () => {
    kube.put(configMap, map('a'));
    await synced();
    kube.fail({ watch: true, fault: { status: 410 } });
    kube.endWatches('close');
    await passUntil('it listed', () => lists() === 2, 100);
    await passUntil('it watches', () => kube.watches() === 1, 100);
    expect(changes).to.have.length(1);
  });

  it('survives a listener that throws and an invalid line', async () => {
    informer.onChange(() => {
      throw new Error('of the listener');
    });
    kube.fail({ watch: true, fault: { lines: ['{"type":"ADD'] } });
    informer.start();
    await passUntil('it watches', () => kube.watches() === 1, 100);
    kube.put(configMap, map('a'));
    await until('it came', () => informer.get('ns/a') !== undefined);
    expect(changes).to.have.length(1);
  });

  it('requests bookmarks and a watch of about 290 seconds', async () => {
    await synced();
    const watch = kube.requests.find(({ query }) => query.get('watch') === 'true');
    expect(watch?.query.get('allowWatchBookmarks')).to.equal('true');
    expect(watch?.query.get('timeoutSeconds')).to.equal('290');
  });

  it('is not alive after three minutes without progress', async () => {
    expect(informer.isAlive()).to.equal(true);
    await clock.advance(180_000);
    expect(informer.isAlive()).to.equal(false);
  });
});

import { expect } from 'chai';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock } from '../../test/support/kube/fake-clock.ts';
import { type FakeKube, startFakeKube } from '../../test/support/kube/fake-kube.ts';
import { until } from '../../test/support/until.ts';
import { type ConfigMap, KINDS } from './kube-object.ts';
import { createReferenceWatches, type ReferenceWatches } from './reference-watches.ts';

const map = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns' },
  data: { text: '' },
});
const named = (name: string) => ({ name, namespace: 'ns' });

describe('watches of referenced objects', () => {
  let kube: FakeKube;
  let clock: ReturnType<typeof createFakeClock>;
  let watches: ReferenceWatches;
  let told: string[];

  beforeEach(async () => {
    kube = await startFakeKube();
    clock = createFakeClock();
    told = [];
    watches = createReferenceWatches({
      kind: KINDS.configMap,
      client: kube.client({ clock }),
      clock,
      logger: createSilentLogger(),
      most: 2,
      metrics: { watchRestarted: () => {} },
    });
    watches.onChange((owner) => told.push(owner));
  });
  afterEach(async () => {
    await watches.stop();
    await kube.close();
  });

  const watching = (count: number) => until(`${count} are watched`, () => kube.watches() === count);
  /** Answers who was told since it was asked last, in order. */
  const news = async (count: number): Promise<string[]> => {
    await until(`${count} were told`, () => told.length >= count);
    return told.splice(0).sort();
  };

  it('reports added, changed and deleted objects to every owner', async () => {
    watches.refer('a', [named('model')]);
    watches.refer('b', [named('model')]);
    await watching(1);
    kube.put(KINDS.configMap, map('other'));
    kube.put(KINDS.configMap, map('model'));
    expect(await news(2)).to.deep.equal(['a', 'b']);
    kube.change(KINDS.configMap, named('model'), { data: { text: 'changed' } });
    expect(await news(2)).to.deep.equal(['a', 'b']);
    kube.remove(KINDS.configMap, named('model'));
    expect(await news(2)).to.deep.equal(['a', 'b']);
    for (const { query } of kube.requests) expect(query.get('fieldSelector')).to.equal('metadata.name=model');
  });

  it('ends a watch with the last owner', async () => {
    watches.refer('a', [named('model'), named('prompt')]);
    watches.refer('b', [named('model')]);
    await watching(2);
    watches.refer('a', [named('model')]);
    await watching(1);
    watches.refer('a', []);
    expect(watches.size).to.equal(1);
    watches.refer('b', []);
    await watching(0);
    expect(watches.size).to.equal(0);
  });

  it('limits the number of watches, and opens waiting ones later', async () => {
    for (const name of ['one', 'two', 'three']) watches.refer(name, [named(name)]);
    await watching(2);
    expect(watches.size).to.equal(2);
    watches.refer('one', []);
    await until('the third is watched', () =>
      kube.requests.some(({ query }) => query.get('fieldSelector') === 'metadata.name=three'),
    );
    await watching(2);
    kube.put(KINDS.configMap, map('three'));
    expect(await news(1)).to.deep.equal(['three']);
  });

  it('finds changes that happened between two watches', async () => {
    kube.put(KINDS.configMap, map('model'));
    watches.refer('a', [named('model')]);
    expect(await news(1)).to.deep.equal(['a']);
    await watching(1);
    kube.fail({ method: 'GET', path: /configmaps/, fault: { action: 'reset' }, times: 2 });
    kube.endWatches('reset');
    kube.change(KINDS.configMap, named('model'), { data: { text: 'changed' } });
    await until('it was found', async () => {
      await clock.advance(1_000);
      return told.length > 0;
    });
    expect(await news(1)).to.deep.equal(['a']);
  });
});

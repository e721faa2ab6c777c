import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { semanticMap } from './semantic-map.ts';
import type { GraphView } from './view-graph.ts';

const SCOPE = datasetScope(asId('tenant'), asId('dataset'));

function viewOf(count: number) {
  const node = (id: string, type: string) => ({
    id,
    type,
    name: id,
    description: '',
    aliases: [],
    nodeSets: [],
    mentions: 1,
    properties: {},
    evidence: [{ id, item: 'item', generation: 1 }],
  });
  const entities = Array.from({ length: count }, (_, at) => node(`entity ${at}`, 'Entity'));
  const nodes = [...entities, node('document', 'TextDocument'), node('alone', 'NodeSet')];
  const edges = [{ source: 'document', target: 'entity 0', relation: 'contains' }];
  return { nodes, edges } as unknown as GraphView;
}

/** Even entities are alike, and odd ones; rows of another generation are of no node. */
const vectors = {
  async fetch(_: unknown, kind: string, ids: readonly string[]) {
    return ids.flatMap((id) => {
      if (kind !== 'entity') return [];
      const at = Number(id.split(' ')[1]);
      const vector = new Float32Array([at % 2, 1 - (at % 2), at / 100, 0]);
      return [
        { id, item: asId<never>('item'), generation: 1, vector },
        { id, item: asId<never>('item'), generation: 2, vector: new Float32Array([0, 0, 0, 1]) },
      ];
    });
  },
};

describe('the semantic map', () => {
  it('groups nodes of like meaning, names the nearest, and places nodes without a vector beside theirs', async () => {
    const map = await semanticMap(vectors, SCOPE, viewOf(8));
    expect(map?.clusters.map(({ nodes }) => nodes)).to.deep.equal([
      ['document', 'entity 0', 'entity 2', 'entity 4', 'entity 6'],
      ['entity 1', 'entity 3', 'entity 5', 'entity 7'],
    ]);
    expect(map?.clusters[1]?.label).to.equal('entity 1, entity 3, entity 5');
    expect(map?.neighbours.get('entity 0')?.slice(0, 3)).to.have.members(['entity 2', 'entity 4', 'entity 6']);
    const at = (id: string) => map?.positions.get(id) ?? { x: Number.NaN, y: Number.NaN };
    expect(Math.abs(at('document').x - at('entity 0').x)).to.be.below(0.2);
    expect(Math.hypot(at('alone').x, at('alone').y)).to.be.closeTo(1.15, 0.05);
    expect(await semanticMap(vectors, SCOPE, viewOf(8))).to.deep.equal(map);
  });

  it('is null when no node has a vector, and has one point for one', async () => {
    expect(await semanticMap(vectors, SCOPE, viewOf(0))).to.equal(null);
    expect((await semanticMap(vectors, SCOPE, viewOf(1)))?.positions.get('entity 0')).to.deep.equal({ x: 0, y: 0 });
  });

  it('places nodes of like meaning near each other', async () => {
    const map = await semanticMap(vectors, SCOPE, viewOf(60));
    const at = (id: number) => map?.positions.get(`entity ${id}`) ?? { x: 0, y: 0 };
    const apart = (one: number, other: number) => Math.hypot(at(one).x - at(other).x, at(one).y - at(other).y);
    let right = 0;
    for (let id = 0; id + 3 < 60; id += 1) if (apart(id, id + 2) < apart(id, id + 3)) right += 1;
    expect(right).to.be.greaterThan(50);
    expect(await semanticMap(vectors, SCOPE, viewOf(60))).to.deep.equal(map);
  });

  it('takes 2000 nodes of more, within seconds', async () => {
    const started = threadCpuTimeMs();
    const map = await semanticMap(vectors, SCOPE, viewOf(2500));
    expect(map?.positions.size).to.equal(2000);
    expectQuick(threadCpuTimeMs() - started, 10_000);
  });
});

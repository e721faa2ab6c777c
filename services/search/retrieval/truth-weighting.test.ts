import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { asId, datasetId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { recordCollections } from '../../common/records/collections.ts';
import { createTruthState, TRUTH_SLOTS } from '../../common/records/improve/truth-state.ts';
import { globalContextFor, withGlobalContext } from '../answers/contexts.ts';
import type { RankedPassage } from '../model.ts';
import { usesTruthWeights, weightByTruth } from './truth-weighting.ts';

const OWNER = asId<DatasetRef['ownerId']>('00000000-0000-4000-8000-000000000001');
const NOTES: DatasetRef = {
  id: datasetId('notes', OWNER, null),
  name: 'notes',
  ownerId: OWNER,
  tenant: PERSONAL_TENANT,
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: null,
};
const ITEM = asId<DataItemId>('00000000-0000-4000-8000-00000000000a');
const VECTOR = Float32Array.of(1, 0);
const QUERY = { values: VECTOR, version: scopeOf(NOTES), space: { model: 'test/model', dimensions: 2 } };

function passages(count: number): readonly RankedPassage[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    row: { item: ITEM },
    payload: { chunkIndex: at },
    explanation: { learned: null },
  })) as unknown as readonly RankedPassage[];
}

describe('the truth subspace in a search', () => {
  const target = { type: 'HYBRID_COMPLETION' as const, dataset: NOTES, vector: QUERY, limit: 3 };
  async function learned(epoch = 1, madeBy = 'test/model') {
    const store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
    const truth = createTruthState(store);
    const scope = scopeOf(NOTES);
    const coordinates = new Float32Array(3 * TRUTH_SLOTS);
    coordinates[2 * TRUTH_SLOTS] = 1;
    const page = { item: ITEM, generation: 1, page: 0, epoch, total: 3, chunks: ['c0', 'c1', 'c2'], coordinates };
    await truth.keepCoordinates(scope, [page]);
    const slots = [{ slot: 0, count: 1, centroid: VECTOR, learningIds: ['l'] }];
    await truth.keepSubspace(scope, { epoch: 1, slots, model: madeBy }, new Date());
    return { store };
  }
  const order = (list: readonly RankedPassage[]) => list.map(({ id }) => id);

  it('changes scores by at most a quarter, and explains it', async () => {
    const moved = await weightByTruth(await learned(), target, passages(4));
    // c3 has no coordinates: its place counts as it is.
    expect(order(moved)).to.deep.equal(['c2', 'c3', 'c0']);
    expect(moved[0]?.explanation.truth).to.deep.equal({ score: 1, factor: 1.25 });
    expect(moved[1]?.explanation).to.not.have.property('truth');
    expect(moved[2]?.explanation.truth).to.deep.equal({ score: 0, factor: 0.75 });
  });

  it('changes nothing for coordinates of another epoch, or without a subspace', async () => {
    expect(order(await weightByTruth(await learned(2), target, passages(4)))).to.deep.equal(['c0', 'c1', 'c2']);
    const store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
    const same = passages(3);
    expect(await weightByTruth({ store }, target, same)).to.deep.equal(same);
  });

  it('changes nothing for centroids of another embedding model', async () => {
    const moved = await weightByTruth(await learned(1, 'other/model'), target, passages(4));
    expect(order(moved)).to.deep.equal(['c0', 'c1', 'c2']);
  });

  it('is used only on request, in hybrid searches', () => {
    const wish = { structure: { truth: true, globalContext: false } };
    expect(usesTruthWeights(wish, target)).to.equal(true);
    expect(usesTruthWeights({}, target)).to.equal(false);
    expect(usesTruthWeights({ structure: { truth: false, globalContext: true } }, target)).to.equal(false);
    expect(usesTruthWeights(wish, { ...target, type: 'GRAPH_COMPLETION' })).to.equal(false);
  });

  it('leaves a context unchanged without summaries, or without passages', async () => {
    expect(withGlobalContext('passages', [])).to.equal('passages');
    const summary = { id: 's', level: 1, isRoot: true, text: 'All of it.', similarity: null };
    expect(withGlobalContext('', [summary])).to.equal('');
    expect(withGlobalContext('passages', [summary, { ...summary, isRoot: false }])).to.equal(
      '## Global context\nAll of it.\n\npassages',
    );
    const unread = { store: { get: () => Promise.reject(new Error('not read')) } } as never;
    expect(await globalContextFor(unread, {}, target)).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import type { DataItemId, DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';

const TEXTS = ['Ada Lovelace met Charles Babbage.', 'Mary Somerville taught Ada Lovelace.'];

/** Rows of triplets wait until they are let in; `reached` when the first are about to be written. */
function heldPatches({ indexes: { text } }: TwoReplicas) {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { upsert } = text;
  Object.assign(text, {
    async upsert(...call: Parameters<typeof upsert>) {
      if (call[1].some(({ kind }) => kind === 'triplet')) {
        reached.resolve();
        await opened.promise;
      }
      return upsert(...call);
    },
  });
  return { reached: reached.promise, letIn: opened.resolve };
}

/** Resolves when rows have been removed. */
function removal({ indexes: { text } }: TwoReplicas): Promise<void> {
  const removed = Promise.withResolvers<void>();
  const { remove } = text;
  Object.assign(text, {
    remove: (...call: Parameters<typeof remove>) => remove(...call).finally(removed.resolve),
  });
  return removed.promise;
}

describe('a graph patch in flight during an erasure', () => {
  it('leaves no row of a forgotten item', async () => {
    await using world = await startTwoReplicas({ improve: { tripletEmbedding: true } });
    const { one, two } = world;
    const added = await one.wire.post('/add', { data: TEXTS, datasetName: 'notes' });
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.json.dataset_id));
    const id = asId<DataItemId>(added.json.data_ingestion_info[0].data_id);
    expect((await one.wire.post('/cognify', { datasetIds: [scope.dataset] })).status).to.equal(200);
    const patches = heldPatches(world);
    const improving = one.wire.post('/improve', { datasetName: 'notes' });
    await patches.reached;
    const removed = removal(world);
    const forgetting = two.wire.remove(`/datasets/${scope.dataset}/data/${id}`);
    await removed;
    patches.letIn();
    expect((await forgetting).status).to.equal(200);
    await improving;
    expect(await world.indexes.text.count(scope, { items: [id] })).to.equal(0);
    expect(await world.indexes.vectors.count(scope, { items: [id] })).to.equal(0);
    expect(await world.indexes.text.count(scope, { kind: 'triplet' })).to.be.greaterThan(0);
  });
});

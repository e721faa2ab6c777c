import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryBlobStore } from '../../../test/support/memory/blob-store.ts';
import { createMemoryDatasetIndexes } from '../../../test/support/memory/dataset-indexes.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DataItemId, DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import { activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import { createVectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import { recordCollections } from '../../common/records/collections.ts';
import { isSameSpace, type VectorSpace } from '../../common/storage/ports/vector-index.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { writePart } from '../../common/storage/snapshots/part-stream.ts';
import { rowLines } from '../../common/storage/snapshots/row-lines.ts';
import { restoreBuilt } from './restore-built.ts';

const OF_SERVER: VectorSpace = { model: 'server/words', dimensions: 2 };
const OF_TENANT: VectorSpace = { model: 'openai/own', dimensions: 3 };

/** A tenant with a model on its own account, another without, and a snapshot whose vectors are of that model. */
async function createWorld() {
  const clock = { now: () => new Date('2026-11-22T16:00:00Z') };
  const [store, blobs, indexes] = [createMemoryDocumentStore(), createMemoryBlobStore(), createMemoryDatasetIndexes()];
  await store.prepare(recordCollections);
  const [withModel, without] = [randomUUID(), randomUUID()].map((id) => asId<TenantId>(id)) as [TenantId, TenantId];
  const embedder = (space: VectorSpace) => ({ space, embed: async () => [] }) as never;
  const embedders: EmbedderSource = {
    wanted: async () => embedder(OF_SERVER),
    of: async (tenant, space) =>
      isSameSpace(space, OF_SERVER) || (tenant === withModel && isSameSpace(space, OF_TENANT)) ? embedder(space) : null,
  };
  const vectorVersions = createVectorIndexVersions({ store, vectors: indexes.vectors, clock });
  const item = asId<DataItemId>(randomUUID());
  async function* lines() {
    yield rowLines.item({ item, generation: 1 });
    yield rowLines.vector('chunk', { id: randomUUID(), item, generation: 1, vector: new Float32Array([1, 0, 0]) }, []);
  }
  const snapshot = { tenantId: withModel, name: 'notes-1' };
  const part = await writePart(partPlace(blobs, withModel, 'notes-1'), { kind: 'rows', name: 'rows-1' }, lines());
  const restore = (tenantId: TenantId, datasetId: DatasetId) =>
    restoreBuilt(
      {
        text: indexes.text,
        vectors: vectorVersions.vectors,
        graph: indexes.graph,
        embedders,
        store,
        datasets: { get: async () => null } as never,
        places: { open: async () => ({ blobs, close: async () => {} }) },
      },
      { tenantId, datasetId, snapshot, place: null, step: { part: { part, space: OF_TENANT } } },
    );
  return { vectorVersions, embedders, withModel, without, restore, newDataset: () => asId<DatasetId>(randomUUID()) };
}

describe('restoring what cognify built', () => {
  it("restores vectors of a tenant's own model, and keeps that model for questions", async () => {
    const { vectorVersions, embedders, withModel, restore, newDataset } = await createWorld();
    const dataset = newDataset();
    await restore(withModel, dataset);
    const scope = datasetScope(withModel, dataset);
    const { embedder, isSettled } = await activeEmbedding({ vectorVersions, embedders }, scope);
    expect([embedder.space, isSettled]).to.deep.equal([OF_TENANT, true]);
    expect(await vectorVersions.vectors.count(scope, {})).to.equal(1);
  });

  it('is refused, and writes nothing, when the embedding model of the snapshot is not configured', async () => {
    const { vectorVersions, without, restore, newDataset } = await createWorld();
    const dataset = newDataset();
    const error = await restore(without, dataset).catch((reason: unknown) => reason);
    expect(error).to.have.property('wireName', 'ConflictError');
    expect(error).to.have.property('message').that.includes('openai/own with 3 dimensions');
    expect(error).to.have.property('message').that.includes('configure that model for the tenant or the server');
    expect(await vectorVersions.vectors.count(datasetScope(without, dataset), {})).to.equal(0);
  });
});

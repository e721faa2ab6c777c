import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryDatasetIndexes } from '../../../test/support/memory/dataset-indexes.ts';
import { asId } from '../../common/kernel/ids.ts';
import { type DatasetScope, datasetScope, PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import type { TextEntry } from '../../common/storage/ports/text-index.ts';
import { createIndexWriter, emptyBatch, type GrowingBatch } from './index-writer.ts';

const scope: DatasetScope = datasetScope(PERSONAL_TENANT, asId('dataset'));

function batchOf(id: string, text = `text of ${id}`): GrowingBatch {
  const batch = emptyBatch();
  const key = { item: asId<TextEntry['item']>(id), generation: 1, id, nodeSets: [] };
  batch.entries.push({ ...key, kind: 'chunk', tokens: text, ordinal: 0, payload: { text } });
  batch.embeddings.push({ entry: { ...key, kind: 'chunk' }, text });
  return batch;
}

function writerOn() {
  const indexes = createMemoryDatasetIndexes();
  const calls: string[][] = [];
  const embedder = createHashingEmbedder({ dimensions: 16 });
  const text = { ...indexes.text };
  text.upsert = async (into, entries) => {
    calls.push(entries.map(({ id }) => id));
    if (entries.some(({ id }) => id === 'bad')) throw new Error('bad row');
    await indexes.text.upsert(into, entries);
  };
  const writer = createIndexWriter({
    activeVersion: async () => ({ number: 0, scope, embedder }),
    written: async () => 0,
    scope,
    text,
    vectors: indexes.vectors,
    graph: indexes.graph,
    context: { scope, purpose: 'extraction' },
    embeddingBatchSize: 2,
    embeddingConcurrency: 2,
  });
  return { writer, calls, indexes, embedder };
}

describe('index writer', () => {
  it('writes the batches of many items together', async () => {
    const { writer, calls, indexes } = writerOn();
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => writer.write(batchOf(id))));
    expect(calls).to.deep.equal([['a', 'b', 'c', 'd', 'e']]);
    expect(await indexes.vectors.count(scope, {})).to.equal(5);
  });

  it('waits for the items that are still being built, for a moment', async () => {
    const { writer, calls } = writerOn();
    const items = ['a', 'b', 'slow'].map(() => writer.open());
    const first = writer.write(batchOf('a'));
    await nextTurn();
    await Promise.all([first, writer.write(batchOf('b'))]);
    expect(calls).to.deep.equal([['a', 'b']]);
    items[2]?.close();
    const second = writer.write(batchOf('c'));
    await nextTurn();
    await Promise.all([second, writer.write(batchOf('d'))]);
    expect(calls.slice(1)).to.deep.equal([['c', 'd']]);
  });

  it('writes every row with the vector of its own text', async () => {
    const { writer, indexes, embedder } = writerOn();
    const texts = { a: 'whales and ships', b: 'engines and numbers', c: 'rivers and stones' };
    await Promise.all(Object.entries(texts).map(([id, text]) => writer.write(batchOf(id, text))));
    for (const [id, text] of Object.entries(texts)) {
      const [vector = new Float32Array()] = await embedder.embed([text], { scope, purpose: 'query' });
      const [hit] = await indexes.vectors.nearest(scope, { kind: 'chunk', vector, limit: 1 });
      expect(hit).to.include({ id });
    }
  });

  it('fails only the item whose rows fail', async () => {
    const { writer, indexes } = writerOn();
    const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map((id) => writer.write(batchOf(id))));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await indexes.text.count(scope, {})).to.equal(2);
  });
});

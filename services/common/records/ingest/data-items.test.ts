import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DataItem } from '../../domain/data-item.ts';
import type { DataItemId, DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { datasetScope } from '../../kernel/scope.ts';
import { VersionConflictError } from '../../storage/ports/document-store.ts';
import { createDataItems, dataItemsCollection } from './data-items.ts';

const SCOPE = datasetScope(asId<TenantId>('acme'), asId<DatasetId>('notes'));
const ITEM: DataItem = {
  id: asId<DataItemId>('i1'),
  name: 'a',
  fileName: 'a.txt',
  label: null,
  ownerId: asId<UserId>('ada'),
  extension: 'txt',
  mimeType: 'text/plain',
  format: 'text',
  sizeBytes: 5,
  contentHash: 'a',
  nodeSets: [],
  externalMetadata: {},
  importanceWeight: 0.5,
  keyId: 'key 1',
  createdAt: 'x',
  updatedAt: null,
};

describe('records of items', () => {
  it('are removed as they were read: one that was replaced since may count for another key', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([dataItemsCollection]);
    const items = createDataItems(store);
    await store.commit(SCOPE, items.insertWrites([ITEM]));
    const next = { ...ITEM, contentHash: 'b', revision: 'r1', keyId: 'key 2' };
    await store.commit(SCOPE, items.replaceWrites(ITEM, next));
    for (const writes of [items.removeWrites([ITEM]), items.replaceWrites(ITEM, next)]) {
      const failure = await store.commit(SCOPE, writes).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(VersionConflictError);
    }
    await store.commit(SCOPE, items.removeWrites([next]));
    expect(await items.count(SCOPE)).to.equal(0);
  });
});

import { expect } from 'chai';
import { textItem } from '../../../../test/support/data-item.ts';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { datasetScope } from '../../kernel/scope.ts';
import { VersionConflictError } from '../../storage/ports/document-store.ts';
import { createDataItems, dataItemsCollection } from './data-items.ts';

const SCOPE = datasetScope(asId<TenantId>('acme'), asId<DatasetId>('notes'));
const ITEM = textItem({ keyId: 'key 1' });

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

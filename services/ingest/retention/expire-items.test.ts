import { expect } from 'chai';
import { textItem } from '../../../test/support/data-item.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { createDatasets, datasetsCollection } from '../../common/records/auth/datasets.ts';
import { createDataItems, dataItemsCollection } from '../../common/records/ingest/data-items.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { createRetentions, datasetRetentionCollection } from '../repositories/retention.ts';
import { expireItems } from './expire-items.ts';

const SCOPE = datasetScope(asId<TenantId>('t1'), asId<DatasetId>('notes'));
const OWNER = asId<UserId>('ada');
const DAY = 86_400_000;
const NOW = Date.parse('2026-01-10T00:00:00Z');

const OLD = textItem({ ownerId: OWNER, sizeBytes: 3 });

async function world() {
  const store = createMemoryDocumentStore();
  await store.prepare([dataItemsCollection, datasetsCollection, datasetRetentionCollection]);
  const [items, datasets, retentions] = [createDataItems(store), createDatasets(store), createRetentions(store)];
  const dataset = { id: SCOPE.dataset, name: 'notes', ownerId: OWNER, tenant: SCOPE.tenant };
  await store.commit(SCOPE, [
    datasets.insertWrite({ ...dataset, createdAt: 'x', updatedAt: null }),
    retentions.ofDatasets.putWrite({ itemsMs: DAY }, null),
    ...items.insertWrites([OLD]),
  ]);
  return { store, items, datasets, retentions };
}

describe('items that expire', () => {
  it('stay when somebody replaces them at that moment', async () => {
    const { store, items, datasets, retentions } = await world();
    const replaced = { ...OLD, contentHash: 'b', revision: 'r2', updatedAt: new Date(NOW).toISOString() };
    const failures: unknown[] = [];
    const deps = {
      store,
      items,
      datasets,
      retentions,
      clock: { now: () => new Date(NOW) },
      ids: { uuid: () => 'request' },
      logger: { warn: (...said: unknown[]) => void failures.push(said) },
      messenger: {
        // Auth is asked who the owner is, once it is known which items are old.
        async call() {
          await store.commit(SCOPE, items.replaceWrites(OLD, replaced));
          return { principal: { id: OWNER, tenant: SCOPE.tenant }, token: null };
        },
      },
    } as unknown as IngestDependencies;
    expect(await expireItems(deps, new AbortController().signal)).to.equal(0);
    expect(failures).to.deep.equal([]);
    expect(await items.get(SCOPE, OLD.id)).to.include({ contentHash: 'b' });
  });

  it('stay when their bytes were added again lately, also at that moment', async () => {
    const { store, items, datasets, retentions } = await world();
    const addedAgain = () => store.commit(SCOPE, [items.addedAgainWrite(OLD.id, new Date(NOW).toISOString())]);
    const deps = {
      store,
      items,
      datasets,
      retentions,
      clock: { now: () => new Date(NOW) },
      ids: { uuid: () => 'request' },
      logger: { warn: (...said: unknown[]) => expect.fail(String(said)) },
      messenger: {
        async call() {
          await addedAgain();
          return { principal: { id: OWNER, tenant: SCOPE.tenant }, token: null };
        },
      },
    } as unknown as IngestDependencies;
    expect(await expireItems(deps, new AbortController().signal), 'at that moment').to.equal(0);
    expect(await expireItems(deps, new AbortController().signal), 'before').to.equal(0);
    expect(await items.get(SCOPE, OLD.id)).not.to.have.property('isExpiring');
  });

  it('are replaced by nobody once they are being forgotten', async () => {
    const { store, items } = await world();
    await store.commit(SCOPE, [items.expireWrite(OLD)]);
    const replaced = { ...OLD, contentHash: 'b', revision: 'r2' };
    const outcome = await store.commit(SCOPE, items.replaceWrites(OLD, replaced)).catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(VersionConflictError);
    const expiring = await items.get(SCOPE, OLD.id);
    expect(expiring).to.include({ isExpiring: true });
    await store.commit(SCOPE, items.removeWrites(expiring === null ? [] : [expiring]));
    expect(await items.get(SCOPE, OLD.id)).to.equal(null);
  });
});

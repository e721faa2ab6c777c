import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../test/support/memory/document-store.ts';
import type { TenantId } from '../common/kernel/brand.ts';
import { asId } from '../common/kernel/ids.ts';
import { createModelUsage, modelUsageCollection } from './model-usage.ts';

describe('model usage', () => {
  it('adds up the calls of a tenant per day and model, also when they come at once', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([modelUsageCollection]);
    const usage = createModelUsage(store);
    const tenant = { tenant: asId<TenantId>('t1') };
    const at = new Date('2026-11-21T10:00:00Z');
    await Promise.all(
      Array.from({ length: 20 }, () => usage.add(tenant, 'm', { inputTokens: 10, outputTokens: 1 }, at)),
    );
    await usage.add({ tenant: asId<TenantId>('t2') }, 'm', { inputTokens: 5, outputTokens: 5 }, at);
    expect(await usage.since(tenant, '2026-11-21')).to.deep.equal([
      { day: '2026-11-21', model: 'm', calls: 20, inputTokens: 200, outputTokens: 20 },
    ]);
    expect(await usage.since(tenant, '2026-11-22')).to.deep.equal([]);
  });
});

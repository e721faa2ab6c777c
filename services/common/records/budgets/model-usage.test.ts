import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { createModelUsage, modelUsageCollection } from './model-usage.ts';

describe('model usage', () => {
  it('adds up the calls of an account by model, also when they come at once', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([modelUsageCollection]);
    const usage = createModelUsage(store);
    const scope = { tenant: asId<TenantId>('t1') };
    const [first, second] = [new Date('2026-11-20T10:00:00Z'), new Date('2026-11-21T10:00:00Z')];
    await Promise.all(
      Array.from({ length: 20 }, () =>
        usage.add(scope, 'tenant/t1', 'm', { inputTokens: 10, outputTokens: 1 }, second),
      ),
    );
    await usage.add(scope, 'tenant/t1', 'm', { inputTokens: 1, outputTokens: 0 }, first);
    await usage.add(scope, 'tenant/t1', 'large', { inputTokens: 900, outputTokens: 9 }, first);
    await usage.add(scope, 'user/u1', 'm', { inputTokens: 5, outputTokens: 5 }, second);
    expect(await usage.since(scope, 'tenant/t1', '2026-11-20')).to.deep.equal([
      { model: 'large', calls: 1, inputTokens: 900, outputTokens: 9 },
      { model: 'm', calls: 21, inputTokens: 201, outputTokens: 20 },
    ]);
    expect(await usage.since(scope, 'tenant/t1', '2026-11-21')).to.deep.equal([
      { model: 'm', calls: 20, inputTokens: 200, outputTokens: 20 },
    ]);
    expect(await usage.since(scope, 'tenant/t1', '2026-11-22')).to.deep.equal([]);
  });
});

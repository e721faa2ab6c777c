import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { asId, dataItemId } from '../../kernel/ids.ts';
import { datasetScope } from '../../kernel/scope.ts';
import { createEchoMarks, echoMarksCollection } from './echo-marks.ts';

const SCOPE = datasetScope(asId<TenantId>('t'), asId<DatasetId>('d'));
const USER = asId<UserId>('u');

describe('marks of sentences that were shown', () => {
  it('are removed when they have expired, by a write that comes a minute after the last removal', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([echoMarksCollection]);
    const marks = createEchoMarks(store);
    const item = dataItemId('00000000-0000-4000-8000-000000000000');
    const begun = Date.parse('2031-01-01T00:00:00Z');
    const mark = (fingerprint: string, afterMs: number) =>
      marks.put(SCOPE, USER, [{ fingerprint, item }], { now: new Date(begun + afterMs), ttlMs: 10_000 });
    const kept = () => store.count(SCOPE, echoMarksCollection, {});
    await mark('first', 0);
    await mark('second', 20_000);
    expect(await kept()).to.equal(2);
    const found = await marks.find(SCOPE, USER, ['first', 'second'], new Date(begun + 20_000));
    expect([...found.keys()]).to.deep.equal(['second']);
    await mark('third', 61_000);
    expect(await kept()).to.equal(1);
  });
});

import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { rejection } from '../../../../test/support/refusal-of.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { type Collection, insert, replace } from '../../storage/ports/document-store.ts';
import { isWriteConflict, retryOnConflict } from './retry-on-conflict.ts';

const counters: Collection<{ readonly count: number }> = { name: 'counters', level: 'system', indexes: [] };

describe('retrying on conflict', () => {
  it('lets commits that race go through one after the other, each on the state that the one before left', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([counters]);
    const add = () =>
      retryOnConflict(async () => {
        const before = await store.get(SYSTEM_SCOPE, counters, 'c');
        const document = { count: (before?.value.count ?? 0) + 1 };
        const write =
          before === null ? insert(counters, 'c', document) : replace(counters, 'c', document, before.version);
        await store.commit(SYSTEM_SCOPE, [write]);
      });
    await Promise.all(Array.from({ length: 10 }, add));
    expect((await store.get(SYSTEM_SCOPE, counters, 'c'))?.value.count).to.equal(10);
  });

  it('gives up after the allowed attempts, and at once on any other error', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([counters]);
    const late = replace(counters, 'absent', { count: 1 }, 7);
    let attempts = 0;
    const overtaken = () => {
      attempts += 1;
      return store.commit(SYSTEM_SCOPE, [late]);
    };
    expect(isWriteConflict(await rejection(retryOnConflict(overtaken, { attempts: 3 })))).to.equal(true);
    expect(attempts).to.equal(3);
    const failing = async () => {
      attempts += 1;
      throw new Error('the store is away');
    };
    expect((await rejection(retryOnConflict(failing))).message).to.equal('the store is away');
    expect(attempts).to.equal(4);
  });
});

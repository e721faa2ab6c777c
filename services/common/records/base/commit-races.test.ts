import { expect } from 'chai';
import { rejection } from '../../../../test/conformance/document-store-subject.ts';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { type Collection, insert, replace } from '../../storage/ports/document-store.ts';
import { isOvertaken, untilUndisturbed } from './commit-races.ts';

const counters: Collection<{ readonly count: number }> = { name: 'counters', level: 'system', indexes: [] };

describe('commits that race', () => {
  it('go through one after the other, each on what the one before left', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([counters]);
    const add = () =>
      untilUndisturbed(async () => {
        const before = await store.get(SYSTEM_SCOPE, counters, 'c');
        const document = { count: (before?.value.count ?? 0) + 1 };
        const write =
          before === null ? insert(counters, 'c', document) : replace(counters, 'c', document, before.version);
        await store.commit(SYSTEM_SCOPE, [write]);
      });
    await Promise.all(Array.from({ length: 10 }, add));
    expect((await store.get(SYSTEM_SCOPE, counters, 'c'))?.value.count).to.equal(10);
  });

  it('are given up after as many attempts as are allowed, and at once when another thing is wrong', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([counters]);
    const late = replace(counters, 'absent', { count: 1 }, 7);
    let attempts = 0;
    const overtaken = () => {
      attempts += 1;
      return store.commit(SYSTEM_SCOPE, [late]);
    };
    expect(isOvertaken(await rejection(untilUndisturbed(overtaken, 3)))).to.equal(true);
    expect(attempts).to.equal(3);
    const failing = async () => {
      attempts += 1;
      throw new Error('the store is away');
    };
    expect((await rejection(untilUndisturbed(failing))).message).to.equal('the store is away');
    expect(attempts).to.equal(4);
  });
});

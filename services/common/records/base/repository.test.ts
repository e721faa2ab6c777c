import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { asId } from '../../kernel/ids.ts';
import type { Scope } from '../../kernel/scope.ts';
import type { Collection } from '../../storage/ports/document-store.ts';
import { repository, withVersion } from './repository.ts';

type Note = { readonly text: string; readonly rank: number };

const notes: Collection<Note> = { name: 'notes', level: 'tenant', indexes: [{ fields: ['rank'] }] };
const scope: Scope = { tenant: asId('00000000-0000-4000-8000-000000000001') };

describe('a repository of one collection', () => {
  const open = async (count: number) => {
    const store = createMemoryDocumentStore();
    await store.prepare([notes]);
    const records = repository(store, notes, withVersion);
    const ids = Array.from({ length: count }, (_, rank) => `note-${rank}`);
    await store.commit(
      scope,
      ids.map((id, rank) => records.insertWrite(id, { text: id, rank })),
    );
    return { store, records, ids };
  };

  it('maps a document, and answers null for an unknown id', async () => {
    const { records } = await open(1);
    expect(await records.get(scope, 'note-0')).to.deep.equal({ text: 'note-0', rank: 0, version: 1 });
    expect(await records.get(scope, 'unknown')).to.equal(null);
  });

  it('reads more ids than one read takes, in their order and without the unknown ones', async () => {
    const { records, ids } = await open(2_500);
    const wanted = [...ids.toReversed(), 'unknown'];
    const found = await records.getMany(scope, wanted);
    expect(found.map(({ text }) => text)).to.deep.equal(ids.toReversed());
  });

  it('answers the first of a selection, null when it is empty', async () => {
    const { records } = await open(3);
    const sort = [{ field: 'rank', descending: true }] as const;
    expect((await records.first(scope, { sort }))?.rank).to.equal(2);
    expect(await records.first(scope, { where: { rank: 7 } })).to.equal(null);
  });

  it('puts in place of the version that was read, and inserts when there was none', async () => {
    const { store, records } = await open(1);
    const before = await records.get(scope, 'note-0');
    await store.commit(scope, [records.putWrite('note-0', { text: 'new', rank: 0 }, before)]);
    await store.commit(scope, [records.putWrite('note-1', { text: 'one', rank: 1 }, null)]);
    expect((await records.all(scope)).map(({ text }) => text).sort()).to.deep.equal(['new', 'one']);
    const outdated = store.commit(scope, [records.putWrite('note-0', { text: 'late', rank: 0 }, before)]);
    expect(await outdated.catch((error: Error) => error.name)).to.equal('VersionConflictError');
  });
});

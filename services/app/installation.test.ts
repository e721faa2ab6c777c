import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../test/support/memory/document-store.ts';
import { installationCollection, installationId } from './installation.ts';

describe('id of the installation', () => {
  it('is made once, by whoever asks first, and kept with the records', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([installationCollection]);
    const ids = await Promise.all([1, 2, 3].map(() => installationId(store)));
    expect(new Set(ids).size).to.equal(1);
    expect(await installationId(store)).to.equal(ids[0]);
    const other = createMemoryDocumentStore();
    await other.prepare([installationCollection]);
    expect(await installationId(other)).to.not.equal(ids[0]);
  });
});

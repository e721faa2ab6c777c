import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetRef, SourceReader } from '../../kernel/dataset.ts';
import { asId, dataItemId } from '../../kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../kernel/scope.ts';
import { recordCollections } from '../collections.ts';
import { audienceId, createSourceAccess, sourceGroupId } from './source-access.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const SCOPE = datasetScope(PERSONAL_TENANT, asId(ID));
const item = (number: number) => dataItemId(`00000000-0000-4000-8000-00000000000${number}`);

describe('items that a source withholds', () => {
  const store = createMemoryDocumentStore();
  const access = createSourceAccess(store);
  const nobody = { connectionId: 'drive', account: 'ada', addresses: [], groups: [], domains: [] };
  const staff = sourceGroupId('drive', 'staff');
  const audiences = {
    byAddress: { ...nobody, addresses: ['bob@example.com'] },
    byGroup: { ...nobody, groups: [staff] },
    byDomain: { ...nobody, domains: ['example.org'] },
  };
  before(async () => {
    await store.prepare(recordCollections);
    const { byAddress, byGroup, byDomain } = audiences;
    await store.commit(SCOPE, [
      ...[byAddress, byGroup, byDomain].map((one) => access.insertAudienceWrite(audienceId(one), one)),
      ...access.putGroupWrites(staff, { connectionId: 'drive', members: ['carol@example.com'] }),
      ...[byAddress, byGroup, byDomain].flatMap((one, at) => put(`d${at}`, at, audienceId(one))),
      ...put('public', 3, null),
      ...put('unknown', 4, 'an audience that is not stored'),
      // Two documents with the same bytes.
      ...put('twin', 5, audienceId(byAddress)),
      ...put('other twin', 5, audienceId(byDomain)),
    ]);
  });
  const put = (id: string, at: number, audience: string | null) =>
    access.putWrites(id, { connectionId: 'drive', itemId: item(at), audience });
  const withheldFrom = async (account: string | null, address: string | null, version = '1') => {
    const reader = { version, account, address } as SourceReader;
    const dataset = {
      id: asId(ID),
      name: 'd',
      ownerId: asId(ID),
      tenant: PERSONAL_TENANT,
      createdAt: '',
      updatedAt: null,
    };
    const { withheld } = await access.asSeen({ ...dataset, reader } as DatasetRef);
    return [...(withheld ?? [])].map((id) => Number(id.at(-1))).toSorted();
  };

  it('are those whose audience has neither the address, nor a group, nor the domain of the reader', async () => {
    expect(await withheldFrom('x', 'bob@example.com')).to.deep.equal([1, 2, 4]);
    expect(await withheldFrom('x', 'carol@example.com')).to.deep.equal([0, 2, 4, 5]);
    expect(await withheldFrom('x', 'dan@example.org')).to.deep.equal([0, 1, 4]);
    expect(await withheldFrom('x', 'eve@sub.example.org')).to.deep.equal([0, 1, 2, 4, 5]);
  });

  it('are all but the public ones for who has no verified address, and none of known ones for who connected the source', async () => {
    expect(await withheldFrom('x', null)).to.deep.equal([0, 1, 2, 4, 5]);
    expect(await withheldFrom(null, null)).to.deep.equal([0, 1, 2, 4, 5]);
    expect(await withheldFrom('ada', null)).to.deep.equal([4]);
  });

  it('are read again with each version, so that a removed member of a group loses sight', async () => {
    await store.commit(SCOPE, access.putGroupWrites(staff, { connectionId: 'drive', members: ['bob@example.com'] }));
    expect(await withheldFrom('x', 'carol@example.com', '2')).to.deep.equal([0, 1, 2, 4, 5]);
    expect(await withheldFrom('x', 'bob@example.com', '2')).to.deep.equal([2, 4]);
  });

  it('are none of a dataset that no source restricts, which is not looked up', async () => {
    const dataset = { id: asId(ID), tenant: PERSONAL_TENANT } as DatasetRef;
    expect(await access.asSeen(dataset)).to.equal(dataset);
  });

  it('go with their connection', async () => {
    await store.commit(SCOPE, access.removeOfConnectionWrites('drive'));
    expect(await withheldFrom('x', null, '3')).to.deep.equal([]);
    expect(await access.isRestricted(SCOPE)).to.equal(false);
  });
});

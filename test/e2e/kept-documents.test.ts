import { expect } from 'chai';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import type { KeptDocument } from '../../services/common/platform/messaging/messages.ts';
import type { CallContext } from '../../services/common/platform/messaging/messenger.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';

const NOTE: KeptDocument = {
  key: 'note/1',
  name: 'a note.txt',
  text: 'Ada Lovelace met Charles Babbage.',
  nodeSets: ['lessons'],
  externalMetadata: { effective_date: '2026-01-02T03:04:05Z' },
};

describe('documents that improve keeps', () => {
  let world: TwoReplicas;
  let dataset: DatasetRef;
  let context: CallContext;
  before(async () => {
    world = await startTwoReplicas();
    const asking = { requestId: 'test' };
    const { principal } = await world.one.messenger.call('auth.Authenticate', { credentials: [] }, asking);
    if (principal === null) throw new Error('nobody is asking');
    context = { ...asking, principal };
    const request = { permission: 'write', names: ['notes'], createMissing: true } as const;
    const { datasets } = await world.one.messenger.call('auth.ResolveDatasets', request, context);
    dataset = datasets[0] as DatasetRef;
  });
  after(() => world[Symbol.asyncDispose]());

  const keep = (...documents: readonly KeptDocument[]) =>
    world.one.messenger.call('ingest.KeepDocuments', { dataset, documents }, context);
  const rawOf = async (id: string) => (await world.one.wire.get(`/datasets/${dataset.id}/data/${id}/raw`)).text;
  const items = async () => (await world.one.wire.get(`/datasets/${dataset.id}/data`)).json;

  it('are one item for a key, whatever text it comes with, and say who made them', async () => {
    const first = await keep(NOTE);
    expect(first.added).to.equal(1);
    expect(await keep(NOTE)).to.deep.equal({ itemIds: first.itemIds, added: 0 });
    expect(await keep({ ...NOTE, text: 'Something else.' })).to.deep.equal({ itemIds: first.itemIds, added: 0 });
    const [item, ...others] = await items();
    expect(others).to.deep.equal([]);
    expect(item).to.include({ id: first.itemIds[0], name: 'a note' });
    expect(item.externalMetadata).to.deep.include({
      _cognee: { made_by: 'improve' },
      effective_date: '2026-01-02T03:04:05Z',
      node_set: ['lessons'],
    });
  });

  it('are one item when they come at the same time', async () => {
    const note = { ...NOTE, key: 'note/2', text: 'Mary Somerville wrote to Ada.' };
    const answers = await Promise.all([keep(note), keep(note), keep(note)]);
    expect(new Set(answers.map(({ itemIds }) => itemIds[0])).size).to.equal(1);
    expect((await items()).length).to.equal(2);
    expect(await rawOf(answers[0]?.itemIds[0] ?? '')).to.equal(note.text);
  });

  it('are whole when they come at the same time and are worded differently', async () => {
    const texts = ['Grace wrote a compiler.', 'A compiler was written by Grace.', 'Grace made the first compiler.'];
    const outcomes = await Promise.allSettled(texts.map((text) => keep({ ...NOTE, key: 'note/5', text })));
    const [id = ''] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value.itemIds : []));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(texts.map(() => 'fulfilled'));
    const item = (await items()).find((one: { readonly id: string }) => one.id === id);
    const text = await rawOf(id);
    expect(texts).to.include(text);
    expect(item.dataSize).to.equal(text.length);
  });

  it('are text, also when they look like an address or a path', async () => {
    const { itemIds } = await keep({ ...NOTE, key: 'note/3', text: 'http://127.0.0.1:1/secret' });
    const raw = await world.one.wire.get(`/datasets/${dataset.id}/data/${itemIds[0]}/raw`);
    expect(raw.text).to.equal('http://127.0.0.1:1/secret');
  });

  it('do not come back after they were forgotten', async () => {
    const before = (await items()).length;
    const note = { ...NOTE, key: 'note/4', text: 'Nobody may know this.' };
    const { itemIds } = await keep(note);
    await world.one.wire.remove(`/datasets/${dataset.id}/data/${itemIds[0]}`);
    expect((await keep(note)).added).to.equal(0);
    expect((await items()).length).to.equal(before);
  });

  it('are kept for nobody who may not write', async () => {
    const principal = { ...context.principal, id: '00000000-0000-4000-8000-00000000000f' };
    let refused: unknown;
    await world.one.messenger
      .call('ingest.KeepDocuments', { dataset, documents: [NOTE] }, { ...context, principal: principal as never })
      .catch((error: unknown) => {
        refused = error;
      });
    expect(String(refused)).to.include('PermissionDeniedError');
  });
});

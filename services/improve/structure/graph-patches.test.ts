import { expect } from 'chai';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { codecsOf } from '../../common/platform/messaging/codec.ts';
import { MAX_PATCH_ROWS, type PatchedTriplet, type RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import { createGraphPatches, type PatchingPass } from './write-triplets.ts';

const [ONE, TWO] = ['one', 'two'].map((id) => ({ item: asId<DataItemId>(id), generation: 1 })) as [Origin, Origin];
type Origin = { readonly item: DataItemId; readonly generation: number };

function triplets(count: number, text = 'a-›knows-›b'): readonly PatchedTriplet[] {
  return Array.from({ length: count }, (_, at) => ({
    ordinal: at,
    payload: { source: `s${at}`, target: 't', relation: 'knows', text, chunkId: '', statement: '' },
    nodeSets: [],
  }));
}

/** The messages sent, in their order. */
function world(answer: (request: RequestOf<'cognify.ApplyGraphPatch'>) => readonly DataItemId[] = () => []) {
  const sent: RequestOf<'cognify.ApplyGraphPatch'>[] = [];
  const contexts: CallContext[] = [];
  const stopping = new AbortController();
  const messenger = {
    async call(_: unknown, request: RequestOf<'cognify.ApplyGraphPatch'>, context: CallContext) {
      sent.push(request);
      contexts.push(context);
      return { lostItems: answer(request) };
    },
  } as unknown as Messenger;
  const pass = {
    dataset: { id: 'notes' },
    context: { requestId: 'r', signal: stopping.signal },
    leaseToken: 'improve/0',
    signal: stopping.signal,
  } as unknown as PatchingPass;
  const rows = () => sent.map(({ items }) => items.map(({ item, triplets }) => `${item} ${triplets.length}`).join());
  return { sent, contexts, stopping, rows, patches: createGraphPatches({ messenger }, pass) };
}

describe('graph patches', () => {
  it('combine many small items, and carry the lease token', async () => {
    const { sent, rows, patches } = world();
    await patches.add(ONE, triplets(3));
    await patches.add(TWO, triplets(2));
    expect(rows()).to.deep.equal([]);
    expect([...(await patches.finish())]).to.deep.equal([]);
    expect(rows()).to.deep.equal(['one 3,two 2']);
    expect(sent[0]).to.include({ leaseToken: 'improve/0' });
    await patches.finish();
    expect(rows()).to.have.length(1);
  });

  it('respect the limit of rows, and lose none', async () => {
    const { sent, rows, patches } = world();
    await patches.add(ONE, triplets(MAX_PATCH_ROWS - 1));
    await patches.add(TWO, triplets(MAX_PATCH_ROWS + 2));
    await patches.finish();
    expect(rows()).to.deep.equal([`one ${MAX_PATCH_ROWS - 1},two 1`, `two ${MAX_PATCH_ROWS}`, 'two 1']);
    const ordinals = sent
      .flatMap(({ items }) => items.filter(({ item }) => item === TWO.item))
      .flatMap((one) => one.triplets);
    expect(ordinals.map(({ ordinal }) => ordinal)).to.deep.equal(ordinals.map((_, at) => at));
  });

  it('fit into a message in every script', async () => {
    const { sent, patches } = world();
    await patches.add(ONE, triplets(200, '知'.repeat(12_000)));
    await patches.finish();
    const codecs = codecsOf('cognify.ApplyGraphPatch');
    const dataset = { id: 'd', name: 'notes', ownerId: 'o', tenant: 't', createdAt: '', updatedAt: null } as never;
    const sizes = sent.map((request) => codecs.request.encode({ ...request, dataset }).byteLength);
    expect(Math.max(...sizes)).to.be.below(1024 * 1024);
    expect(Math.min(...sizes.slice(0, -1))).to.be.above(512 * 1024);
  });

  it('are not aborted once sent, and not sent after an abort', async () => {
    const { contexts, stopping, patches } = world();
    await patches.remove([ONE]);
    expect(contexts[0]).to.not.have.property('signal');
    await patches.add(ONE, triplets(1));
    stopping.abort(new Error('stop'));
    const stopped = await patches.finish().catch((error: Error) => error.message);
    expect(stopped).to.equal('stop');
    expect(contexts).to.have.length(1);
  });

  it('return all items whose generation was gone', async () => {
    const { patches } = world(({ items }) => items.map(({ item }) => item).filter((item) => item === ONE.item));
    await patches.add(ONE, triplets(MAX_PATCH_ROWS));
    await patches.add(TWO, triplets(1));
    expect([...(await patches.finish())]).to.deep.equal([ONE.item]);
  });
});

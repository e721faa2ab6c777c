import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { engramError } from '../../services/common/kernel/errors.ts';
import { asId, datasetId } from '../../services/common/kernel/ids.ts';
import { type DatasetScope, datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { DocumentLoader } from '../../services/common/ports/documents.ts';
import { createUsers, usersCollection } from '../../services/common/records/auth/users.ts';
import { createDocumentLoader } from '../../services/common/text/documents/document-loader.ts';
import { required } from '../support/auth-service.ts';
import { type Replica, startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';

async function scopeOf({ store }: TwoReplicas, name: string): Promise<DatasetScope> {
  const user = await createUsers(store).findByEmail('default_user@example.com');
  const id: DatasetId = datasetId(name, user?.id ?? asId(''), null);
  return datasetScope(PERSONAL_TENANT, id);
}

async function blobsOf(world: TwoReplicas, scope: DatasetScope): Promise<number> {
  return (await world.blobs.list(scope, { limit: 100 })).length;
}

/** Parsing waits until it is let go on. */
function slowLoader() {
  const entered = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const own = createDocumentLoader({ workers: 1 });
  const documents: DocumentLoader = {
    ...own,
    async loadEncoded(...input) {
      entered.resolve();
      await opened.promise;
      return own.loadEncoded(...input);
    },
  };
  return { documents, entered: entered.promise, open: opened.resolve };
}

const add = ({ wire }: Replica, text: string) => wire.post('/add', { data: text, datasetName: 'shared' });

describe('data of two replicas', () => {
  it('is one item when both take in the same bytes at the same time', async () => {
    await using world = await startTwoReplicas();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => add(index % 2 === 0 ? world.one : world.two, 'The same words.')),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    expect(new Set(answers.map(({ json }) => json.data_ingestion_info[0].data_id)).size).to.equal(1);
    // The original and its parsed form; those of the others are gone.
    expect(await blobsOf(world, await scopeOf(world, 'shared'))).to.equal(2);
    expect((await world.two.wire.get('/datasets')).json).to.have.length(1);
  });

  it('keeps its content when the commit went through and only its answer was lost', async () => {
    await using world = await startTwoReplicas();
    expect((await add(world.one, 'first')).status).to.equal(200);
    const scope = await scopeOf(world, 'shared');
    const { commit } = world.one.store;
    let isLost = false;
    Object.assign(world.one.store, {
      async commit(...call: Parameters<typeof commit>) {
        const results = await commit(...call);
        if (call[1].some((write) => write.kind === 'insert' && write.collection.name === 'data_items')) {
          isLost = true;
          throw engramError('ServiceUnavailableError', 'The connection was lost.', { retryable: true });
        }
        return results;
      },
    });
    world.messages.letAnswer(0);
    expect((await add(world.one, 'Words that stay.')).status).to.equal(503);
    expect(isLost).to.equal(true);
    const again = await add(world.two, 'Words that stay.');
    const { data_id: item } = again.json.data_ingestion_info[0];
    const raw = await world.two.wire.get(`/datasets/${scope.dataset}/data/${item}/raw`);
    expect(raw.text).to.equal('Words that stay.');
  });

  it('is not added to a dataset that is deleted meanwhile', async () => {
    const slow = slowLoader();
    await using world = await startTwoReplicas({ documents: slow.documents });
    await world.two.wire.post('/datasets', { name: 'shared' });
    const adding = add(world.one, 'Too late.');
    await slow.entered;
    const scope = await scopeOf(world, 'shared');
    expect((await world.two.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    slow.open();
    expect((await adding).status).to.equal(409);
    expect(await blobsOf(world, scope)).to.equal(0);
    expect((await world.two.wire.get('/datasets')).json).to.deep.equal([]);
    await world.two.wire.post('/datasets', { name: 'shared' });
    expect((await world.two.wire.get(`/datasets/${scope.dataset}/data`)).json).to.deep.equal([]);
  });

  it('has one default account, made by whichever replica starts first', async () => {
    const password = 'the-password-of-everybody';
    await using world = await startTwoReplicas({ password, auth: { posture: required } });
    const { items } = await world.store.find(SYSTEM_SCOPE, usersCollection, { limit: 10 });
    expect(items).to.have.length(1);
    const login = String(new URLSearchParams({ username: 'default_user@example.com', password }));
    for (const [place, { wire }] of [world.one, world.two].entries()) {
      world.messages.letAnswer(place);
      const { json } = await wire.post('/auth/login', login, { 'content-type': 'application/x-www-form-urlencoded' });
      world.messages.letAnswer(1 - place);
      const me = await world.two.wire.get('/users/me', { authorization: `Bearer ${json.access_token}` });
      expect(me.json.email).to.equal('default_user@example.com');
    }
  });
});

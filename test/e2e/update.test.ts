import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { engramError } from '../../services/common/kernel/errors.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { type DatasetScope, datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { DocumentLoader } from '../../services/common/ports/documents.ts';
import { createBlobIntents } from '../../services/common/records/ingest/blob-intents.ts';
import { createDocumentLoader } from '../../services/common/text/documents/document-loader.ts';
import { sweepBlobs } from '../../services/ingest/forgetting/sweep-blobs.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import type { Answer } from '../support/wire.ts';

const OLD = 'Ada Lovelace lives in Paris.';
const NEW = 'Ada Lovelace lives in Oslo.';
/** Longer than any process takes from the declaration of blobs to their commit. */
const LATER = new Date(Date.now() + 86_400_000).toISOString();

interface Place {
  readonly scope: DatasetScope;
  readonly item: string;
}

async function remember({ one }: TwoReplicas): Promise<Place> {
  const added = await one.wire.post('/add', { data: OLD, datasetName: 'people' });
  const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.json.dataset_id));
  expect((await one.wire.post('/cognify', { datasetIds: [scope.dataset] })).status).to.equal(200);
  return { scope, item: added.json.data_ingestion_info[0].data_id };
}

const update = (world: TwoReplicas, { scope, item }: Place, data: string, replica: 'one' | 'two' = 'one') =>
  world[replica].wire.patch(`/update?data_id=${item}&dataset_id=${scope.dataset}`, { data });

async function found({ two }: TwoReplicas, { scope }: Place, query: string): Promise<readonly string[]> {
  const body = { query, search_type: 'CHUNKS', dataset_ids: [scope.dataset] };
  const { json, status } = await two.wire.post('/search', body);
  expect(status).to.equal(200);
  return [...JSON.stringify(json).matchAll(/Ada Lovelace lives in \w+\./g)].map(([text]) => text);
}

const raw = async ({ two }: TwoReplicas, { scope, item }: Place) =>
  (await two.wire.get(`/datasets/${scope.dataset}/data/${item}/raw`)).text;

async function blobs(world: TwoReplicas, { scope }: Place): Promise<number> {
  return (await world.blobs.list(scope, { limit: 100 })).length;
}

/** A loader that ends with `failure` while it is set. */
function failingLoader() {
  const own = createDocumentLoader({ workers: 1 });
  const state: { failure: Error | null } = { failure: null };
  const documents: DocumentLoader = {
    ...own,
    async loadEncoded(...input) {
      if (state.failure !== null) throw state.failure;
      return own.loadEncoded(...input);
    },
  };
  return { documents, state };
}

describe('an update of an item', () => {
  it('replaces what readers find, the file and its graph, under the same id', async () => {
    await using world = await startTwoReplicas();
    const place = await remember(world);
    const answer = await update(world, place, NEW);
    expect(answer.json).to.include({ status: 'incremental', data_id: place.item, added_chunks: 1, deleted_chunks: 1 });
    expect(await raw(world, place)).to.equal(NEW);
    expect(new Set(await found(world, place, 'Where does Ada Lovelace live?'))).to.deep.equal(new Set([NEW]));
    const graph = await world.two.wire.get(`/datasets/${place.scope.dataset}/graph`);
    expect(JSON.stringify(graph.json)).to.include('Oslo').and.not.include('Paris');
    const items = await world.two.wire.get(`/datasets/${place.scope.dataset}/data`);
    expect(items.json.map(({ id }: { id: string }) => id)).to.deep.equal([place.item]);
    // The original and its parsed form of the new content alone.
    expect(await blobs(world, place)).to.equal(2);
    expect(await createBlobIntents(world.store).stale(SYSTEM_SCOPE, LATER)).to.deep.equal([]);
  });

  it('changes nothing when the new document cannot be read', async () => {
    const { documents, state } = failingLoader();
    await using world = await startTwoReplicas({ documents });
    const place = await remember(world);
    state.failure = engramError('DocumentParsingError', 'not a document');
    expect((await update(world, place, NEW)).status).to.equal(422);
    expect(await raw(world, place)).to.equal(OLD);
    expect(await found(world, place, 'Where does Ada Lovelace live?')).to.include(OLD);
    expect(await blobs(world, place)).to.equal(2);
  });

  it('loses neither content when its commit went through and only the answer was lost', async () => {
    await using world = await startTwoReplicas();
    const place = await remember(world);
    const { commit } = world.one.store;
    let lost = 0;
    Object.assign(world.one.store, {
      async commit(...call: Parameters<typeof commit>) {
        const results = await commit(...call);
        if (call[1].some((write) => write.kind === 'update' && write.collection.name === 'data_items')) {
          lost += 1;
          throw engramError('ServiceUnavailableError', 'The connection was lost.', { retryable: true });
        }
        return results;
      },
    });
    world.messages.letAnswer(0);
    expect((await update(world, place, NEW)).status).to.equal(503);
    expect(lost).to.equal(1);
    expect(await raw(world, place)).to.equal(NEW);
    // Built from the old content until the next run, which finds the new one.
    expect(await found(world, place, 'Where does Ada Lovelace live?')).to.include(OLD);
    const left = await createBlobIntents(world.store).stale(SYSTEM_SCOPE, LATER);
    expect(left.flatMap(({ prefixes }) => prefixes)).to.deep.equal([
      `items/${place.item}/original`,
      `items/${place.item}/parsed`,
    ]);
    world.messages.letAnswer(1);
    expect((await world.two.wire.post('/cognify', { datasetIds: [place.scope.dataset] })).status).to.equal(200);
    expect(new Set(await found(world, place, 'Where does Ada Lovelace live?'))).to.deep.equal(new Set([NEW]));
    // What nobody owns any more goes with the next sweep, and nothing else.
    expect(await blobs(world, place)).to.equal(4);
    const clock = { now: () => new Date(LATER), monotonicMs: () => 0 };
    const swept = { intents: createBlobIntents(world.store), blobs: world.blobs, clock, workQueue: world.workQueue };
    expect(await sweepBlobs(swept, SYSTEM_SCOPE)).to.equal(1);
    expect(await blobs(world, place)).to.equal(2);
    expect(await raw(world, place)).to.equal(NEW);
  });

  it('leaves one whole content when many come at the same time to both replicas', async () => {
    await using world = await startTwoReplicas();
    const place = await remember(world);
    const towns = ['Oslo', 'Bonn', 'Bern', 'Rome', 'Kyiv', 'Riga'];
    const answers: readonly Answer[] = await Promise.all(
      towns.map((town, index) =>
        update(world, place, `Ada Lovelace lives in ${town}.`, index % 2 === 0 ? 'one' : 'two'),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(towns.map(() => 200));
    const text = await raw(world, place);
    expect(towns.map((town) => `Ada Lovelace lives in ${town}.`)).to.include(text);
    expect(new Set(await found(world, place, 'Where does Ada Lovelace live?'))).to.deep.equal(new Set([text]));
    expect(await blobs(world, place)).to.equal(2);
  });

  it('does not come back for an item that is forgotten meanwhile', async () => {
    await using world = await startTwoReplicas();
    const place = await remember(world);

    const [updated, forgotten] = await Promise.all([
      update(world, place, NEW),
      world.two.wire.remove(`/datasets/${place.scope.dataset}/data/${place.item}`),
    ]);
    expect(updated.status).to.be.oneOf([200, 404]);
    expect(forgotten.status).to.equal(200);
    expect((await world.two.wire.get(`/datasets/${place.scope.dataset}/data`)).json).to.deep.equal([]);
    const graph = await world.two.wire.get(`/datasets/${place.scope.dataset}/graph`);
    expect(graph.json.nodes).to.deep.equal([]);
  });

  for (const far of ['it begins to be deleted', 'it is deleted']) {
    it(`is refused in good order when ${far.replace('it', 'its dataset')} meanwhile, and leaves nothing`, async () => {
      const own = createDocumentLoader({ workers: 1 });
      const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let isHeld = false;
      const documents: DocumentLoader = {
        ...own,
        async loadEncoded(...input) {
          if (isHeld) {
            reached.resolve();
            await opened.promise;
          }
          return own.loadEncoded(...input);
        },
      };
      await using world = await startTwoReplicas({ documents });
      const place = await remember(world);
      isHeld = true;
      const updating = update(world, place, NEW);
      await reached.promise;
      const isWhole = far === 'it is deleted';
      if (isWhole) expect((await world.two.wire.remove(`/datasets/${place.scope.dataset}`)).status).to.equal(200);
      else await createBlobIntents(world.store).abandonAll(place.scope);
      opened.resolve();
      const { status, text } = await updating;
      expect(status, text).to.equal(isWhole ? 404 : 409);
      expect(await blobs(world, place)).to.equal(isWhole ? 0 : 2);
      expect(await createBlobIntents(world.store).stale(SYSTEM_SCOPE, LATER)).to.deep.equal([]);
    });
  }
});

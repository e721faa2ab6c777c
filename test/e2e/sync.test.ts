import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createEventLog } from '../../services/common/platform/events/event-log.ts';
import { jobsCollection } from '../../services/common/platform/jobs/job-document.ts';
import { blobIntentsCollection } from '../../services/common/records/ingest/blob-intents.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { type SyncRun, syncRunsCollection } from '../../services/common/records/integrations/sync-runs.ts';
import { syncStateCollections } from '../../services/common/records/integrations/sync-state.ts';
import { md5, type RemoteMemoryServer, startRemoteMemory } from '../support/remote-memory-server.ts';
import { startTwoReplicas, type TwoReplicas, type TwoReplicasOptions } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';
import type { Wire } from '../support/wire.ts';

interface World extends TwoReplicas {
  readonly remote: RemoteMemoryServer;
}

async function start(options: TwoReplicasOptions = {}): Promise<World> {
  const remote = await startRemoteMemory();
  const world = await startTwoReplicas({ remoteUrl: remote.baseUrl, ...options });
  return {
    ...world,
    remote,
    async [Symbol.asyncDispose]() {
      // An answer that is held back would hold the worker.
      await Promise.all([world[Symbol.asyncDispose](), remote[Symbol.asyncDispose]()]);
    },
  };
}

async function runOf({ store }: TwoReplicas, id: string): Promise<Partial<SyncRun>> {
  const stored = await store.get(SYSTEM_SCOPE, syncRunsCollection, id);
  return (stored?.value ?? {}) as unknown as Partial<SyncRun>;
}

async function ended(world: TwoReplicas, id: string): Promise<Partial<SyncRun>> {
  await until(`the end of ${id}`, async () => ((await runOf(world, id)).endedAt ?? null) !== null);
  return runOf(world, id);
}

/** Starts one and waits for its end. */
async function sync(world: World, datasetIds: readonly string[] | null = null): Promise<Partial<SyncRun>> {
  const { status, json } = await world.one.wire.post('/sync', { datasetIds });
  expect(status, JSON.stringify(json)).to.equal(200);
  return ended(world, json.run_id);
}

async function datasetOf({ get }: Wire, name: string): Promise<string> {
  const { json } = await get('/datasets');
  return (json as { id: string; name: string }[]).find((one) => one.name === name)?.id ?? '';
}

/** Names of the files of a dataset, by their content. */
async function filesOf({ get }: Wire, dataset: string): Promise<Readonly<Record<string, string>>> {
  const { json } = await get(`/datasets/${dataset}/data`);
  const items = json as readonly { readonly id: string; readonly name: string }[];
  const files: Record<string, string> = {};
  for (const { id, name } of items) files[(await get(`/datasets/${dataset}/data/${id}/raw`)).text] = name;
  return files;
}

async function forget({ remove, get }: Wire, dataset: string, name: string): Promise<void> {
  const items = (await get(`/datasets/${dataset}/data`)).json as readonly { id: string; name: string }[];
  const item = items.find((one) => one.name === name);
  expect((await remove(`/datasets/${dataset}/data/${item?.id}`)).status).to.equal(200);
}

const LINES = (remote: RemoteMemoryServer) => remote.requests.map(({ line }) => line.replace(/[0-9a-f-]{32,36}/g, '*'));

describe('sync with a remote memory', () => {
  it('copies both ways what the other side lacks, and has both build what arrived', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'ada.txt', content: 'Ada met Charles.' }, { name: 'both.txt', content: 'both' });
    const dataset = await datasetOf(wire, 'notes');
    world.remote.put(dataset, 'both.txt', 'both');
    const there = world.remote.put(dataset, 'mary.txt', 'Mary Somerville met Ada.');
    const answer = await wire.post('/sync', { dataset_ids: [dataset] });
    expect(answer.status).to.equal(200);
    const { run_id: id, timestamp, message, user_id: user, ...rest } = answer.json;
    expect(rest).to.deep.equal({ status: 'started', dataset_ids: [dataset], dataset_names: ['notes'] });
    expect(message).to.contain(id);
    expect(Date.parse(timestamp)).to.be.greaterThan(0);
    const run = await ended(world, id);
    expect(run).to.include({
      status: 'completed',
      progress: 100,
      uploaded: 1,
      downloaded: 1,
      passedOver: 0,
      error: null,
    });
    expect(run.userId).to.equal(user);
    expect(await filesOf(wire, dataset)).to.deep.equal({
      'Ada met Charles.': 'ada',
      both: 'both',
      'Mary Somerville met Ada.': 'mary',
    });
    const kept = world.remote.items(dataset);
    expect([...kept.keys()]).to.have.members([md5('Ada met Charles.'), md5('both'), there]);
    expect(kept.get(md5('Ada met Charles.'))).to.deep.include({ name: 'ada.txt' });
    expect(kept.get(md5('Ada met Charles.'))?.fields).to.include({ extension: 'txt', dataset_name: 'notes' });
    expect(LINES(world.remote)).to.deep.equal([
      ...['POST /api/sync/*/diff', 'PUT /api/sync/*/data/*', 'GET /api/sync/*/data/*'],
      ...['PUT /api/sync/*?prune=true', 'POST /api/cognify'],
    ]);
    const scope = { tenant: PERSONAL_TENANT, dataset: asId<DatasetId>(dataset) };
    expect(await world.blobs.list(scope, { prefix: 'items/', limit: 9 })).to.not.be.empty;
    expect(await world.blobs.list(scope, { prefix: 'downloads/', limit: 9 })).to.be.empty;
    expect(await world.store.count(scope, blobIntentsCollection, {})).to.equal(0);
    await until('cognify of what was downloaded', async () => {
      const { json } = await wire.get(`/datasets/status?dataset=${dataset}&pipeline=cognify_pipeline`);
      return json[dataset] === 'DATASET_PROCESSING_COMPLETED';
    });
    const before = world.remote.requests.length;
    expect(await sync(world, [dataset]), 'nothing is left to do').to.include({ uploaded: 0, downloaded: 0 });
    expect(LINES(world.remote).slice(before)).to.deep.equal(['POST /api/sync/*/diff', 'PUT /api/sync/*?prune=true']);
  });

  it('takes every dataset that may be written when none is named, and tells of it in log and audit', async () => {
    await using world = await start();
    const { wire } = world.one;
    for (const name of ['one', 'two']) await wire.upload(name, { name: `${name}.txt`, content: `of ${name}` });
    const { json } = await wire.post('/sync', {});
    expect(json.dataset_names).to.have.members(['one', 'two']);
    await ended(world, json.run_id);
    const log = createEventLog({ store: world.store, clock: { now: () => new Date() }, ids: { ordered: () => '' } });
    const events = await log.read(SYSTEM_SCOPE, { after: 0, limit: 1000 });
    expect(
      events.filter(({ subjectId }) => subjectId === json.run_id).map(({ type, data }) => ({ type, ...data })),
    ).to.deep.equal([
      { type: 'sync.started', datasetIds: json.dataset_ids },
      { type: 'sync.ended', status: 'completed', uploaded: 2, downloaded: 0 },
    ]);
    const audit = await wire.get(`/audit?action=export.made`);
    expect(audit.json.records[0]).to.deep.include({
      subject: json.run_id,
      details: { what: 'sync', datasets: json.dataset_ids },
    });
  });

  it('shows how far it has come, and never goes back', async () => {
    await using world = await start();
    const { wire } = world.one;
    const letters = [0, 1, 2, 3].map((index) => ({ name: `${index}.txt`, content: `letter ${index}` }));
    await wire.upload('letters', ...letters);
    const asked = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    let uploads = 0;
    world.remote.intercept(async (line, request, response) => {
      if (!line.includes('/data/')) return false;
      uploads += 1;
      if (uploads !== 4) return false;
      asked.resolve();
      await opened.promise;
      request.resume();
      response.writeHead(500).end();
      return true;
    });
    const { json } = await wire.post('/sync', {});
    await asked.promise;
    const progress = async () => (await wire.get('/sync/status')).json.latest_running_sync.progress_percentage;
    // Files are 80 of 100, and three of four are there.
    expect(await progress()).to.equal(60);
    world.remote.intercept(async (line) => {
      if (line.includes('cognify')) expect(await progress()).to.equal(80);
      else expect(await progress()).to.be.within(60, 80);
      return false;
    });
    opened.resolve();
    expect(await ended(world, json.run_id)).to.include({ status: 'completed', progress: 100, uploaded: 4, retries: 1 });
  });

  it('does not bring back what was forgotten here, and removes it there', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'keep.txt', content: 'to keep' }, { name: 'secret.txt', content: 'to forget' });
    const dataset = await datasetOf(wire, 'notes');
    await sync(world);
    await forget(wire, dataset, 'secret');
    expect(await sync(world)).to.include({ status: 'completed', downloaded: 0 });
    expect(await filesOf(wire, dataset)).to.deep.equal({ 'to keep': 'keep' });
    expect([...world.remote.items(dataset).keys()]).to.deep.equal([md5('to keep')]);
    world.remote.put(dataset, 'late.txt', 'to forget');
    expect(await sync(world), 'it was put there again').to.include({ downloaded: 0 });
    await wire.upload('notes', { name: 'again.txt', content: 'to forget' });
    expect(await sync(world), 'it was added here again').to.include({ uploaded: 1 });
  });

  it('keeps a copy as it is, also when this memory has just said the same', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'Ada Lovelace met Charles Babbage in London.' });
    const dataset = await datasetOf(wire, 'notes');
    expect((await wire.post('/cognify', { dataset_ids: [dataset] })).status).to.equal(200);
    const shown = await wire.post('/search', { query: 'Who met Ada?', searchType: 'CHUNKS', dataset_ids: [dataset] });
    expect(shown.text).to.contain('met Charles Babbage');
    const copy = world.remote.put(dataset, 'copy.txt', 'Ada Lovelace met Charles Babbage in London.\n');
    expect(await sync(world)).to.include({ status: 'completed', downloaded: 1 });
    expect(Object.values(await filesOf(wire, dataset))).to.have.members(['a', 'copy']);
    expect(await sync(world), 'nothing is left to do').to.include({ downloaded: 0 });
    expect(world.remote.items(dataset).has(copy)).to.equal(true);
  });

  it('passes over what cannot be kept here, and leaves it there', async () => {
    await using world = await start({ sync: { maxDocumentBytes: 1000 } });
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' });
    const dataset = await datasetOf(wire, 'notes');
    const large = world.remote.put(dataset, 'large.txt', 'x'.repeat(1001));
    const broken = world.remote.put(dataset, 'broken.pdf', '%PDF-1.7 and nothing else');
    const empty = world.remote.put(dataset, 'empty.txt', '');
    world.remote.put(dataset, '../../etc/passwd', 'a name with folders');
    const run = await sync(world);
    expect(run).to.include({ status: 'completed', downloaded: 1, passedOver: 3 });
    expect(await filesOf(wire, dataset)).to.deep.equal({ a: 'a', 'a name with folders': 'passwd' });
    expect([...world.remote.items(dataset).keys()]).to.include.members([large, broken, empty]);
  });

  it('retries three times and then fails, which frees the user; the next one has less to do', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' }, { name: 'b.txt', content: 'b' });
    const dataset = await datasetOf(wire, 'notes');
    let refused = 0;
    world.remote.intercept((line, request, response) => {
      if (!line.startsWith('PUT') || !line.includes('/data/') || world.remote.items(dataset).size === 0) return false;
      refused += 1;
      request.resume();
      response.writeHead(500).end();
      return true;
    });
    const run = await sync(world);
    expect(run).to.include({ status: 'failed', retries: 3, uploaded: 1 });
    expect(run.error).to.contain('status 500').and.not.contain('127.0.0.1');
    expect(refused).to.equal(4);
    expect((await wire.get('/sync/status')).json).to.deep.equal({ has_running_sync: false, running_sync_count: 0 });
    expect(LINES(world.remote)).to.not.include('POST /api/cognify');
    world.remote.intercept(() => false);
    expect(await sync(world)).to.include({ status: 'completed', uploaded: 1 });
    expect(LINES(world.remote)).to.include('POST /api/cognify');
  });

  it('gets over a remote that dies in the middle of a file, and keeps nothing of half of it', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' });
    const dataset = await datasetOf(wire, 'notes');
    world.remote.put(dataset, 'b.txt', 'the whole file');
    let died = 0;
    world.remote.intercept((line, request, response) => {
      if (!line.startsWith('GET') || died === 2) return false;
      died += 1;
      response.writeHead(200, { 'content-length': '14' });
      // Once it breaks off, once it is another file.
      if (died === 1) response.write('the', () => request.socket.destroy());
      else response.end('some other one');
      return true;
    });
    expect(await sync(world)).to.include({ status: 'completed', downloaded: 1, retries: 2 });
    expect(await filesOf(wire, dataset)).to.deep.equal({ a: 'a', 'the whole file': 'b' });
  });

  it('builds what arrived although the sync that brought it failed', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' });
    world.remote.intercept((line, request, response) => {
      if (line !== 'POST /api/cognify') return false;
      request.resume();
      response.writeHead(503).end();
      return true;
    });
    expect(await sync(world)).to.include({ status: 'failed', uploaded: 1 });
    world.remote.intercept(() => false);
    expect(await sync(world)).to.include({ status: 'completed', uploaded: 0 });
    expect(LINES(world.remote).filter((line) => line === 'POST /api/cognify')).to.have.length(1);
  });

  it('is one per user over all replicas; the others learn which one runs', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' });
    const opened = Promise.withResolvers<void>();
    world.remote.intercept(async (line) => {
      if (line.endsWith('/diff')) await opened.promise;
      return false;
    });
    const answers = await Promise.all(
      [world.one, world.two, world.one, world.two].map((replica) => replica.wire.post('/sync', {})),
    );
    const [started] = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).to.have.length(3);
    const { run_id, dataset_ids, dataset_names, timestamp } = started?.json ?? {};
    for (const { json } of refused) {
      expect(json.error).to.equal('Sync operation already in progress');
      const { message, ...details } = json.details;
      expect(message).to.contain(run_id);
      expect(details).to.deep.equal({
        run_id,
        status: 'already_running',
        dataset_ids,
        dataset_names,
        timestamp,
        progress_percentage: 0,
      });
    }
    expect((await world.two.wire.get('/sync/status')).json).to.deep.equal({
      has_running_sync: true,
      running_sync_count: 1,
      latest_running_sync: { run_id, dataset_ids, dataset_names, progress_percentage: 0, created_at: timestamp },
    });
    opened.resolve();
    await ended(world, run_id);
    expect((await sync(world)).status).to.equal('completed');
  });

  for (const loses of ['stops', 'stalls'] as const) {
    it(`goes on at the other replica when one ${loses}, and nobody writes for one who lost it`, async () => {
      await using world = await start({ sync: { leaseMs: 600 } });
      const { wire } = world.two;
      await wire.upload('notes', { name: 'a.txt', content: 'a' }, { name: 'b.txt', content: 'b' });
      await wire.upload('other', { name: 'c.txt', content: 'c' });
      const reached = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      let uploads = 0;
      world.remote.intercept(async (line) => {
        if (!line.includes('/data/')) return false;
        uploads += 1;
        if (uploads === 2) {
          reached.resolve();
          await opened.promise;
        }
        return false;
      });
      const { json } = await wire.post('/sync', {});
      await reached.promise;
      const [holder, other] = world.one.logged().includes('sync.claimed')
        ? [world.one, world.two]
        : [world.two, world.one];
      world.messages.letAnswer(other === world.one ? 0 : 1);
      // A store that stands still, and with it all signs of life.
      if (loses === 'stalls') holder.store.pause();
      const stopping = loses === 'stops' ? holder.stop() : null;
      opened.resolve();
      const run = await ended(world, json.run_id);
      expect(run).to.include({ status: 'completed', progress: 100 });
      holder.store.resume();
      await stopping;
      expect(other.logged()).to.include('sync.ended');
      expect(holder.logged()).to.not.include('sync.ended');
      expect([
        ...world.remote.items(json.dataset_ids[0]).keys(),
        ...world.remote.items(json.dataset_ids[1]).keys(),
      ]).to.have.members(['a', 'b', 'c'].map(md5));
    });
  }

  it('can be cancelled, also while it waits for its next attempt', async () => {
    await using world = await start({ sync: { retryBaseMs: 3_600_000 } });
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' });
    world.remote.intercept((_line, request, response) => {
      request.resume();
      response.writeHead(500).end();
      return true;
    });
    const { json } = await wire.post('/sync', {});
    await until('the first failure', async () => (await runOf(world, json.run_id)).retries === 1);
    const jobs = (
      await world.store.find(SYSTEM_SCOPE, jobsCollection, {
        limit: 10,
      })
    ).items;
    const job = jobs.find(({ value }) => value.kind === 'sync');
    expect(await world.workQueue.requestCancel(SYSTEM_SCOPE, job?.id ?? '')).to.equal(true);
    expect(await ended(world, json.run_id)).to.include({ status: 'cancelled' });
  });

  it('ends when its dataset is deleted under it', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'a.txt', content: 'a' });
    const dataset = await datasetOf(wire, 'notes');
    const reached = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    world.remote.intercept(async (line, request, response) => {
      if (!line.endsWith('/diff')) return false;
      reached.resolve();
      await opened.promise;
      request.resume();
      response.writeHead(500).end();
      return true;
    });
    const { json } = await wire.post('/sync', {});
    await reached.promise;
    expect((await wire.remove(`/datasets/${dataset}`)).status).to.equal(200);
    opened.resolve();
    const run = await ended(world, json.run_id);
    expect(run).to.include({ status: 'failed', retries: 1 });
    expect(run.error).to.contain('PermissionDeniedError');
  });

  it('passes over a file that comes wrong at every attempt, and leaves it there; the others are synced', async () => {
    await using world = await start();
    const { remote } = world;
    const { wire } = world.one;
    await wire.upload('notes', { name: 'here.txt', content: 'here' });
    const dataset = await datasetOf(wire, 'notes');
    const wrong = remote.put(dataset, 'wrong.txt', 'wrong');
    const right = remote.put(dataset, 'right.txt', 'right');
    remote.intercept((line, _request, response) => {
      if (!line.startsWith('GET') || !line.includes(wrong)) return false;
      response.end('some other one');
      return true;
    });
    expect(await sync(world)).to.include({
      status: 'completed',
      retries: 3,
      uploaded: 1,
      downloaded: 1,
      passedOver: 1,
    });
    expect([...remote.items(dataset).keys()]).to.include.members([wrong, right]);
    expect(await filesOf(wire, dataset)).to.deep.equal({ here: 'here', right: 'right' });
  });

  it('leaves nothing of a dataset that is deleted while it fills it', async () => {
    await using world = await start();
    const { wire } = world.one;
    await wire.upload('notes', { name: 'here.txt', content: 'here' });
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(await datasetOf(wire, 'notes')));
    for (let at = 0; at < 500; at += 1) world.remote.put(scope.dataset, `${at}.txt`, `file ${at}`);
    const { json } = await wire.post('/sync', {});
    const items = () => world.store.count(scope, dataItemsCollection, {});
    await until('some files', async () => (await items()) > 5);
    expect((await world.two.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    await ended(world, json.run_id);
    expect(await items()).to.equal(0);
    expect(await world.blobs.list(scope, { limit: 9 })).to.deep.equal([]);
    expect(await world.store.countEach(scope, syncStateCollections)).to.deep.equal([0, 0, 0]);
  });

  describe('while something is forgotten', () => {
    let world: World;
    let dataset: string;
    beforeEach(async () => {
      world = await start();
      const files = ['both', 'sent', 'kept'].map((content) => ({ name: `${content}.txt`, content }));
      await world.one.wire.upload('notes', ...files);
      dataset = await datasetOf(world.one.wire, 'notes');
      for (const content of ['both', 'fetched', 'wanted']) world.remote.put(dataset, `${content}.txt`, content);
    });
    afterEach(() => world[Symbol.asyncDispose]());

    const here = async () => Object.keys(await filesOf(world.one.wire, dataset)).toSorted();
    const there = () => [...world.remote.items(dataset).values()].map(({ content }) => content.toString()).toSorted();

    it('does not bring it back by its next attempt, however far it had come, and removes it there too', async () => {
      let downloads = 0;
      world.remote.intercept(async (line, request, response) => {
        if (!line.startsWith('GET')) return false;
        downloads += 1;
        if (downloads !== 2) return false;
        for (const name of await here()) if (name !== 'kept') await forget(world.one.wire, dataset, name);
        request.resume();
        response.writeHead(500).end();
        return true;
      });
      expect(await sync(world)).to.include({ status: 'completed', retries: 1, uploaded: 2, downloaded: 2 });
      expect(downloads).to.be.greaterThan(2);
      expect(await here()).to.deep.equal(['kept', 'wanted']);
      expect(there()).to.deep.equal(['kept', 'wanted']);
    });

    it('removes it there at once, and keeps there what comes meanwhile', async () => {
      let downloads = 0;
      world.remote.intercept(async (line) => {
        if (!line.startsWith('GET')) return false;
        downloads += 1;
        if (downloads !== 2) return false;
        for (const name of ['both', 'fetched']) await forget(world.one.wire, dataset, name);
        // Another sync of the dataset brings it in this form.
        await world.one.wire.upload('notes', { name: 'new.txt', content: 'new' });
        world.remote.put(dataset, 'new.txt', 'new');
        return false;
      });
      expect(await sync(world)).to.include({ status: 'completed', retries: 0 });
      expect(there()).to.deep.equal(['kept', 'new', 'sent', 'wanted']);
      expect(await here()).to.deep.equal(['kept', 'new', 'sent', 'wanted']);
    });
  });
});

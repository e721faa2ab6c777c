import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type TestClock, testClock } from '../../../test/support/auth-service.ts';
import { createTestJobs } from '../../../test/support/job-worker.ts';
import { createMemoryBlobStore } from '../../../test/support/memory/blob-store.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { unsignedPrincipals } from '../../../test/support/unsigned-principals.ts';
import { until } from '../../../test/support/until.ts';
import { collections } from '../../app/collections.ts';
import { createAuditLog } from '../../auth/repositories/audit-log.ts';
import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { createEventLog } from '../../common/platform/events/event-log.ts';
import type { JobWorker } from '../../common/platform/jobs/job-worker.ts';
import type { AnswerOf, ErasureProgress, RequestOf } from '../../common/platform/messaging/messages.ts';
import { createMessenger, type Messenger } from '../../common/platform/messaging/messenger.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import type { EventLog } from '../../common/ports/event-log.ts';
import { createDatasets } from '../../common/records/auth/datasets.ts';
import { createLedger } from '../../common/records/cognify/ledger.ts';
import { createBlobIntents } from '../../common/records/ingest/blob-intents.ts';
import { createDataItems } from '../../common/records/ingest/data-items.ts';
import { createSessionRemoval } from '../../common/records/session-removal.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { placeText } from '../../common/storage/ports/snapshot-places.ts';
import { createSnapshots } from '../repositories/snapshots.ts';
import { createManagedErasures, type ErasureDependencies, type ManagedErasures } from './managed-erasures.ts';

const TENANT = asId<TenantId>('t1');
const DATASET: DatasetRef = {
  id: asId<DatasetId>(randomUUID()),
  name: 'notes',
  ownerId: asId<UserId>('ada'),
  tenant: TENANT,
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: null,
};
const THING = { tenantId: TENANT, datasetId: DATASET.id, crUid: 'cr' };
/** By a policy that wants nothing to stay. */
const PLAIN = { ...THING, withoutSnapshots: true };
const CALL = { requestId: 'r' };
const SCOPE = datasetScope(TENANT, DATASET.id);
const BUCKET = { endpoint: null, bucket: 'acme', prefix: '', region: 'us-east-1', accessKey: 'a', secretKey: 's' };
const neverOpened = () => Promise.reject(new Error('a bucket of somebody else is opened'));
const OWNER = { id: DATASET.ownerId, email: '', tenant: TENANT, isSuperuser: false, parentId: null };

type Replica = ManagedErasures & Pick<JobWorker, 'stop'>;

/** The other services over a real bus, each of which can be told to fail or to wait. */
describe('erasures for the operator', () => {
  let store: DocumentStore;
  let messenger: Messenger;
  let clock: TestClock;
  let receipt: string | null;
  let isThere: boolean;
  let builtRemoved: number;
  let onSearched: () => Promise<void>;
  let searching: number;
  let dropBus: () => Promise<void>;
  let log: EventLog;
  let onTaken: () => Promise<void>;
  let onSnapshot: () => Promise<AnswerOf<'ingest.TakeSnapshot'>['failure']>;
  const open: Replica[] = [];

  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare(collections);
    clock = testClock();
    [receipt, isThere, builtRemoved, onSearched] = [null, true, 5, async () => {}];
    onSnapshot = async () => null;
    onTaken = async () => {};
    log = createEventLog({ store, clock, ids: createIdSource(clock) });
    const bus = createInProcessBus();
    messenger = createMessenger(bus, unsignedPrincipals);
    dropBus = () => bus.drain();
    await messenger.serve('auth.ResolveDatasets', async () => ({ datasets: [DATASET] }));
    await messenger.serve('auth.BeginErasure', async () => {
      const begun = { dataset: isThere ? DATASET : null, principal: OWNER, token: JSON.stringify(OWNER) };
      return { ...begun, receipt, datasetIds: [] };
    });
    await messenger.serve('auth.EndErasure', async ({ removed, kept }) => {
      receipt ??= JSON.stringify({ removed, kept });
      return { receipt };
    });
    await messenger.serve('cognify.Erase', async () => {
      const graph = builtRemoved;
      builtRemoved = 0;
      return { removed: { graph }, residue: 0, itemsReset: 0 };
    });
    searching = 0;
    await messenger.serve('search.Erase', async () => {
      searching += 1;
      await onSearched();
      return { removed: 1, residue: 0 };
    });
    await messenger.serve('improve.Erase', async () => ({ removed: 0, residue: 0 }));
    await messenger.serve('auth.RemoveDataset', async () => {
      isThere = false;
      return { removed: true };
    });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((replica) => replica.stop()));
    await dropBus();
  });

  /** One replica of ingest. */
  const replica = (answerAfterMs = 10_000): Replica => {
    const shared: DocumentStore = { ...store, capabilities: { ...store.capabilities, sharedBetweenProcesses: true } };
    const { workQueue, jobs } = createTestJobs(shared, clock);
    const deps = {
      workQueue,
      jobs,
      store: shared,
      messenger,
      clock,
      blobs: createMemoryBlobStore(),
      audit: createAuditLog(store, clock),
      items: createDataItems(store),
      intents: createBlobIntents(store),
      ledger: createLedger(store),
      sessionRemoval: createSessionRemoval(store),
      datasets: createDatasets(store),
      eventLog: log,
      snapshotIndex: { store: shared, snapshots: createSnapshots(store), places: { open: neverOpened } },
      async takeSnapshot({
        name,
        datasetId,
        place,
      }: RequestOf<'ingest.TakeSnapshot'>): Promise<AnswerOf<'ingest.TakeSnapshot'>> {
        const failure = await onSnapshot();
        if (failure !== null) return { snapshot: null, done: 0, total: 1, failure };
        const at = clock.now().toISOString();
        const [last] = (await log.read(SCOPE, { after: 0, limit: 100 })).toReversed();
        const info = { name, datasetId, at, items: 1, sizeBytes: 2, sha256: '', place: placeText(place) };
        const state = { touchedAtMs: 0, failure: null, isComplete: true };
        const counted = { done: 1, total: 1, event: last?.offset ?? null };
        const write = createSnapshots(store).insertWrite({ ...info, ...state, ...counted, isInstalled: false });
        await store.commit({ tenant: TENANT }, [write]);
        await onTaken();
        return { snapshot: { ...info, tenantId: TENANT }, done: 1, total: 1, failure: null };
      },
      tenantCollections: [],
    } as unknown as ErasureDependencies;
    const started = { ...createManagedErasures(deps, { answerAfterMs }), stop: jobs.stop };
    open.push(started);
    return started;
  };

  /** However slow the machine: asks until search has been asked to erase. */
  const untilSearching = async (erasures: Replica): Promise<ErasureProgress> => {
    let progress = await erasures.progress(PLAIN, CALL);
    await until('search is asked to erase', async () => {
      if (searching === 0) progress = await erasures.progress(PLAIN, CALL);
      return searching > 0;
    });
    return progress;
  };

  it('answer with the receipt once everything is gone, and the same ever after', async () => {
    const progress = await replica().progress(PLAIN, CALL);
    expect(progress).to.deep.include({ erased: true, residue: 0, failure: null });
    expect(progress.removed).to.deep.equal({ graph: 5, searches: 1, datasets: 1 });
    expect(await replica().progress(PLAIN, CALL)).to.deep.equal(progress);
  });

  it('tell why they did not end, and go on from there with all that was counted', async () => {
    onSearched = async () => {
      throw engramError('ServiceUnavailableError', 'The index is away.');
    };
    const erasures = replica();
    const failed = await erasures.progress(PLAIN, CALL);
    expect(failed).to.deep.include({ erased: false, removed: { graph: 5 }, receipt: null });
    expect(failed.failure).to.deep.equal({ name: 'ServiceUnavailableError', message: 'The index is away.' });
    expect(failed.step).to.equal(`dataset ${DATASET.id}`);
    onSearched = async () => {};
    const ended = await erasures.progress(PLAIN, CALL);
    expect(ended.removed).to.deep.equal({ graph: 5, searches: 1, datasets: 1 });
    expect(JSON.parse(ended.receipt ?? '')).to.deep.equal({ removed: ended.removed, kept: [] });
  });

  it('answer how far they are while they last', async () => {
    const release = Promise.withResolvers<void>();
    onSearched = () => release.promise;
    const hasty = replica(50);
    const meanwhile = await untilSearching(hasty);
    expect(meanwhile).to.deep.include({ erased: false, failure: null, step: `dataset ${DATASET.id}` });
    release.resolve();
    let progress = meanwhile;
    while (!progress.erased) progress = await hasty.progress(PLAIN, CALL);
    expect(progress.receipt).not.to.equal(null);
  });

  it('are taken over when whoever was at them died, and not before', async () => {
    const [stuck, other] = [replica(50), replica(50)];
    const release = Promise.withResolvers<void>();
    onSearched = () => (searching === 1 ? release.promise : Promise.resolve());
    await untilSearching(stuck);
    expect(await other.progress(PLAIN, CALL)).to.deep.include({ erased: false, failure: null });
    expect(searching).to.equal(1);
    clock.advance(61_000);
    let progress = await other.progress(PLAIN, CALL);
    while (!progress.erased) progress = await other.progress(PLAIN, CALL);
    // What comes back to life finds that it is not its business any more.
    release.resolve();
    await stuck.stop();
    expect((await other.progress(PLAIN, CALL)).receipt).to.equal(progress.receipt);
  });

  it('are left to others by a process that stops', async () => {
    const release = Promise.withResolvers<void>();
    onSearched = () => release.promise;
    const stopping = replica(50);
    await untilSearching(stopping);
    const stopped = stopping.stop();
    release.resolve();
    await stopped;
    onSearched = async () => {};
    const ended = await replica().progress(PLAIN, CALL);
    expect(ended.erased).to.equal(true);
  });

  it('begin with the last snapshot, and erase nothing while it cannot be taken', async () => {
    onSnapshot = async () => ({ name: 'ServiceUnavailableError', message: 'The bucket does not answer.' });
    const wish = { ...THING, finalSnapshot: { name: 'last', place: BUCKET } };
    const failed = await replica().progress(wish, CALL);
    expect(failed).to.deep.include({ erased: false, removed: {}, step: 'snapshot last' });
    expect(failed.failure).to.deep.equal({
      name: 'FinalSnapshotFailed',
      message: 'The bucket does not answer.',
    });
    // Nobody says any more where, which does not mean that nobody wants it.
    const bare = await replica().progress(THING, CALL);
    expect([bare.failure?.name, bare.removed]).to.deep.equal(['FinalSnapshotFailed', {}]);
    onSnapshot = async () => null;
    const ended = await replica().progress(wish, CALL);
    expect(JSON.parse(ended.receipt ?? '').kept).to.deep.equal(['snapshot last in s3://acme/']);
  });

  it('erase nothing until somebody says whether with snapshots or without', async () => {
    // Whoever began it was killed before it wrote down what was wanted, and the policy says another thing by now.
    for (const keepSnapshots of [false, true]) {
      const bare = await replica().progress({ ...THING, keepSnapshots }, CALL);
      expect([bare.failure?.name, bare.removed]).to.deep.equal(['FinalSnapshotFailed', {}]);
    }
    onSearched = async () => {
      throw engramError('ServiceUnavailableError', 'The index is away.');
    };
    await replica().progress(PLAIN, CALL);
    onSearched = async () => {};
    const ended = await replica().progress(THING, CALL);
    expect(ended.erased, 'what was begun without goes on without').to.equal(true);
  });

  it('take another one of what was still on its way, and keep both', async () => {
    const last = Promise.withResolvers<void>();
    onTaken = async () => {
      onTaken = async () => {};
      await store.commit(SCOPE, log.appendWrites(SCOPE, [{ type: 'item.added', subjectId: 'late', data: {} }]));
      last.resolve();
    };
    const ended = await replica().progress({ ...THING, finalSnapshot: { name: 'last', place: BUCKET } }, CALL);
    await last.promise;
    const kept = ['snapshot last in s3://acme/', 'snapshot last-2 in s3://acme/'];
    expect(JSON.parse(ended.receipt ?? '').kept).to.deep.equal(kept);
  });

  it('do without the snapshot once somebody says so', async () => {
    onSnapshot = async () => ({ name: 'ServiceUnavailableError', message: 'The bucket does not answer.' });
    await replica().progress({ ...THING, finalSnapshot: { name: 'last', place: BUCKET } }, CALL);
    const ended = await replica().progress(PLAIN, CALL);
    expect(JSON.parse(ended.receipt ?? '').kept).to.deep.equal([]);
  });

  it('take no snapshot of what may be half gone, and name those that were taken although the index is gone', async () => {
    onSearched = async () => {
      throw engramError('ServiceUnavailableError', 'The index is away.');
    };
    const wish = { ...THING, finalSnapshot: { name: 'last', place: BUCKET } };
    expect((await replica().progress(wish, CALL)).failure?.message).to.equal('The index is away.');
    const index = createSnapshots(store);
    const [record] = await index.list({ tenant: TENANT });
    if (record === undefined) throw new Error('no snapshot');
    await store.commit({ tenant: TENANT }, [index.removeWrite(record)]);
    onSearched = async () => {};
    onSnapshot = async () => ({ name: 'ConflictError', message: 'The content of an item is missing.' });
    const ended = await replica().progress(wish, CALL);
    expect(JSON.parse(ended.receipt ?? '').kept).to.deep.equal(['snapshot last in s3://acme/']);
  });

  it('write nothing down for who may not', async () => {
    receipt = null;
    const refusing = createMessenger(createInProcessBus(), unsignedPrincipals);
    await refusing.serve('auth.BeginErasure', async () => {
      throw engramError('OwnedByAnother', 'The dataset is managed by another resource.');
    });
    messenger = refusing;
    const error = await replica()
      .progress(PLAIN, CALL)
      .catch((caught: unknown) => caught);
    expect(error).to.include({ wireName: 'OwnedByAnother' });
    const erasures = collections.find(({ name }) => name === 'erasures');
    if (erasures === undefined) throw new Error('no such collection');
    expect(await store.count({ tenant: TENANT }, erasures, {})).to.equal(0);
  });
});

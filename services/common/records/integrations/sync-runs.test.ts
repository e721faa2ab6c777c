import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { type DocumentStore, DuplicateKeyError, VersionConflictError } from '../../storage/ports/document-store.ts';
import { removeOfWrite } from '../collections.ts';
import { createSyncRuns, type SyncRun, type SyncRuns, syncRunsCollection } from './sync-runs.ts';

const ADA = asId<UserId>('11111111-2222-4333-8444-555555555555');
const BOB = asId<UserId>('66666666-2222-4333-8444-555555555555');
const TENANT = asId<TenantId>('77777777-2222-4333-8444-555555555555');
const DATASET = asId<DatasetId>('88888888-2222-4333-8444-555555555555');

function run(id: string, changes: Partial<SyncRun> = {}): SyncRun {
  return {
    id,
    userId: ADA,
    tenant: TENANT,
    keyId: null,
    status: 'started',
    error: null,
    datasetIds: [DATASET],
    datasetNames: ['notes'],
    finished: [],
    progress: 0,
    retries: 0,
    uploaded: 0,
    downloaded: 0,
    passedOver: 0,
    createdAt: '2026-01-02T00:00:00.000Z',
    startedAt: null,
    endedAt: null,
    ...changes,
  };
}

describe('runs of sync', () => {
  let store: DocumentStore;
  let runs: SyncRuns;
  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare([syncRunsCollection]);
    runs = createSyncRuns(store);
  });
  const commit = (...writes: Parameters<DocumentStore['commit']>[1]) => store.commit({ tenant: TENANT }, writes);
  const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);

  it('are read as they were written', async () => {
    await commit(runs.insertWrite(run('one', { keyId: 'k' })));
    expect(await runs.get('one')).to.deep.equal(run('one', { keyId: 'k' }));
    expect(await runs.running(ADA)).to.deep.equal(run('one', { keyId: 'k' }));
    expect(await runs.running(BOB)).to.equal(null);
    expect(await runs.get('two')).to.equal(null);
  });

  it('are one at a time per user, until one has ended', async () => {
    await commit(runs.insertWrite(run('one')));
    expect(await failureOf(commit(runs.insertWrite(run('two'))))).to.be.instanceOf(DuplicateKeyError);
    await commit(runs.insertWrite(run('bobs', { userId: BOB })));
    await commit(runs.changeWrite('one', { status: 'in_progress', progress: 10 }));
    expect(await runs.running(ADA)).to.include({ status: 'in_progress', progress: 10 });
    await commit(runs.changeWrite('one', { status: 'failed', error: 'gone', endedAt: '2026-01-03T00:00:00.000Z' }));
    expect(await runs.running(ADA)).to.equal(null);
    await commit(runs.insertWrite(run('two')));
    const late = await failureOf(commit(runs.changeWrite('one', { status: 'completed' })));
    expect(late, 'an end is the end').to.be.instanceOf(VersionConflictError);
    expect(await runs.get('one')).to.include({ status: 'failed', error: 'gone' });
  });

  it('are forgotten when they are old and have ended', async () => {
    const ended = { status: 'completed', endedAt: '2026-01-05T00:00:00.000Z' } as const;
    await commit(
      runs.insertWrite(run('old', ended)),
      runs.insertWrite(run('new', { ...ended, createdAt: '2026-02-01T00:00:00.000Z' })),
      runs.insertWrite(run('running')),
      runs.insertWrite(run('bobs', { ...ended, userId: BOB })),
    );
    await commit(runs.removeOldWrite(ADA, '2026-01-20T00:00:00.000Z'));
    const left = await Promise.all(['old', 'new', 'running', 'bobs'].map((id) => runs.get(id)));
    expect(left.map((one) => one?.id)).to.deep.equal([undefined, 'new', 'running', 'bobs']);
    await commit(removeOfWrite(syncRunsCollection, 'user', ADA));
    expect(await store.count({ tenant: TENANT }, syncRunsCollection, {})).to.equal(1);
  });
});

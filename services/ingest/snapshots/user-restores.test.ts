import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTestJobs } from '../../../test/support/job-worker.ts';
import { createMemoryBlobStore } from '../../../test/support/memory/blob-store.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { refusalOf } from '../../../test/support/refusal-of.ts';
import { unsignedPrincipals } from '../../../test/support/unsigned-principals.ts';
import { collections } from '../../app/collections.ts';
import { auditRecordsCollection, createAuditLog } from '../../auth/repositories/audit-log.ts';
import type { DatasetId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createMessenger } from '../../common/platform/messaging/messenger.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { createUserRestores as createRecords, ownRestoresCollection } from '../repositories/restores.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import { createUserRestores, type UserRestoreDependencies } from './user-restores.ts';

const SCOPE = { tenant: PERSONAL_TENANT };
const CALL = { requestId: 'r' };

describe('restores of a user', () => {
  it('are three at once, however many are asked for in one moment; the others leave nothing', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare(collections);
    const messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
    const isOver = Promise.withResolvers<void>();
    await messenger.serve('auth.GetPrincipal', async () => {
      await isOver.promise;
      return { principal: null };
    });
    const clock = createSystemClock();
    const { workQueue, jobs } = createTestJobs(store, clock);
    const restores = createUserRestores(
      {
        store,
        messenger,
        clock,
        ids: createIdSource(clock),
        workQueue,
        jobs,
        blobs: createMemoryBlobStore(),
        restores: createRecords(store),
        audit: createAuditLog(store, clock),
        datasets: { ownedByName: async () => [], get: async () => null },
        budgets: { check: async () => {} },
      } as unknown as UserRestoreDependencies,
      { answerAfterMs: 0 },
    );
    const principal = { ...SCOPE, id: asId<UserId>('ada'), email: '', isSuperuser: false, parentId: null };
    const record = {
      ...SCOPE,
      name: 'one',
      datasetId: asId<DatasetId>(randomUUID()),
      items: 1,
      isComplete: true,
      isInstalled: true,
    } as SnapshotRecord;
    const ask = () => restores.fromSnapshot({ principal, name: randomUUID() }, record, CALL);
    const open = async () => (await store.find(SCOPE, ownRestoresCollection, { limit: 100 })).items.length;
    const audited = async () => (await store.find(SCOPE, auditRecordsCollection, { limit: 100 })).items.length;

    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, ask));
    const begun = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(begun).to.be.at.most(3);
    for (let more = begun; more < 3; more += 1) await ask();
    expect((await refusalOf(ask())).status).to.equal(429);
    expect([await open(), await audited()]).to.deep.equal([3, 3]);
    isOver.resolve();
    await jobs.stop();
  });
});

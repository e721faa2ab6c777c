import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId, dataItemId } from '../../common/kernel/ids.ts';
import { datasetScope, type SystemScope } from '../../common/kernel/scope.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { WallClock } from '../../common/ports/system.ts';
import type { NewJob, WorkQueue } from '../../common/ports/work-queue.ts';
import {
  type DocumentStore,
  DuplicateKeyError,
  remove,
  type Stored,
} from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import { type DeletedDataset, type Deletion, deletionJob } from '../forgetting/deletion-job.ts';

type BegunForgetDocument = {
  readonly createdAt: string;
  readonly ownerId: string;
  readonly leasedUntilMs: number;
  /** ISO-8601: only memory from before is deleted. */
  readonly begunAt?: string;
};

/** Deletions that an earlier release began: one document for each item and each dataset. Now they are jobs. */
export const begunForgetsCollection: OwnedCollection<BegunForgetDocument> = {
  name: 'begun_forgets',
  level: 'dataset',
  owner: 'ingest',
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['createdAt'] }, { fields: ['leasedUntilMs'], wide: true }],
};

const WHOLE = 'dataset';
const MEMORY = 'memory ';
const PAGE = 500;

/** Queues a job for each deletion that a process of an earlier release began and does not hold. Returns how many there were. */
export async function queueBegunForgets(
  {
    store,
    workQueue,
    clock,
  }: {
    readonly store: DocumentStore;
    readonly workQueue: WorkQueue;
    readonly clock: WallClock;
  },
  scope: SystemScope,
): Promise<number> {
  // A process that has the store alone knows that every other is dead.
  const atMs = store.capabilities.sharedBetweenProcesses ? clock.now().getTime() : Number.MAX_SAFE_INTEGER;
  const where = { leasedUntilMs: { atMost: atMs } };
  let queued = 0;
  for (;;) {
    const { items } = await store.find(scope, begunForgetsCollection, { where, limit: PAGE });
    for (const begun of items) await queueJob(store, workQueue, begun);
    queued += items.length;
    if (items.length < PAGE) return queued;
  }
}

async function queueJob(store: DocumentStore, workQueue: WorkQueue, begun: Stored<BegunForgetDocument>): Promise<void> {
  const scope = datasetScope(asId(begun.tenant ?? ''), asId(begun.dataset ?? ''));
  const { writes } = workQueue.enqueueWrites(scope, jobOf(begun));
  const replaced = remove(begunForgetsCollection, begun.id, begun.version);
  try {
    await store.commit(scope, [replaced, ...writes]);
  } catch (error) {
    if (error instanceof DuplicateKeyError) await store.commit(scope, [replaced]);
    else if (!isWriteConflict(error)) throw error;
  }
}

function jobOf({ id, tenant, dataset, value }: Stored<BegunForgetDocument>): NewJob {
  const { createdAt, ownerId, begunAt: memoryBefore = null } = value;
  const name = memoryBefore === null ? id : id.slice(MEMORY.length);
  const deleted: DeletedDataset = {
    id: asId<DatasetRef['id']>(dataset ?? ''),
    tenant: asId<DatasetRef['tenant']>(tenant ?? ''),
    createdAt,
    ownerId: asId(ownerId),
  };
  const deletion: Deletion = { items: name === WHOLE ? null : [dataItemId(name)], memoryBefore };
  return deletionJob(deleted, deletion);
}

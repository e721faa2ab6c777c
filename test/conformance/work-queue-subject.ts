import { randomUUID } from 'node:crypto';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { DurableWorkQueue } from '../../services/common/platform/jobs/work-queue.ts';
import type { ClaimedJob, NewJob } from '../../services/common/ports/work-queue.ts';
import type { DocumentStoreSubject } from '../support/document-stores.ts';
import { newDataset } from './document-store-subject.ts';

export const LEASE_MS = 10_000;
export const POLL_MS = 400;

export interface QueueSubject {
  readonly queue: DurableWorkQueue;
  /** The same jobs; who waits for them hears of them by news alone. */
  readonly patientQueue: DurableWorkQueue;
  readonly subject: DocumentStoreSubject;
  /** Moves the clock, which stands otherwise. */
  advance(ms: number): void;
}

/** Every test has kinds of its own, so that tests share a store. */
export const newKind = () => `kind-${randomUUID()}`;

export async function enqueue(
  { queue, subject }: QueueSubject,
  job: Partial<NewJob> & { kind: string },
  scope = newDataset(),
) {
  const { jobId, writes } = queue.enqueueWrites(scope, { payload: {}, ...job });
  await subject.store.commit(scope, writes);
  return jobId;
}

export function claim({ queue }: QueueSubject, ...kinds: readonly string[]): Promise<ClaimedJob | null> {
  return queue.claim(SYSTEM_SCOPE, kinds, 'worker', LEASE_MS);
}

export async function mustClaim(current: QueueSubject, ...kinds: readonly string[]): Promise<ClaimedJob> {
  const job = await claim(current, ...kinds);
  if (job === null) throw new Error('no job to claim');
  return job;
}

export function complete({ queue, subject }: QueueSubject, job: ClaimedJob) {
  return subject.store.commit(job.scope, queue.completeWrites(job));
}

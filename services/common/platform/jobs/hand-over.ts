import type { ClaimedJob, WorkQueue } from '../../ports/work-queue.ts';

/** The worker stops and gives the job to another one: nothing is recorded. */
export class HandOverError extends Error {
  override readonly name = 'HandOverError';
}

/** Gives a job back that another worker can take at once, without counting this attempt. `LeaseLostError` when one has it. */
export async function handOver(workQueue: Pick<WorkQueue, 'release' | 'wake'>, job: ClaimedJob): Promise<void> {
  await workQueue.release(job);
  await workQueue.wake(job.kind).catch(() => null); // a lost one costs a poll
}

import { SYSTEM_SCOPE } from '../../common/domain/scope.ts';
import type { Subscription } from '../../common/ports/bus.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import { HandOverError } from '../../common/runs/run-executor.ts';
import { holdLease, type RunLease } from '../../common/runs/run-lease.ts';
import { createWakeUp } from '../../common/runs/wake-up.ts';
import type { WorkWatch } from '../../common/runs/work-watch.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { SYNC_JOB } from './sync-job.ts';

/** Takes syncs that wait as jobs. */
export interface SyncWorker {
  start(): Promise<void>;
  /** Takes nothing new and hands over what it has in hand: it goes on elsewhere, or with the next start. Never throws. */
  stop(): Promise<void>;
}

export function createSyncWorker(dependencies: SyncDependencies): SyncWorker {
  const { workQueue, clock, ids, logger, settings } = dependencies;
  const worker = ids.uuid();
  const wakeUp = createWakeUp();
  const stopping = new AbortController();
  const driven = new Map<RunLease, Promise<void>>();
  let watch: WorkWatch | null = null;
  let cancels: Subscription | null = null;
  let loop: Promise<unknown> = Promise.resolve();
  let lastFault = '';

  const claim = async (): Promise<ClaimedJob | null> => {
    try {
      const job = await workQueue.claim(SYSTEM_SCOPE, [SYNC_JOB], worker, settings.leaseMs);
      lastFault = '';
      return job;
    } catch (error) {
      // Once: a store that is away would otherwise fill the log with a line for each poll.
      if (String(error) !== lastFault) logger.error('sync.claim.failed', { error });
      lastFault = String(error);
      return null;
    }
  };
  const drive = async (job: ClaimedJob, lease: RunLease): Promise<void> => {
    // With the first sync: a start need not load what it takes.
    const { driveSync } = await import('../sync/drive-sync.ts');
    await driveSync(dependencies, job, lease);
    await lease[Symbol.asyncDispose]();
  };
  const take = (job: ClaimedJob): void => {
    const lease = holdLease({ workQueue, clock, logger }, job, settings.leaseMs);
    const driving = drive(job, lease);
    driven.set(lease, driving);
    void driving.finally(() => {
      driven.delete(lease);
      wakeUp.notify();
    });
  };
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const job = driven.size >= settings.maxConcurrent ? null : await claim();
      if (job === null) await wakeUp.wait(settings.pollMs, stopping.signal);
      else take(job);
    }
  };
  const relay = async (news: WorkWatch): Promise<void> => {
    while (!stopping.signal.aborted) {
      await news.wait(stopping.signal);
      wakeUp.notify();
    }
  };
  const lookAtAll = (): void => {
    for (const lease of driven.keys()) lease.beat();
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await loop;
    await watch?.stop();
    await cancels?.stop();
    for (const lease of driven.keys()) lease.abort(new HandOverError('The worker is stopping.'));
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, settings.drainMs);
    await Promise.race([Promise.all(driven.values()), isOver]);
    clearTimeout(timer);
  };
  return {
    async start() {
      watch = (await workQueue.watch?.([SYNC_JOB])) ?? null;
      cancels = (await workQueue.watchCancels?.(lookAtAll)) ?? null;
      loop = Promise.all([work(), ...(watch === null ? [] : [relay(watch)])]);
    },
    stop,
  };
}

import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createRepeating, type Repeating } from '../../common/platform/async/repeating.ts';
import { createFaultMemory } from '../../common/platform/jobs/fault-memory.ts';
import type { ImproveWish } from '../../common/records/improve/improve-wishes.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { IMPROVE_JOB, improveJob } from './improve-job.ts';

type Dependencies = Pick<
  ImproveDependencies,
  'wishes' | 'store' | 'workQueue' | 'clock' | 'ids' | 'logger' | 'settings'
>;

/** For the commit of a job; who dies meanwhile leaves the wish to others. */
const TAKEN_MS = 5000;
const TOGETHER = 100;

/** Makes jobs of the wishes that sessions left (IMPROVE_AUTO_ENABLED). A wish is gone only when its job is durable. */
export function createWishScheduler(deps: Dependencies): Repeating {
  const faults = createFaultMemory();
  return createRepeating({
    everyMs: deps.settings.pollMs,
    async work() {
      const due = await deps.wishes.due(SYSTEM_SCOPE, deps.clock.now(), TOGETHER);
      for (const wish of due) await order(deps, wish);
      faults.forget();
    },
    onError(error) {
      if (faults.isNews(error)) deps.logger.error('improve.wishes.failed', { error });
    },
  });
}

async function order({ wishes, store, workQueue, clock, ids }: Dependencies, wish: ImproveWish): Promise<void> {
  const taken = await wishes.take(wish, new Date(clock.now().getTime() + TAKEN_MS));
  if (taken === null) return;
  const { tenant, user, session, dataset, keyId } = taken;
  const details = { id: ids.uuid(), datasetId: dataset, sessionIds: [session], options: null, isAutomatic: true };
  const scope = { tenant, dataset };
  try {
    const job = improveJob(details, { id: user, tenant, keyId }, `${IMPROVE_JOB}:${taken.id}`);
    await store.commit(scope, workQueue.enqueueWrites(scope, job).writes);
  } catch (error) {
    // One for the same session is not over: it may have looked at it already, so this one comes after it.
    if (error instanceof DuplicateKeyError) return;
    throw error;
  }
  await wishes.settle(taken);
  await workQueue.wake(IMPROVE_JOB).catch(() => null); // a lost one costs a poll
}

import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createRepeating, type Repeating } from '../../common/platform/async/repeating.ts';
import { createFaultMemory } from '../../common/platform/jobs/fault-memory.ts';
import { type RunJob, readRunJob } from '../../common/platform/messaging/jobs.ts';
import type { NewJob } from '../../common/ports/work-queue.ts';
import type { StoredImproveRequest } from '../../common/records/improve/improve-requests.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImproveOptions } from '../model.ts';

export const IMPROVE_JOB = 'improve';

/** It is the worker that counts: one that waits for another improve has done nothing wrong. */
const MAX_ATTEMPTS = 1_000_000;

/** What an improve in the background was asked for. */
interface ImproveOrder {
  readonly id: string;
  readonly datasetId: DatasetId;
  readonly sessionIds: readonly string[];
  /** Null: those of the server. */
  readonly options: ImproveOptions | null;
  /** Nobody asked for it by hand: it is tried again when a stage fails. */
  readonly isAutomatic: boolean;
  /** See `Tracer.carried`. */
  readonly trace?: string | undefined;
}

/** For whom a job is done. */
export interface JobAsker {
  readonly id: UserId;
  readonly tenant: TenantId;
  /** The API key that it was asked for with: it pays too, and nothing is done with one that was revoked. */
  readonly keyId: string | null;
}

/** Improves of one dataset go one after the other; a run of cognify on it is none of their business. */
export function improveJob(
  { id, datasetId, sessionIds, options, isAutomatic, trace }: ImproveOrder,
  { id: userId, tenant: userTenant, keyId }: JobAsker,
  idempotencyKey: string = id,
): NewJob {
  const payload: RunJob = {
    ...{ runId: id, datasetId, userId, userTenant },
    options: { sessionIds, options: options as unknown as JsonObject, isAutomatic, keyId },
    ...(trace === undefined ? {} : { trace }),
  };
  const orderingKey = `${IMPROVE_JOB}:${datasetId}`;
  return { kind: IMPROVE_JOB, payload, orderingKey, idempotencyKey, maxAttempts: MAX_ATTEMPTS };
}

export interface ReadOrder extends ImproveOrder, Pick<JobAsker, 'keyId'> {
  readonly userId: string;
  readonly userTenant: string;
}

/** Throws when it is no such job. */
export async function readOrder(payload: JsonObject): Promise<ReadOrder> {
  const { runId, datasetId, userId, userTenant, options, trace } = await readRunJob(payload);
  const { sessionIds, options: asked, isAutomatic, keyId } = options;
  if (!Array.isArray(sessionIds)) throw new Error('the job names no sessions');
  return {
    ...{ id: runId, datasetId: datasetId as unknown as DatasetId, userId, userTenant },
    sessionIds: sessionIds.map(String),
    options: (asked ?? null) as unknown as ImproveOptions | null,
    isAutomatic: isAutomatic === true,
    trace,
    keyId: typeof keyId === 'string' ? keyId : null,
  };
}

type Dependencies = Pick<
  ImproveDependencies,
  'improveRequests' | 'store' | 'workQueue' | 'clock' | 'ids' | 'logger' | 'settings'
>;

/** Time for the commit of a job; after a crash another scheduler takes the request. */
const TAKEN_MS = 5000;
const TOGETHER = 100;

/** Makes jobs of the requests of sessions (IMPROVE_AUTO_ENABLED). A request is removed only when its job is durable. */
export function createRequestScheduler(deps: Dependencies): Repeating {
  const faults = createFaultMemory();
  return createRepeating({
    everyMs: deps.settings.pollMs,
    async work() {
      const due = await deps.improveRequests.due(SYSTEM_SCOPE, deps.clock.now(), TOGETHER);
      for (const request of due) await order(deps, request);
      faults.forget();
    },
    onError(error) {
      if (faults.isNews(error)) deps.logger.error('improve.requests.failed', { error });
    },
  });
}

async function order(
  { improveRequests, store, workQueue, clock, ids }: Dependencies,
  request: StoredImproveRequest,
): Promise<void> {
  const taken = await improveRequests.take(request, new Date(clock.now().getTime() + TAKEN_MS));
  if (taken === null) return;
  const { tenant, user, session, dataset, keyId } = taken;
  const details = { id: ids.uuid(), datasetId: dataset, sessionIds: [session], options: null, isAutomatic: true };
  const scope = { tenant, dataset };
  try {
    const job = improveJob(details, { id: user, tenant, keyId }, `${IMPROVE_JOB}:${taken.id}`);
    await store.commit(scope, workQueue.enqueueWrites(scope, job).writes);
  } catch (error) {
    // A job for the same session is queued or running; it may have read the session already, so the request stays.
    if (error instanceof DuplicateKeyError) return;
    throw error;
  }
  await improveRequests.settle(taken);
  await workQueue.wake(IMPROVE_JOB).catch(() => null); // a lost one costs a poll
}

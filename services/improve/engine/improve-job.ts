import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createRepeating, type Repeating } from '../../common/platform/async/repeating.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import { createErrorDeduplicator } from '../../common/platform/jobs/error-deduplicator.ts';
import { type RunJob, readRunJob } from '../../common/platform/messaging/jobs.ts';
import type { NewJob } from '../../common/ports/work-queue.ts';
import type { StoredImproveRequest } from '../../common/records/improve/improve-requests.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImproveOptions } from '../model.ts';

export const IMPROVE_JOB = 'improve';

/** The worker limits attempts itself: waiting for another improve is no failure. */
const MAX_ATTEMPTS = 1_000_000;

/** The request for an improve in the background. */
interface ImproveOrder {
  readonly id: string;
  readonly datasetId: DatasetId;
  readonly sessionIds: readonly string[];
  /** Null: the defaults of the server. */
  readonly options: ImproveOptions | null;
  /** No client waits for it: it is retried when a stage fails. */
  readonly isAutomatic: boolean;
  /** See `Tracer.carried`. */
  readonly trace?: string | undefined;
}

/** The account that a job acts for. */
export interface JobAsker {
  readonly id: UserId;
  readonly tenant: TenantId;
  /** API key of the request: its budgets are charged too, and nothing is done when it was revoked. */
  readonly keyId: string | null;
}

/** Makes the job of an improve. Improves of one dataset run one after the other, independently of its cognify runs. */
export function improveJob(
  { id, datasetId, sessionIds, options, isAutomatic, trace }: ImproveOrder,
  { id: userId, tenant: userTenant, keyId }: JobAsker,
  idempotencyKey: string = id,
): NewJob {
  const payload: RunJob = {
    runId: id,
    datasetId,
    userId,
    userTenant,
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

/** Reads the payload of a job; throws when it is no improve. */
export async function readOrder(payload: JsonObject): Promise<ReadOrder> {
  const { runId, datasetId, userId, userTenant, options, trace } = await readRunJob(payload);
  const { sessionIds, options: asked, isAutomatic, keyId } = options;
  if (!Array.isArray(sessionIds)) throw new Error('the job names no sessions');
  return {
    id: runId,
    datasetId: datasetId as unknown as DatasetId,
    userId,
    userTenant,
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
  const faults = createErrorDeduplicator();
  return createRepeating({
    everyMs: deps.settings.pollMs,
    async work() {
      const due = await deps.improveRequests.due(SYSTEM_SCOPE, deps.clock.now(), TOGETHER);
      for (const request of due) await order(deps, request);
      faults.forget();
    },
    onError(error) {
      if (faults.isNew(error)) deps.logger.error('improve.requests.failed', { error });
    },
  });
}

async function order({ improveRequests, store, workQueue, clock, ids }: Dependencies, request: StoredImproveRequest) {
  const taken = await improveRequests.take(request, new Date(clock.now().getTime() + TAKEN_MS));
  if (taken === null) return;
  const { tenant, user, session, dataset, keyId } = taken;
  const details = { id: ids.uuid(), datasetId: dataset, sessionIds: [session], options: null, isAutomatic: true };
  const scope = { tenant, dataset };
  const job = improveJob(details, { id: user, tenant, keyId }, `${IMPROVE_JOB}:${taken.id}`);
  // Else a job for the same session is queued or running; it may have read the session already, so the request stays.
  if (!(await ignoreDuplicate(store.commit(scope, workQueue.enqueueWrites(scope, job).writes)))) return;
  await improveRequests.settle(taken);
  await workQueue.wake(IMPROVE_JOB).catch(() => null); // a lost message delays it until the next poll
}

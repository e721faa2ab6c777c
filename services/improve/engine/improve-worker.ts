import { isTerminal } from '../../common/domain/run.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { authoriseJob } from '../../common/platform/jobs/job-authority.ts';
import type { JobFailureRules } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker, type JobWorker } from '../../common/platform/jobs/job-worker.ts';
import { isTransient } from '../../common/platform/jobs/run-error.ts';
import { NO_TRACER, type TraceRoot } from '../../common/ports/tracer.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import { claimKeys, ownerOf } from '../../common/records/improve/improve-claims.ts';
import { defaultOptions, isBudgetError } from '../model.ts';
import { holdClaim } from './held-claim.ts';
import { IMPROVE_JOB, type ReadOrder, readOrder } from './improve-job.ts';
import { type ImproveParts, type ImproveRequest, keysOf, runPasses } from './improve-passes.ts';
import { type ImproveResult, statusOf } from './improve-result.ts';
import { recordImprove } from './record-improve.ts';

/** Attempts of an automatic improve, after which its job is a dead letter. */
const MAX_AUTOMATIC_ATTEMPTS = 8;

/** How often a job checks whether its dataset and sessions are free. */
const LOCK_POLL_MS = 2000;

/** Runs queued improves, one after the other per dataset. When it stops, another worker continues them, or the next start. */
export function createImproveWorker(parts: ImproveParts): JobWorker {
  return createJobWorker(parts, {
    name: 'improve',
    handlers: { [IMPROVE_JOB]: { drive: (job, lease) => drive(parts, job, lease), failures: FAILURES } },
    settings: parts.settings,
  });
}

const FAILURES: JobFailureRules = {
  decide(error) {
    if (isRefused(error) || (isEngramError(error) && error.wireName === 'CancelledError')) return 'end';
    return isTransient(error) ? 'retry' : 'dead';
  },
};

async function drive(parts: ImproveParts, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { tracer = NO_TRACER } = parts;
  const order = await readOrder(job.payload).catch((error: unknown) => {
    throw engramError('CorruptStoreError', String(error));
  });
  await tracer.root(rootOf(order, job), () => carryOut(parts, { job, order, lease }));
}

function rootOf({ id, datasetId, userId, userTenant, trace }: ReadOrder, { attempt }: ClaimedJob): TraceRoot {
  const attributes = { run_id: id, dataset_id: datasetId, attempt };
  return { name: 'run improve', owner: { user: asId(userId), tenant: asId(userTenant) }, attributes, continues: trace };
}

interface ClaimedOrder {
  readonly job: ClaimedJob;
  readonly order: ReadOrder;
  readonly lease: JobLease;
}

async function carryOut(parts: ImproveParts, { job, order, lease }: ClaimedOrder): Promise<void> {
  const { workQueue, settings, logger, store } = parts;
  const { id, datasetId, sessionIds, userId, userTenant, keyId } = order;
  const asking = { requestId: id, signal: lease.signal };
  const authority = await authoriseJob(
    parts,
    { userId, tenant: userTenant, datasetIds: [datasetId], keyId },
    asking,
  ).catch(async (error: unknown) => {
    if (isRefused(error)) await releaseClaim(parts, order);
    throw error;
  });
  const { dataset, principal, context } = authority;
  const options = order.options ?? defaultOptions(settings.feedbackAlpha);
  const request: ImproveRequest = { dataset, principal, context, sessionIds, options };
  const held = await holdClaim(parts, keysOf(request), ownerOf(id, job.fencingToken));
  if (held === null) {
    await workQueue.release(job, LOCK_POLL_MS);
    return;
  }
  logger.info('improve.claimed', { runId: id, datasetId, sessions: sessionIds.length, attempt: job.attempt });
  const runId = await runIdOf(parts, id, job);
  const result = await recordImprove(
    parts,
    { id: runId, dataset, background: true, sessionIds, context },
    async (idleRuns) => ({
      dataset,
      sessionIds,
      background: true,
      finished: true,
      rerunRequested: false,
      ...(await runPasses(parts, request, { held, stop: lease.signal, idleRuns })),
    }),
  );
  if (order.isAutomatic && statusOf(result) === 'errored') return await retryLater(parts, job, result);
  await store.commit(job.scope, workQueue.completeWrites(job));
  logger.info('improve.ended', { runId: id, datasetId, status: statusOf(result) });
}

/** Releases the claim of the request whose job is refused, so that it does not block others until its lease is over. */
async function releaseClaim({ claims }: ImproveParts, order: ReadOrder): Promise<void> {
  const { id, datasetId, sessionIds, userId, userTenant } = order;
  const sessions = sessionIds.map((session) => ({ user: asId<UserId>(userId), session }));
  await claims.release(claimKeys(asId(userTenant), datasetId, sessions), ownerOf(id, 0));
}

function isRefused(error: unknown): boolean {
  return isEngramError(error) && error.status === 403;
}

/** Returns the run id: the same for each attempt, unless the end of the attempt before was recorded. */
async function runIdOf({ messenger, ids }: ImproveParts, id: string, job: ClaimedJob): Promise<string> {
  if (job.attempt === 1) return id;
  const { run } = await messenger.call('cognify.GetRun', { runId: id }, { requestId: id });
  return run !== null && isTerminal(run.status) ? ids.uuid() : id;
}

/** Retries an improve without a client: its request is consumed, so its work must not be lost. */
async function retryLater({ workQueue, logger }: ImproveParts, job: ClaimedJob, result: ImproveResult): Promise<void> {
  const failed = [result.stages, ...result.rerunPasses].flat().find(({ status }) => status === 'errored');
  const error = { name: failed?.stage ?? 'improve', message: failed?.error ?? 'It failed.' };
  const isPermanent = isBudgetError(result.failure) || /^LLMPaymentRequiredError/.test(error.message);
  const retry = !isPermanent && job.attempt < MAX_AUTOMATIC_ATTEMPTS;
  logger.warn('improve.failed', { jobId: job.id, ...error, retry });
  await workQueue.fail(job, error, { retry });
}

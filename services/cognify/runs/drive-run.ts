import type { RunId } from '../../common/kernel/brand.ts';
import { clientMessage, engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { UserInTenant } from '../../common/kernel/principal.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { authoriseJob, type JobAuthority } from '../../common/platform/jobs/job-authority.ts';
import { HandOverError, handOver } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { isTransient } from '../../common/platform/jobs/run-error.ts';
import { describeRunError, type RunEnd } from '../../common/platform/jobs/run-recorder.ts';
import { type RunJob, readRunJob } from '../../common/platform/messaging/jobs.ts';
import type { MessageCaller, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { MonotonicClock } from '../../common/ports/system.ts';
import { NO_TRACER, type TraceRoot, type Tracer } from '../../common/ports/tracer.ts';
import { type ClaimedJob, LeaseLostError } from '../../common/ports/work-queue.ts';
import { datasetOf, runsCollection, type StoredRun } from '../../common/records/cognify/runs.ts';
import { update } from '../../common/storage/ports/document-store.ts';
import type { RunExecutor } from '../model.ts';
import { type ActiveRunDependencies, type AuthorisedClaim, commitAs, createActiveRun } from './active-run.ts';

interface DriveDependencies extends ActiveRunDependencies {
  readonly messenger: Messenger;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Absent: no traces are recorded. */
  readonly tracer?: Tracer;
}

/** Takes a claimed job to its end: completed, errored, handed over, or lost to another worker. Never throws. */
export async function driveRun(
  dependencies: DriveDependencies,
  executor: RunExecutor,
  job: ClaimedJob,
  lease: JobLease,
): Promise<void> {
  const { logger } = dependencies;
  const { runId, datasetId } = job.payload as RunJob;
  const fields = { runId, datasetId, attempt: job.attempt };
  try {
    const payload = await readJob(dependencies, job);
    if (payload !== null) await drive(dependencies, executor, { job, payload, lease });
  } catch (error) {
    const reason: unknown = lease.signal.reason instanceof LeaseLostError ? lease.signal.reason : error;
    if (reason instanceof LeaseLostError) {
      logger.warn('run.lease.lost', { ...fields, reason: reason.message });
    } else {
      // The state stays STARTED and the lease expires: another claim continues the run.
      logger.error('run.end.not_recorded', { ...fields, error });
      await publishInterrupted(dependencies, job, error);
    }
  }
}

/** Reads the payload of the job. Null when it is unreadable; the job is a dead letter then. */
async function readJob({ workQueue, logger }: DriveDependencies, job: ClaimedJob): Promise<RunJob | null> {
  try {
    return await readRunJob(job.payload);
  } catch (error) {
    logger.error('run.job.unreadable', { jobId: job.id, error });
    await workQueue.fail(job, { name: 'CorruptStoreError', message: String(error) }, { retry: false });
    return null;
  }
}

/** Notifies clients that wait for the run; without it they would wait until the store can be written again. */
async function publishInterrupted(
  { runs, recorder, logger }: DriveDependencies,
  job: ClaimedJob,
  error: unknown,
): Promise<void> {
  const { runId, datasetId } = job.payload as RunJob;
  const reason = isEngramError(error) ? clientMessage(error) : 'its end could not be recorded.';
  try {
    const run = await runs.get(datasetScope(job.scope.tenant, asId(datasetId)), asId<RunId>(runId));
    if (run !== null) await recorder.publish({ kind: 'interrupted', run: run.state, reason });
  } catch (unreadable) {
    logger.error('run.read.failed', { runId, error: unreadable });
  }
}

type Claim = Pick<AuthorisedClaim, 'job' | 'payload' | 'lease'>;

async function drive(dependencies: DriveDependencies, executor: RunExecutor, claim: Claim): Promise<void> {
  const { store, runs, workQueue, maxStalledClaims } = dependencies;
  const { job, payload } = claim;
  const scope = datasetScope(job.scope.tenant, asId(payload.datasetId));
  const run = await runs.get(scope, asId<RunId>(payload.runId));
  if (run === null || run.state.status !== 'DATASET_PROCESSING_STARTED') {
    await commitAs(job, () => store.commit(scope, workQueue.completeWrites(job)));
    return;
  }
  if (run.stalledClaims >= maxStalledClaims) {
    const message = `The run made no progress in ${run.stalledClaims} attempts.`;
    await finish(dependencies, claim, run, {
      error: describeRunError(engramError('AbandonedPipelineRunError', message)),
    });
    return;
  }
  const counted = update(runsCollection, run.state.id, { increment: { stalledClaims: 1 } });
  await commitAs(job, () => store.commit(scope, [...workQueue.heldWrites(job), counted]));
  const authority = await authorise(dependencies, claim, run);
  if (authority !== null) await execute(dependencies, executor, { ...claim, run, authority });
}

/** Authorises the user of the run. Null when that fails; the run was ended or put back into the queue then. */
async function authorise(dependencies: DriveDependencies, claim: Claim, run: StoredRun): Promise<JobAuthority | null> {
  const { workQueue } = dependencies;
  const { userId, userTenant, datasetId } = claim.payload;
  try {
    const account = { userId, tenant: userTenant, datasetIds: [datasetId] };
    return await authoriseJob(dependencies, account, { requestId: run.state.id, signal: claim.lease.signal });
  } catch (error) {
    const described = describeRunError(error);
    if (!isTransient(error)) {
      await finish(dependencies, claim, run, { error: described });
      return null;
    }
    const fate = await workQueue.fail(
      claim.job,
      { name: described.errorClass, message: described.message },
      { retry: true },
    );
    if (fate === 'dead') await dependencies.recorder.ended(run, datasetOf(run), { error: described });
    return null;
  }
}

async function execute(dependencies: DriveDependencies, executor: RunExecutor, claim: AuthorisedClaim): Promise<void> {
  const { store, workQueue, logger, tracer = NO_TRACER } = dependencies;
  const { job, lease, run, authority } = claim;
  const { active, outcome } = createActiveRun(dependencies, claim);
  const fields = { runId: run.state.id, pipeline: run.state.pipeline, datasetId: authority.dataset.id };
  logger.info('run.claimed', { ...fields, attempt: job.attempt });
  try {
    const user = { principal: authority.principal, requestId: run.state.id };
    const report = await keepTenantAwakeWhile(dependencies, user, () =>
      tracer.root(rootOf(claim), () => executor.execute(active)),
    );
    lease.signal.throwIfAborted();
    const { counts, outcome: kind, itemError } = report;
    await finish(dependencies, claim, run, {
      ...outcome(),
      counts,
      ...(kind === undefined ? {} : { outcome: kind }),
      ...(itemError === undefined ? {} : { itemError }),
    });
    logger.info('run.completed', { ...fields, ...counts });
  } catch (error) {
    const reason: unknown = lease.signal.aborted ? lease.signal.reason : error;
    if (reason instanceof LeaseLostError) throw reason;
    if (reason instanceof HandOverError) {
      // A claim that was stopped says nothing about the run.
      const stalledClaims = run.stalledClaims + 1;
      const uncounted = update(runsCollection, run.state.id, {
        where: { stalledClaims },
        increment: { stalledClaims: -1 },
      });
      await commitAs(job, () => store.commit(run.scope, [...workQueue.heldWrites(job), uncounted]));
      await handOver(workQueue, job);
      logger.info('run.handed_over', fields);
      return;
    }
    if (dependencies.onStoreFailure === 'retry' && isTransient(reason)) {
      const { errorClass: name, message } = describeRunError(reason);
      await workQueue.fail(job, { name, message }, { retry: true });
      logger.warn('run.postponed', { ...fields, reason: message });
      await publishInterrupted(dependencies, job, reason);
      return;
    }
    logger.error('run.errored', { ...fields, error: reason });
    await finish(dependencies, claim, run, { ...outcome(), error: describeRunError(reason) });
  }
}

/** Returns the root span of the run: it continues the trace of the request that started it, and belongs to its user. */
function rootOf({ job, payload, run, authority }: AuthorisedClaim): TraceRoot {
  const { id: user, tenant } = authority.principal;
  return {
    name: `run ${run.state.pipeline}`,
    owner: { user, tenant },
    attributes: { run_id: run.state.id, dataset_id: authority.dataset.id, attempt: job.attempt },
    continues: payload.trace,
  };
}

/** Ends run and job in one commit; throws `LeaseLostError` when another worker has the job. */
async function finish(dependencies: DriveDependencies, claim: Claim, run: StoredRun, end: RunEnd): Promise<void> {
  const { store, recorder, workQueue } = dependencies;
  const writes = workQueue.completeWrites(claim.job);
  await commitAs(claim.job, async () => {
    const state = await recorder.ended(run, datasetOf(run), end, writes);
    if (state === null) await store.commit(run.scope, writes);
  });
}

/** A tenant is put to sleep after ten minutes without use, or later. */
const KEEPALIVE_MS = 300_000;

/** Reports to auth, as long as `work` lasts, that the tenant is in use: the claim of a run alone counts for a moment only. */
export async function keepTenantAwakeWhile<Result>(
  { messenger, logger }: { readonly messenger: MessageCaller; readonly logger: Pick<Logger, 'warn'> },
  { principal, requestId }: { readonly principal: UserInTenant; readonly requestId: string },
  work: () => Promise<Result>,
  everyMs = KEEPALIVE_MS,
): Promise<Result> {
  const { id: userId, tenant } = principal;
  const report = () =>
    void messenger
      .call('auth.GetPrincipal', { userId, tenant }, { requestId })
      .catch((error: unknown) => logger.warn('run.keepalive.failed', { tenant, error }));
  const timer = setInterval(report, everyMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { type DatasetScope, datasetScope } from '../../common/kernel/scope.ts';
import { HandOverError, handOver } from '../../common/platform/jobs/hand-over.ts';
import { authoriseJob } from '../../common/platform/jobs/job-authority.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { isPassing } from '../../common/platform/jobs/run-error.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { type RecordRunRequest, recordRun } from '../../common/platform/messaging/methods/cognify.ts';
import { type ClaimedJob, LeaseLostError } from '../../common/ports/work-queue.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { asEraser } from '../forgetting/as-eraser.ts';
import { type AddOutcome, addData } from './add-data.ts';
import {
  type AdditionOrder,
  endAddition,
  readAddition,
  readOrder,
  recordAdditionStart,
} from './background-additions.ts';
import type { RefusedInput } from './refused-input.ts';
import { buildAdded } from './remember-data.ts';

/** Names of refused inputs in the one line that a run keeps. */
const MAX_NAMED = 3;

interface Addition {
  readonly order: AdditionOrder;
  readonly job: ClaimedJob;
  readonly scope: DatasetScope;
}

/** Takes a claimed addition to its end, puts it back, or loses it to another worker. */
export async function driveAddition(dependencies: IngestDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { workQueue, logger } = dependencies;
  let addition: Addition;
  try {
    const order = readOrder(job.payload);
    addition = { order, job, scope: datasetScope(job.scope.tenant, asId(order.datasetId)) };
  } catch (error) {
    logger.error('ingest.addition.unreadable', { jobId: job.id, error });
    await workQueue.fail(job, describeFailure(error), { retry: false });
    return;
  }
  try {
    await carryOut(dependencies, addition, lease.signal);
  } catch (error) {
    await settleFailure(dependencies, addition, lease.signal.aborted ? lease.signal.reason : error);
  }
}

/** Adding is idempotent by content, so that an attempt after a killed one answers the items that are there. */
async function carryOut(dependencies: IngestDependencies, addition: Addition, signal: AbortSignal): Promise<void> {
  const { logger, blobs } = dependencies;
  const { order, job, scope } = addition;
  const { runId, userId, userTenant: tenant, datasetId, keyId, origin } = order;
  const asking = { requestId: runId, signal, ...(origin === null ? {} : { origin }) };
  const authority = await authoriseJob(dependencies, { userId, tenant, keyId, datasetId }, asking);
  const { principal, dataset } = authority;
  const context: CallContext = { ...authority.context, signal };
  await recordAdditionStart(dependencies, { order, jobId: job.id, dataset, context });
  const accepted = await readAddition(blobs, scope, runId);
  if (accepted !== null) {
    const request = { principal, dataset, context, signal, ...accepted };
    const outcome = await addData(dependencies, request);
    await recordEnd(dependencies, { order, dataset, context }, completed(outcome));
    logger.info('ingest.addition.completed', { runId, datasetId, items: outcome.added.length });
    const items = new Set(outcome.added.map(({ item }) => item.id as string));
    if (accepted.build !== null) await build(dependencies, { ...request, ...accepted.build, items, background: true });
  }
  await endAddition(dependencies, scope, job);
}

/** What was added is there: a graph that cannot be built is the failure of its own run. */
async function build(dependencies: IngestDependencies, request: Parameters<typeof buildAdded>[1]): Promise<void> {
  try {
    await buildAdded(dependencies, request);
  } catch (error) {
    if (request.context.signal?.aborted === true || !isEngramError(error) || isPassing(error)) throw error;
    dependencies.logger.warn('ingest.addition.build_failed', { datasetId: request.dataset.id, error });
  }
}

function completed({ added, refused }: AddOutcome): RunEnd {
  return {
    status: 'DATASET_PROCESSING_COMPLETED',
    items: added.map(({ item }) => item.id),
    ...(refused.length === 0 ? {} : { error: { name: 'PipelineRunFailedError', message: lineOf(refused) } }),
  };
}

function lineOf(refused: readonly RefusedInput[]): string {
  const named = refused
    .slice(0, MAX_NAMED)
    .map(({ index, name, error }) => `'${name ?? `text ${index + 1}`}': ${error.message}`);
  const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : '';
  return `${refused.length === 1 ? '1 input was' : `${refused.length} inputs were`} refused. ${named.join(' ')}${more}`;
}

type RunEnd = Pick<RecordRunRequest, 'status' | 'items' | 'error'>;

async function recordEnd(
  { messenger }: Pick<IngestDependencies, 'messenger'>,
  run: { readonly order: AdditionOrder; readonly dataset: DatasetRef; readonly context: CallContext },
  end: RunEnd,
): Promise<void> {
  const record = { dataset: run.dataset, pipeline: 'add_pipeline', runId: run.order.runId, ...end };
  await messenger.call(recordRun, record, run.context);
}

/** Retries what passes by itself, ends the run with what does not, and leaves the job alone when another worker has it. */
async function settleFailure(dependencies: IngestDependencies, addition: Addition, error: unknown): Promise<void> {
  const { workQueue, logger } = dependencies;
  const { job, order } = addition;
  const fields = { jobId: job.id, runId: order.runId };
  if (error instanceof LeaseLostError) {
    logger.warn('ingest.addition.lease_lost', { ...fields, reason: error.message });
    return;
  }
  if (error instanceof HandOverError) return handOver(workQueue, job);
  const failure = describeFailure(error);
  if (isPassing(error)) {
    logger.warn('ingest.addition.postponed', { ...fields, reason: failure.message });
    const fate = await workQueue.fail(job, failure, { retry: true });
    // A dead letter keeps its inputs: it can be replayed.
    if (fate === 'dead') await recordFailure(dependencies, addition, failure);
    return;
  }
  logger.error('ingest.addition.failed', { ...fields, error });
  await recordFailure(dependencies, addition, failure);
  await endAddition(dependencies, addition.scope, job);
}

/** Speaks for the owner of the dataset: the account that sent the data may be gone. */
async function recordFailure(
  dependencies: IngestDependencies,
  { order, scope }: Addition,
  error: RunFailure,
): Promise<void> {
  const dataset = await dependencies.datasets.get(scope, scope.dataset);
  const context = dataset === null ? null : await asEraser(dependencies, dataset, new AbortController().signal);
  if (dataset === null || context === null) return;
  await recordEnd(dependencies, { order, dataset, context }, { status: 'DATASET_PROCESSING_ERRORED', error });
}

type RunFailure = NonNullable<RecordRunRequest['error']>;

function describeFailure(error: unknown): RunFailure {
  if (!isEngramError(error)) return { name: 'CogneeSystemError', message: 'internal error' };
  const { errorClass: name, message } = describeRunError(error);
  return { name, message };
}

import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { authoriseJob } from '../../common/platform/jobs/job-authority.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker, type JobWorker, type JobWorkerSettings } from '../../common/platform/jobs/job-worker.ts';
import { isTransient } from '../../common/platform/jobs/run-error.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { impersonateOwner } from '../forgetting/impersonate-owner.ts';
import { type AddOutcome, addData } from './add-data.ts';
import {
  ADDITION_JOB,
  type AdditionOrder,
  readAddition,
  readOrder,
  recordAdditionStart,
  removeInputs,
} from './background-additions.ts';
import type { RefusedInput } from './refused-input.ts';
import { buildAdded } from './remember-data.ts';

const SETTINGS: Omit<JobWorkerSettings, 'drainMs'> = { leaseMs: 15_000, pollMs: 1000, maxConcurrent: 16 };

/**
 * Adds what was accepted with `run_in_background`. When the process stops, the next one goes on with it. An addition is tried
 * again while a store or a service is away; any other failure ends it, and its run says why.
 */
export function createAdditionWorker(dependencies: IngestDependencies): JobWorker {
  return createJobWorker(dependencies, {
    name: 'ingest.addition',
    handlers: {
      [ADDITION_JOB]: {
        drive: (job, lease) => driveAddition(dependencies, job, lease),
        failures: {
          decide(error) {
            if (isTransient(error)) return 'retry';
            return isEngramError(error) && error.wireName === 'CorruptStoreError' ? 'dead' : 'end';
          },
          async record(job, error, fate) {
            if (fate === 'end') await failAddition(dependencies, job, error);
            // A dead letter keeps its inputs: it can be replayed.
            else if (fate === 'dead' && isTransient(error)) await recordFailure(dependencies, job, error);
          },
        },
      },
    },
    settings: { ...SETTINGS, drainMs: dependencies.settings.drainMs },
  });
}

/** Names of refused inputs in the one line that a run keeps. */
const MAX_NAMED = 3;

type Addition = ReturnType<typeof additionOf>;

async function driveAddition(dependencies: IngestDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  await carryOut(dependencies, additionOf(job), lease.signal);
}

/** `CorruptStoreError`, see `readOrder`. */
function additionOf(job: ClaimedJob) {
  const order = readOrder(job.payload);
  return { order, job, scope: datasetScope(job.scope.tenant, asId(order.datasetId)) };
}

/** Adding is idempotent by content, so that an attempt after a killed one answers the items that are there. */
async function carryOut(dependencies: IngestDependencies, addition: Addition, signal: AbortSignal): Promise<void> {
  const { logger, blobs } = dependencies;
  const { order, job, scope } = addition;
  const { runId, userId, userTenant: tenant, datasetId, keyId, origin } = order;
  const asking = { requestId: runId, signal, ...(origin === null ? {} : { origin }) };
  const authority = await authoriseJob(dependencies, { userId, tenant, keyId, datasetIds: [datasetId] }, asking);
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
  await removeInputs(dependencies, scope, job);
  await dependencies.store.commit(scope, dependencies.workQueue.completeWrites(job));
}

/** Builds the graph of the added items, which are stored: a graph that cannot be built is the failure of its own run. */
async function build(dependencies: IngestDependencies, request: Parameters<typeof buildAdded>[1]): Promise<void> {
  try {
    await buildAdded(dependencies, request);
  } catch (error) {
    if (request.context.signal?.aborted === true || !isEngramError(error) || isTransient(error)) throw error;
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

type RunEnd = Pick<RequestOf<'cognify.RecordRun'>, 'status' | 'items' | 'error'>;

async function recordEnd(
  { messenger }: IngestDependencies,
  run: { readonly order: AdditionOrder; readonly dataset: DatasetRef; readonly context: CallContext },
  end: RunEnd,
): Promise<void> {
  const record = { dataset: run.dataset, pipeline: 'add_pipeline', runId: run.order.runId, ...end };
  await messenger.call('cognify.RecordRun', record, run.context);
}

/** Records that an addition failed for good, and removes its inputs. */
async function failAddition(dependencies: IngestDependencies, job: ClaimedJob, error: unknown): Promise<void> {
  await recordFailure(dependencies, job, error);
  await removeInputs(dependencies, additionOf(job).scope, job);
}

/** Speaks for the owner of the dataset: the account that sent the data may be gone. */
async function recordFailure(dependencies: IngestDependencies, job: ClaimedJob, error: unknown): Promise<void> {
  const { order, scope } = additionOf(job);
  const dataset = await dependencies.datasets.get(scope, scope.dataset);
  const context = dataset === null ? null : await impersonateOwner(dependencies, dataset, new AbortController().signal);
  if (dataset === null || context === null) return;
  const end: RunEnd = { status: 'DATASET_PROCESSING_ERRORED', error: describeFailure(error) };
  await recordEnd(dependencies, { order, dataset, context }, end);
}

type RunFailure = NonNullable<RequestOf<'cognify.RecordRun'>['error']>;

function describeFailure(error: unknown): RunFailure {
  if (!isEngramError(error)) return { name: 'CogneeSystemError', message: 'internal error' };
  const { errorClass: name, message } = describeRunError(error);
  return { name, message };
}

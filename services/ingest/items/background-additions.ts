import { Readable } from 'node:stream';
import { json as readJson } from 'node:stream/consumers';
import type { RunOrigin } from '../../common/domain/run.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { Input } from './input-source.ts';
import type { ItemAnnotations } from './item-annotations.ts';
import type { BuildRequest } from './remember-data.ts';

/** Kind of the jobs that add what was accepted with `run_in_background`. */
export const ADDITION_JOB = 'addition';

/** Inputs that were accepted with `run_in_background` and are not yet items. */
interface BackgroundAddition {
  readonly inputs: readonly Input[];
  readonly annotations: ItemAnnotations;
  /** `/remember`: the graph is built afterwards, and improved where that is switched on. Null: `/add`. */
  readonly build: BuildRequest | null;
}

/** Payload of the job; the inputs are blobs beside those of the dataset. */
export interface AdditionOrder {
  readonly runId: string;
  readonly datasetId: string;
  readonly userId: string;
  readonly userTenant: string;
  readonly keyId: string | null;
  readonly origin: RunOrigin | null;
}

type UploadInput = Extract<Input, { readonly kind: 'upload' }>;
type StoredInput =
  | Exclude<Input, { readonly kind: 'upload' }>
  | (Omit<UploadInput, 'file'> & { readonly file: Omit<UploadInput['file'], 'open'> });

interface StoredAddition extends Omit<BackgroundAddition, 'inputs'> {
  readonly inputs: readonly StoredInput[];
}

/**
 * Stores the inputs and queues the job that adds them; both survive `kill -9` when it resolves. The run `runId` is STARTED
 * from then on. The blobs stay declared as uncommitted (`blob_intents`) until the job has ended.
 */
export async function acceptAddition(
  dependencies: IngestDependencies,
  request: {
    readonly runId: string;
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly addition: BackgroundAddition;
    readonly context: CallContext;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { store, workQueue, intents, clock, logger } = dependencies;
  const { runId, principal, dataset, context } = request;
  const scope = scopeOf(dataset);
  const order: AdditionOrder = {
    runId,
    datasetId: dataset.id,
    userId: principal.id,
    userTenant: principal.tenant,
    keyId: principal.key?.id ?? null,
    origin: context.origin ?? null,
  };
  const { jobId, writes } = workQueue.enqueueWrites(scope, {
    kind: ADDITION_JOB,
    payload: { ...order },
    idempotencyKey: runId,
    maxAttempts: MAX_ATTEMPTS,
  });
  await intents.declare(scope, jobId, [prefixOf(runId)], clock.now().toISOString());
  await storeAddition(dependencies.blobs, scope, { ...request, runId });
  await store.commit(scope, writes);
  await recordAdditionStart(dependencies, { order, jobId, dataset, context: { ...context, principal } });
  void workQueue.wake(ADDITION_JOB).catch((error: unknown) => logger.warn('ingest.addition.wake_failed', { error }));
}

/** Attempts of one addition while a store or a service is away: with the back-off of the queue about an hour. */
const MAX_ATTEMPTS = 20;

/** Recording the same start twice is harmless: a process that was killed between commit and record does it on its next claim. */
export async function recordAdditionStart(
  { messenger }: IngestDependencies,
  {
    order: { runId },
    jobId,
    dataset,
    context,
  }: {
    readonly order: AdditionOrder;
    readonly jobId: string;
    readonly dataset: DatasetRef;
    readonly context: CallContext;
  },
): Promise<void> {
  const record = { dataset, pipeline: 'add_pipeline', runId, jobId, background: true } as const;
  await messenger.call('cognify.RecordRun', { ...record, status: 'DATASET_PROCESSING_STARTED' }, context);
}

/** Null when the blobs are gone, because the addition has ended. */
export async function readAddition(
  blobs: BlobStore,
  scope: DatasetScope,
  runId: string,
): Promise<BackgroundAddition | null> {
  const content = await blobs.get(scope, requestKey(runId));
  if (content === null) return null;
  const { inputs, ...rest } = (await readJson(content)) as unknown as StoredAddition;
  const open = (index: number) => (): Readable =>
    Readable.from(contentOf(blobs, scope, inputKey(runId, index)), { objectMode: false });
  return {
    ...rest,
    inputs: inputs.map(
      (input, index): Input =>
        input.kind === 'upload' ? { ...input, file: { ...input.file, open: open(index) } } : input,
    ),
  };
}

/** Removes the inputs of an addition that is over; a repetition finds nothing left. */
export async function removeInputs({ blobs, intents }: IngestDependencies, scope: DatasetScope, job: ClaimedJob) {
  const { runId } = readOrder(job.payload);
  await blobs.removeAll(scope, prefixOf(runId));
  await intents.settle(scope, job.id);
}

/** `CorruptStoreError` for a payload that no version of this service has written. */
export function readOrder(payload: JsonObject): AdditionOrder {
  const { runId, datasetId, userId, userTenant, keyId = null, origin = null } = payload;
  const isText = (value: unknown): value is string => typeof value === 'string';
  if (!isText(runId) || !isText(datasetId) || !isText(userId) || !isText(userTenant)) {
    throw engramError('CorruptStoreError', 'The payload of an addition job lacks its run, dataset or user.');
  }
  return { runId, datasetId, userId, userTenant, keyId: keyId as string | null, origin: origin as RunOrigin | null };
}

/** Below it are the inputs of one addition. */
function prefixOf(runId: string): string {
  return `additions/${runId}/`;
}

function requestKey(runId: string): string {
  return `${prefixOf(runId)}request`;
}

function inputKey(runId: string, index: number): string {
  return `${prefixOf(runId)}${index}`;
}

async function storeAddition(
  blobs: BlobStore,
  scope: DatasetScope,
  {
    runId,
    addition: { inputs, ...rest },
    signal,
  }: { readonly runId: string; readonly addition: BackgroundAddition; readonly signal: AbortSignal },
): Promise<void> {
  const stored: StoredInput[] = [];
  for (const [index, input] of inputs.entries()) {
    if (input.kind !== 'upload') {
      stored.push(input);
      continue;
    }
    const { open, ...facts } = input.file;
    await blobs.put(scope, inputKey(runId, index), open(), signal);
    stored.push({ ...input, file: facts });
  }
  const request: StoredAddition = { ...rest, inputs: stored };
  await blobs.put(scope, requestKey(runId), Buffer.from(JSON.stringify(request)), signal);
}

async function* contentOf(blobs: BlobStore, scope: DatasetScope, key: string): AsyncGenerator<Buffer> {
  const content = await blobs.get(scope, key);
  if (content === null) throw engramError('DataNotFoundError', 'An input that was accepted in the background is gone.');
  yield* content as AsyncIterable<Buffer>;
}

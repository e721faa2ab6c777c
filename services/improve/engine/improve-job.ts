import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { type RunJob, readRunJob } from '../../common/platform/messaging/jobs.ts';
import type { NewJob } from '../../common/ports/work-queue.ts';
import type { ImproveOptions } from '../stage.ts';

export const IMPROVE_JOB = 'improve';

/** It is the worker that counts: one that waits for another improve has done nothing wrong. */
const MAX_ATTEMPTS = 1_000_000;

/** What an improve in the background was asked for. */
export interface ImproveOrder {
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

import type { JsonObject } from '../../common/kernel/json.ts';
import { type NewJob, UNLIMITED_ATTEMPTS } from '../../common/ports/work-queue.ts';
import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';

export const SYNC_JOB = 'sync';

/**
 * All that it needs is in its run. The worker itself counts, and ends the run: a job that died without it would keep its user
 * from ever syncing again.
 */
export function syncJob({ id }: Pick<SyncRun, 'id'>): NewJob {
  return { kind: SYNC_JOB, payload: { runId: id }, idempotencyKey: id, maxAttempts: UNLIMITED_ATTEMPTS };
}

/** Null when it is no such job. */
export function runIdOf({ runId }: JsonObject): string | null {
  return typeof runId === 'string' ? runId : null;
}

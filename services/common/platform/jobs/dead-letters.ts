import type { DeadLetter, DeadLetters } from '../../ports/work-queue.ts';
import { type DocumentStore, DuplicateKeyError, update } from '../../storage/ports/document-store.ts';
import { jobsCollection, type StoredJob, waiting } from './job-document.ts';

export interface DeadLettersOptions {
  readonly store: DocumentStore;
  readonly nowMs: () => number;
  /** Tells the workers of the kind that there is a job again. */
  readonly wake: (kind: string) => Promise<void>;
}

export function createDeadLetters({ store, nowMs, wake }: DeadLettersOptions): DeadLetters {
  return {
    async list(scope, { limit, after = null }) {
      const page = await store.find(scope, jobsCollection, {
        where: { state: 'dead' },
        sort: [{ field: 'sequence' }],
        limit,
        after,
      });
      return { items: page.items.map(letterOf), next: page.next };
    },
    async get(scope, jobId) {
      const job = await store.get(scope, jobsCollection, jobId);
      return job?.value.state === 'dead' ? letterOf(job) : null;
    },
    async replay(scope, jobId) {
      const job = await store.get(scope, jobsCollection, jobId);
      if (job?.value.state !== 'dead') return false;
      const fresh = { attempts: 0, cancelRequested: false, error: null, failedAt: null };
      const revive = update(jobsCollection, jobId, {
        where: { state: 'dead' },
        set: { ...waiting(nowMs()), ...fresh, unfinishedKey: job.value.idempotencyKey },
      });
      try {
        const [result] = await store.commit(scope, [revive]);
        if (result?.changed !== 1) return false;
      } catch (error) {
        if (error instanceof DuplicateKeyError) return false;
        throw error;
      }
      await wake(job.value.kind).catch(() => null); // a lost one costs a poll
      return true;
    },
  };
}

function letterOf({ id, value }: StoredJob): DeadLetter {
  const { kind, tenant, dataset, payload, attempts, error, failedAt } = value;
  return {
    ...{ id, kind, tenant, dataset, payload, attempts },
    error: error ?? { name: 'Error', message: '' },
    failedAt: failedAt ?? '',
  };
}

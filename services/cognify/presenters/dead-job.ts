import type { DeadLetter } from '../../common/ports/work-queue.ts';

/** A row of `/activity/jobs`. */
export function presentDeadJob({ id, kind, tenant, dataset, attempts, error, failedAt, payload }: DeadLetter): object {
  return {
    ...{ id, kind, tenant_id: tenant, dataset_id: dataset, attempts },
    pipeline_run_id: typeof payload['runId'] === 'string' ? payload['runId'] : null,
    error_class: error.name,
    error_message: error.message,
    failed_at: failedAt,
  };
}

import type { TenantId } from '../../common/kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection, orderingKeyOf } from '../../common/platform/jobs/job-document.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';

/** Who works on the jobs of an ordering key now; null: nobody. */
export async function runningJobOf(
  store: Pick<DocumentStore, 'find'>,
  tenant: TenantId,
  orderingKey: string,
): Promise<{ readonly worker: string; readonly fencingToken: number } | null> {
  const where = { runningKey: orderingKeyOf(tenant, orderingKey) };
  const { items } = await store.find(SYSTEM_SCOPE, jobsCollection, { where, limit: 1 });
  const [job] = items;
  return job === undefined ? null : { worker: job.value.worker ?? '', fencingToken: job.value.fencingToken };
}

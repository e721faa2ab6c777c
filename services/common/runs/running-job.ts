import type { TenantId } from '../domain/brand.ts';
import { SYSTEM_SCOPE } from '../domain/scope.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { jobsCollection, orderingKeyOf } from './job-document.ts';

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

import type { FindManagedResponse } from '../../common/platform/messaging/methods/auth-managed.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** See `findManaged` in common/platform/messaging/methods/auth-managed.ts. */
export async function findManaged(
  { managedResources, erasureReceipts }: Pick<AuthDependencies, 'managedResources' | 'erasureReceipts'>,
  crUid: string,
): Promise<FindManagedResponse['managed']> {
  const held = await managedResources.byResource(crUid);
  if (held !== null) return { tenantId: held.tenant, datasetId: held.dataset, isErasing: held.isErasing };
  const erased = await erasureReceipts.erasedBy(crUid);
  return erased === null ? null : { tenantId: erased.tenant, datasetId: erased.dataset, isErasing: true };
}

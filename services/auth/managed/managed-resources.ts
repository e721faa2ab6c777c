import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf } from '../../common/platform/messaging/messages.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { beingErased } from '../../common/records/auth/require-managed.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';

/**
 * Ends the management by the resource; what it declared stays, like changes that users made. A tenant remembers the resource,
 * `namespace/name`, which may adopt it again. False: the resource did not manage it. `ConflictError` once its erasure has
 * begun.
 */
export async function releaseManaged(
  deps: AuthDependencies,
  thing: ManagedThing,
  { crUid, resource }: { readonly crUid: string; readonly resource?: string | undefined },
): Promise<boolean> {
  const { managedResources, managedGrants, tenants } = deps;
  return retryOnConflict(async () => {
    const managed = await managedResources.of(thing);
    if (managed?.crUid !== crUid) return false;
    if (managed.isErasing) throw beingErased(thing);
    const { tenant, dataset } = thing;
    const isPlaced = dataset === null && resource !== undefined && (await tenants.get(tenant)) !== null;
    const writes: Write[] = [
      managedResources.keepWrite(managed),
      managedResources.removeWrite(thing),
      ...(dataset === null ? [] : [managedGrants.removeAllWrite(dataset)]),
      ...(isPlaced ? [tenants.changeWrite(tenant, { releasedFrom: resource })] : []),
    ];
    const action = dataset === null ? 'tenant.released' : 'dataset.released';
    const entry = { tenant, action, actor: null, subject: dataset ?? tenant, details: { resource: crUid } };
    await deps.audit.commit({ tenant }, writes, [entry]);
    if (dataset === null) deps.notify.tenantChanged(tenant);
    return true;
  });
}

/** Implements `auth.FindManaged`; proto/ has its rules. */
export async function findManaged(
  { managedResources, erasureReceipts }: AuthDependencies,
  crUid: string,
): Promise<AnswerOf<'auth.FindManaged'>['managed']> {
  const held = await managedResources.byResource(crUid);
  if (held !== null) return { tenantId: held.tenant, datasetId: held.dataset, isErasing: held.isErasing };
  const erased = await erasureReceipts.erasedBy(crUid);
  return erased === null ? null : { tenantId: erased.tenant, datasetId: erased.dataset, isErasing: true };
}

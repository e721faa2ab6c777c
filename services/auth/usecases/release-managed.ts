import { VersionConflictError, type Write } from '../../common/ports/document-store.ts';
import type { ManagedThing } from '../../common/repositories/managed-resources.ts';
import { beingErased } from '../../common/repositories/require-managed.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * The resource manages the thing no more; what it declared stays, and counts as if somebody had done it by hand. False: the
 * resource did not manage it. `ConflictError` once the erasure of the thing has begun: nobody gets half of it.
 */
export async function releaseManaged(deps: AuthDependencies, thing: ManagedThing, crUid: string): Promise<boolean> {
  const { managedResources, managedGrants } = deps;
  for (;;) {
    const managed = await managedResources.of(thing);
    if (managed?.crUid !== crUid) return false;
    if (managed.isErasing) throw beingErased(thing);
    const { tenant, dataset } = thing;
    const writes: Write[] = [
      managedResources.keepWrite(managed),
      managedResources.removeWrite(thing),
      ...(dataset === null ? [] : [managedGrants.removeAllWrite(dataset)]),
    ];
    const action = dataset === null ? 'tenant.released' : 'dataset.released';
    const entry = { tenant, action, actor: null, subject: dataset ?? tenant, details: { resource: crUid } };
    try {
      await deps.audit.commit({ tenant }, writes, [entry]);
    } catch (error) {
      if (error instanceof VersionConflictError) continue;
      throw error;
    }
    if (dataset === null) deps.news.tenantChanged(tenant);
    return true;
  }
}

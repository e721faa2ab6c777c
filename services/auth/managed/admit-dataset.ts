import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { AdmitDatasetRequest, AdmitOwnDatasetRequest } from '../../common/platform/messaging/methods/snapshots.ts';
import { beingErased, ownedByAnother } from '../../common/records/auth/require-managed.ts';
import { principalOf } from '../../common/records/auth/users.ts';
import { createDataset } from '../access/create-dataset.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { requireTenant } from '../tenants/tenant-authority.ts';

/** See `admitDataset` in common/platform/messaging/methods/snapshots.ts: rules and errors. */
export async function admitDataset(
  deps: AuthDependencies,
  { tenantId: tenant, datasetId, name, crUid }: AdmitDatasetRequest,
): Promise<void> {
  const { state, ownerId } = await requireTenant(deps, tenant);
  if (state === 'Erasing') throw beingErased({ tenant, dataset: null });
  const thing = { tenant, dataset: datasetId };
  const managed = await deps.managedResources.byResource(crUid);
  const present = await deps.datasets.get({ tenant }, datasetId);
  if (present !== null && managed?.dataset === datasetId) return;
  if (present !== null) throw ownedByAnother(thing);
  // Of a dataset that somebody removed.
  if (managed !== null && (managed.dataset === null || (await deps.datasets.get({ tenant }, managed.dataset)) !== null))
    throw engramError('InvalidRequestError', 'The resource manages something else already.');
  const owner = await deps.users.get(ownerId);
  if (owner === null) throw engramError('ConflictError', 'The tenant is changing hands.', { retryable: true });
  const since = deps.clock.now().toISOString();
  const made = await createDataset(deps, { ...principalOf(owner), tenant, isSuperuser: false }, name, {
    id: datasetId,
    writes: [
      ...(managed === null ? [] : [deps.managedResources.removeWrite(managed)]),
      deps.managedResources.insertWrite({ ...thing, crUid, isErasing: false, since }),
    ],
  });
  if (made.id !== datasetId) throw nameTaken('The tenant has', name);
  await deps.audit.record({
    tenant,
    action: 'dataset.managed',
    actor: null,
    subject: datasetId,
    details: { resource: crUid },
  });
}

/** See `admitOwnDataset` in common/platform/messaging/methods/snapshots.ts: rules and errors. */
export async function admitOwnDataset(
  deps: AuthDependencies,
  { datasetId, name }: AdmitOwnDatasetRequest,
  principal: Principal,
): Promise<void> {
  const made = await createDataset(deps, principal, name, { id: datasetId, writes: [] });
  if (made.id !== datasetId) throw nameTaken('You have', name);
  if (made.ownerId !== principal.id) throw ownedByAnother({ tenant: principal.tenant, dataset: datasetId });
}

function nameTaken(who: string, name: string) {
  return engramError(
    'EntityAlreadyExistsError',
    `${who} a dataset ${name} already; a snapshot becomes a new one, so choose another name or delete that one.`,
  );
}

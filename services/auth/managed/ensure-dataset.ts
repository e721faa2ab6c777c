import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import type { ManagedResource } from '../../common/records/auth/managed-resources.ts';
import { beingErased, ownedByAnother } from '../../common/records/auth/require-managed.ts';
import { principalOf } from '../../common/records/auth/users.ts';
import { createDataset } from '../access/datasets.ts';
import { requireTenant } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

/** Implements `auth.EnsureDataset`; proto/ has its rules and errors. */
export async function ensureDataset(
  deps: AuthDependencies,
  request: RequestOf<'auth.EnsureDataset'>,
): Promise<AnswerOf<'auth.EnsureDataset'>> {
  const { crUid, tenantId, name } = request;
  if (crUid === '') throw invalid('The resource has no uid.');
  if (name === '') throw engramError('InvalidDatasetNameError', 'Dataset name cannot be empty.');
  const { state } = await requireTenant(deps, tenantId);
  if (state === 'Erasing') throw beingErased({ tenant: tenantId, dataset: null });
  return retryOnConflict(async () => {
    const managed = await deps.managedResources.byResource(crUid);
    if (managed !== null) requireSame(managed, request);
    const known = managed?.dataset ?? null;
    const existing = known === null ? null : await deps.datasets.get({ tenant: tenantId }, known);
    if (existing !== null) return { dataset: datasetRef(existing), created: false };
    const found = await findOrCreate(deps, request);
    await manage(deps, { crUid, tenant: tenantId, before: managed, dataset: found.dataset.id });
    return found;
  });
}

function requireSame(managed: ManagedResource, { tenantId, datasetId }: RequestOf<'auth.EnsureDataset'>): void {
  if (managed.dataset === null) throw invalid('The resource manages a tenant.');
  if (managed.isErasing) throw beingErased(managed);
  const isOther = datasetId !== undefined && asId(datasetId) !== managed.dataset;
  if (managed.tenant !== tenantId || isOther)
    throw invalid(`The resource already manages the dataset ${managed.dataset}.`);
}

/** Returns the dataset to adopt, or the one that the tenant's owner has under the name, or creates it. */
async function findOrCreate(deps: AuthDependencies, { tenantId, name, datasetId }: RequestOf<'auth.EnsureDataset'>) {
  if (datasetId !== undefined) {
    const id = asId<DatasetId>(datasetId);
    const adopted = isUuid(datasetId) ? await deps.datasets.get({ tenant: tenantId }, id) : null;
    if (adopted !== null) return { dataset: datasetRef(adopted), created: false };
    throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found in this tenant.`);
  }
  const owner = await ownerOf(deps, tenantId);
  const [own] = await deps.datasets.ownedByName({ tenant: tenantId }, owner.id, [name]);
  if (own !== undefined) return { dataset: datasetRef(own), created: false };
  return { dataset: await createDataset(deps, owner, name), created: true };
}

async function ownerOf(deps: AuthDependencies, tenant: TenantId): Promise<Principal> {
  const { ownerId } = await requireTenant(deps, tenant);
  const owner = await deps.users.get(ownerId);
  if (owner === null)
    throw engramError('ConflictError', "The tenant's owner is being changed; retry.", { retryable: true });
  return { ...principalOf(owner), tenant, isSuperuser: false };
}

interface Management {
  readonly crUid: string;
  readonly tenant: TenantId;
  /** The record of the resource for a dataset that was removed since. */
  readonly before: ManagedResource | null;
  readonly dataset: DatasetId;
}

/** Records that the resource manages the dataset. `OwnedByAnother` when another resource does. */
async function manage(deps: AuthDependencies, { crUid, tenant, before, dataset }: Management): Promise<void> {
  const { managedResources, clock } = deps;
  if (before?.dataset === dataset) return;
  const thing = { tenant, dataset };
  const other = await managedResources.of(thing);
  if (other !== null && other.crUid !== crUid) throw ownedByAnother(thing);
  const since = clock.now().toISOString();
  await deps.audit.commit(
    { tenant },
    [
      ...(before === null ? [] : [managedResources.removeWrite(before)]),
      managedResources.insertWrite({ ...thing, crUid, isErasing: false, since }),
    ],
    [{ tenant, action: 'dataset.managed', actor: null, subject: dataset, details: { resource: crUid } }],
  );
}

function invalid(message: string) {
  return engramError('InvalidRequestError', message);
}

/** Implements `auth.AdmitDataset`; proto/ has its rules and errors. */
export async function admitDataset(
  deps: AuthDependencies,
  { tenantId: tenant, datasetId, name, crUid }: RequestOf<'auth.AdmitDataset'>,
): Promise<void> {
  const { state, ownerId } = await requireTenant(deps, tenant);
  if (state === 'Erasing') throw beingErased({ tenant, dataset: null });
  const thing = { tenant, dataset: datasetId };
  const managed = await deps.managedResources.byResource(crUid);
  const present = await deps.datasets.get({ tenant }, datasetId);
  if (present !== null && managed?.dataset === datasetId) return;
  if (present !== null) throw ownedByAnother(thing);
  // The record may be that of a dataset that was removed since.
  if (managed !== null && (managed.dataset === null || (await deps.datasets.get({ tenant }, managed.dataset)) !== null))
    throw engramError('InvalidRequestError', 'The resource already manages something else.');
  const owner = await deps.users.get(ownerId);
  if (owner === null)
    throw engramError('ConflictError', "The tenant's owner is being changed; retry.", { retryable: true });
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

/** Implements `auth.AdmitOwnDataset`; proto/ has its rules and errors. */
export async function admitOwnDataset(
  deps: AuthDependencies,
  { datasetId, name }: RequestOf<'auth.AdmitOwnDataset'>,
  principal: Principal,
): Promise<void> {
  const made = await createDataset(deps, principal, name, { id: datasetId, writes: [] });
  if (made.id !== datasetId) throw nameTaken('You have', name);
  if (made.ownerId !== principal.id) throw ownedByAnother({ tenant: principal.tenant, dataset: datasetId });
}

function nameTaken(who: string, name: string) {
  return engramError(
    'EntityAlreadyExistsError',
    `${who} a dataset ${name} already; a snapshot is restored as a new dataset, so choose another name or delete that one.`,
  );
}

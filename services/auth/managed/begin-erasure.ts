import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, ErasedThing } from '../../common/platform/messaging/messages.ts';
import { datasetRef, type StoredDataset } from '../../common/records/auth/datasets.ts';
import type { ManagedResource } from '../../common/records/auth/managed-resources.ts';
import { eraserOfTenant, requireManager } from '../../common/records/auth/require-managed.ts';
import { tenantNotFound } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

/** Ids of datasets that one answer has: the operator erases them and asks again. */
const PAGE = 100;
const NOTHING = { receipt: null, dataset: null, principal: null, datasetIds: [] };

/** Implements `auth.BeginErasure`, which proto/ describes, without the token of its answer. */
export async function beginErasure(
  deps: AuthDependencies,
  { tenantId: tenant, datasetId, crUid }: ErasedThing,
): Promise<StartedErasure> {
  const thing = { tenant, dataset: datasetId ?? null };
  const begin = () =>
    datasetId === undefined ? beginTenant(deps, tenant, crUid) : beginDataset(deps, { tenant, datasetId, crUid });
  const receipt = await deps.erasureReceipts.get(crUid, thing);
  if (receipt !== null) return { ...NOTHING, receipt };
  try {
    return await begin();
  } catch (error) {
    // The erasure may have ended meanwhile, and with it the record of the managing resource.
    const late = isEngramError(error) ? await deps.erasureReceipts.get(crUid, thing) : null;
    if (late === null) throw error;
    return { ...NOTHING, receipt: late };
  }
}

async function beginTenant(deps: AuthDependencies, id: TenantId, crUid: string): Promise<StartedErasure> {
  const thing = { tenant: id, dataset: null };
  return retryOnConflict(async () => {
    const tenant = await deps.tenants.get(id);
    if (tenant === null && (await deps.managedResources.of(thing)) === null) throw tenantNotFound(id);
    const managed = await requireManager(deps, thing, crUid);
    if (!managed.isErasing) {
      const writes = [
        deps.managedResources.eraseWrite(managed),
        // From here on credentials and jobs are refused in it.
        ...(tenant === null ? [] : [deps.tenants.changeWrite(id, { state: 'Erasing' })]),
      ];
      const entry = { tenant: id, action: 'tenant.erasing', actor: null, subject: id, details: { resource: crUid } };
      await deps.audit.commit({ tenant: id }, writes, [entry]);
      deps.notify.tenantChanged(id);
    }
    const datasets = await deps.datasets.ofTenant({ tenant: id }, PAGE);
    return { ...NOTHING, datasetIds: datasets.map((dataset) => dataset.id) };
  });
}

/** Answer without the token of the principal, which the service signs. */
type StartedErasure = Omit<AnswerOf<'auth.BeginErasure'>, 'token'>;

interface DatasetErasure {
  readonly tenant: TenantId;
  readonly datasetId: DatasetId;
  readonly crUid: string;
}

async function beginDataset(deps: AuthDependencies, erasure: DatasetErasure): Promise<StartedErasure> {
  const { tenant, datasetId } = erasure;
  return retryOnConflict(async () => {
    const dataset = await deps.datasets.get({ tenant }, datasetId);
    const managed = await managerOf(deps, erasure, dataset);
    await revokeGrants(deps, { ...erasure, managed, dataset });
    if (dataset === null) return NOTHING;
    return { ...NOTHING, dataset: datasetRef(dataset), principal: eraserOf(dataset) };
  });
}

/** The record of the dataset, or of its tenant while the whole tenant is being erased. */
async function managerOf(
  deps: AuthDependencies,
  { tenant, datasetId, crUid }: DatasetErasure,
  dataset: StoredDataset | null,
): Promise<ManagedResource> {
  const ofTenant = await eraserOfTenant(deps, tenant, crUid);
  if (ofTenant !== null) return ofTenant;
  const thing = { tenant, dataset: datasetId };
  if (dataset === null && (await deps.managedResources.of(thing)) === null) {
    throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  }
  return requireManager(deps, thing, crUid);
}

/** Revokes all grants but the owner's permission to delete. Writes once: the operator repeats the call. */
async function revokeGrants(
  deps: AuthDependencies,
  {
    tenant,
    datasetId,
    crUid,
    managed,
    dataset,
  }: DatasetErasure & { readonly managed: ManagedResource; readonly dataset: StoredDataset | null },
): Promise<void> {
  const after = dataset === null ? new Map() : await grantsAfter(deps, dataset);
  const isOwn = managed.dataset !== null && !managed.isErasing;
  if (after.size === 0 && !isOwn) return;
  const writes = [
    isOwn ? deps.managedResources.eraseWrite(managed) : deps.managedResources.keepWrite(managed),
    ...(await deps.grants.exactWrites({ tenant }, datasetId, after)),
  ];
  const entry = { tenant, action: 'dataset.erasing', actor: null, subject: datasetId, details: { resource: crUid } };
  await deps.audit.commit({ tenant }, writes, [entry]);
  deps.notify.accessChanged(tenant, null);
}

const DELETE: ReadonlySet<Permission> = new Set(['delete']);
const NONE: ReadonlySet<Permission> = new Set();

/** The permissions after the erasure has begun, of holders whose permissions change. */
async function grantsAfter({ grants }: AuthDependencies, { tenant, id, ownerId }: StoredDataset) {
  const present = await grants.onDataset({ tenant }, id);
  const after = new Map(present.filter(({ holder }) => holder !== ownerId).map(({ holder }) => [holder, NONE]));
  const own = present.find(({ holder }) => holder === ownerId)?.permissions ?? NONE;
  const isReady = own.size === 1 && own.has('delete');
  return isReady ? after : new Map([...after, [ownerId, DELETE] as const]);
}

/** Implements `auth.GetEraser`, which proto/ describes, without the token of its answer. */
export async function getEraser(
  { datasets }: AuthDependencies,
  { tenantId: tenant, datasetId }: { readonly tenantId: TenantId; readonly datasetId: DatasetId },
): Promise<Principal | null> {
  const dataset = await datasets.get({ tenant }, datasetId);
  return dataset === null ? null : eraserOf(dataset);
}

/** A principal with the owner's id, even if the account is gone, for erasing the dataset. */
function eraserOf({ ownerId, tenant }: StoredDataset): Principal {
  return { id: ownerId, email: '', tenant, isSuperuser: false, parentId: null };
}

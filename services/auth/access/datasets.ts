import { dataBill } from '../../common/domain/budget.ts';
import { isCanaryDataset } from '../../common/domain/canary.ts';
import { creatorHolders, requireDatasetCreation } from '../../common/domain/permissions.ts';
import type { DatasetId, UserId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { datasetId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { datasetScope, PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import { DuplicateKeyError, VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';

/** Attempts to create a dataset whose name is taken and then free again. */
const ATTEMPTS = 5;

/** A dataset whose data exists already, and what is to be committed with it. */
interface RestoredDataset {
  readonly id: DatasetId;
  readonly writes: readonly Write[];
}

/**
 * Creates the dataset with its grants, or returns the one that the principal owns under the name. Any well-formed Unicode
 * text is a name: stores write a lone surrogate as another character, so two names would become one. `PayloadTooLargeError`
 * when the budget allows no further dataset.
 */
export async function createDataset(
  deps: AuthDependencies,
  principal: Principal,
  name: string,
  restored: RestoredDataset | null = null,
): Promise<DatasetRef> {
  requireDatasetCreation(principal);
  if (!name.isWellFormed())
    throw engramError('InvalidDatasetNameError', 'Dataset name cannot contain invalid Unicode.');
  const id = restored?.id ?? datasetId(name, principal.id, wireTenant(principal.tenant));
  const scope = datasetScope(principal.tenant, id);
  const attempt = async (): Promise<DatasetRef> => {
    const existing = await deps.datasets.get(scope, id);
    if (existing !== null) return datasetRef(existing);
    const dataset: DatasetRef = {
      id,
      name,
      ownerId: principal.id,
      tenant: principal.tenant,
      createdAt: deps.clock.now().toISOString(),
      updatedAt: null,
    };
    // A snapshot that is restored brings with it who sees which of its items.
    const isRestricted = restored !== null && (await deps.sourceAccess.isRestricted(scope));
    const sourceAccess = isRestricted ? deps.ids.uuid() : null;
    try {
      const writes = [
        // A deletion of the account transfers the datasets that it finds: none may be created after that.
        ...(await presenceWrites(deps, principal)),
        deps.datasets.insertWrite(dataset, principal.key?.id, sourceAccess),
        ...(restored?.writes ?? []),
        ...deps.grants.insertAllWrites(id, creatorHolders(principal)),
        ...deps.eventLog.appendWrites(scope, [
          { type: 'dataset.created', subjectId: id, data: { ownerId: principal.id } },
        ]),
      ];
      const bill = dataBill(dataset, principal.key?.id, { datasets: 1 });
      await deps.budgets.charge(bill, (charged) => deps.store.commit(scope, [...charged, ...writes]));
      return dataset;
    } catch (error) {
      if (error instanceof VersionConflictError) throw accountEnded(error);
      if (!(error instanceof DuplicateKeyError)) throw error;
      // A dataset that was transferred from a deleted account may have the name; its id is derived from that account.
      const [own] = await deps.datasets.ownedByName({ tenant: principal.tenant }, principal.id, [name]);
      if (own !== undefined) return datasetRef(own);
      throw error;
    }
  };
  try {
    return await retryOnConflict(attempt, { attempts: ATTEMPTS });
  } catch (error) {
    throw error instanceof DuplicateKeyError ? createdAndRemoved(error) : error;
  }
}

/**
 * Writes that make the commit fail when the account is gone or no longer belongs to the tenant, as a member or as an agent
 * that was created there.
 */
async function presenceWrites({ users, memberships }: AuthDependencies, { id, tenant }: Principal) {
  if (tenant === PERSONAL_TENANT) return [users.touchWrite(id, { isActive: true })];
  if (!(await memberships.has(tenant, id))) return [users.touchWrite(id, { isActive: true, tenant })];
  return [users.touchWrite(id, { isActive: true }), memberships.touchWrite(tenant, id)];
}

function createdAndRemoved(cause: unknown) {
  return engramError('ConflictError', 'The dataset is being created and removed at the same time.', {
    cause,
    retryable: true,
  });
}

function accountEnded(cause: unknown) {
  return engramError('PermissionDeniedError', 'The account was deleted, deactivated or removed from the tenant.', {
    cause,
  });
}

/**
 * Removes the registry entry and all grants; false when it is gone already. The caller has checked the permission. A dataset
 * that is created again under the name has the same id, so the creation time must match: a late or repeated removal does not
 * take the new dataset.
 */
export async function removeDataset(deps: AuthDependencies, dataset: DatasetRef, by: UserId | null): Promise<boolean> {
  const scope = scopeOf(dataset);
  return retryOnConflict(async () => {
    const stored = await deps.datasets.get(scope, dataset.id);
    if (stored === null || stored.createdAt !== dataset.createdAt) return false;
    const data = { ownerId: stored.ownerId };
    const writes = [
      deps.datasets.removeWrite(stored),
      deps.grants.removeAllWrite(dataset.id),
      deps.managedGrants.removeAllWrite(dataset.id),
      ...deps.eventLog.appendWrites(scope, [{ type: 'dataset.removed', subjectId: dataset.id, data }]),
    ];
    const details = { owner: stored.ownerId };
    const entry = { tenant: dataset.tenant, action: 'dataset.removed', actor: by, subject: dataset.id, details };
    const bill = dataBill(stored, stored.keyId, { datasets: -1 });
    await deps.budgets.charge(bill, async (returned) => {
      const all = [...returned, ...writes];
      // Canaries are internal: their removal is not audited.
      await (isCanaryDataset(dataset) ? deps.store.commit(scope, all) : deps.audit.commit(scope, all, [entry]));
    });
    deps.notify.datasetRemoved(dataset);
    return true;
  });
}

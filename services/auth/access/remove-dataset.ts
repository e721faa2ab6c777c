import { dataBill } from '../../common/domain/budget.ts';
import { isCanaryDataset } from '../../common/domain/canary.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuthDependencies } from '../dependencies.ts';

type Dependencies = Pick<
  AuthDependencies,
  'audit' | 'store' | 'eventLog' | 'datasets' | 'grants' | 'managedGrants' | 'news' | 'budgets'
>;

/**
 * Removes the registry entry and all grants; false when it was gone. The caller has checked the permission. A name that is
 * used again has the same id: a late or repeated removal must not take the new dataset, so the creation time must match.
 */
export async function removeDataset(deps: Dependencies, dataset: DatasetRef, by: UserId | null): Promise<boolean> {
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
      // Nobody ever saw a canary, so nobody reads of its end.
      await (isCanaryDataset(dataset) ? deps.store.commit(scope, all) : deps.audit.commit(scope, all, [entry]));
    });
    deps.news.datasetRemoved(dataset);
    return true;
  });
}

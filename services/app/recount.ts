import { type BudgetAccount, homesOf } from '../common/domain/budget.ts';
import type { UserId } from '../common/kernel/brand.ts';
import { asId } from '../common/kernel/ids.ts';
import { PERSONAL_TENANT, type Scope, SYSTEM_SCOPE } from '../common/kernel/scope.ts';
import { datasetsCollection } from '../common/records/auth/datasets.ts';
import { findAll } from '../common/records/base/find-all.ts';
import { createUsage, outdateWrite } from '../common/records/budgets/usage.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';

/**
 * Counts anew what every tenant and account keeps, for data of releases that did not count; also while others work on it:
 * without a current counter nothing changes. API keys keep their counts, which no data before them has. Returns the number of accounts.
 */
export async function recountStored(store: DocumentStore): Promise<number> {
  const usage = createUsage(store);
  const homes = new Set<BudgetAccount>();
  for (const { value, tenant } of await findAll(store, SYSTEM_SCOPE, datasetsCollection)) {
    const dataset = { tenant: asId<Scope['tenant']>(tenant ?? PERSONAL_TENANT), ownerId: asId<UserId>(value.ownerId) };
    for (const home of homesOf(dataset)) homes.add(home);
  }
  for (const account of homes) {
    await store.commit({ tenant: PERSONAL_TENANT }, [outdateWrite(account)]);
    await usage.create(account, 'stored', null);
  }
  return homes.size;
}

import type { Bill, BudgetAccount, Excess, Payer } from '../../domain/budget.ts';
import { createKeyedBatches, type KeyedTask } from '../../platform/async/keyed-batches.ts';
import type { Budgets } from '../../ports/budgets.ts';
import type { ChargeOutcome } from './budget-charging.ts';
import type { KnownLimits } from './known-limits.ts';

interface RequestAdmissionsOptions {
  readonly limits: KnownLimits;
  readonly tryCharge: (bill: Bill) => Promise<ChargeOutcome<unknown>>;
  /** Error of a refusal, after its alert. */
  readonly refusal: (payer: Payer, outcome: Extract<ChargeOutcome<unknown>, { excess: Excess }>) => Promise<Error>;
}

interface Admission extends KeyedTask {
  readonly payer: Payer;
  /** Accounts of the payer that limit requests. */
  readonly accounts: readonly BudgetAccount[];
  readonly done: PromiseWithResolvers<void>;
}

/** Requests that are counted in one commit. */
const MAX_GROUP = 500;

/**
 * Counts requests of accounts that limit them. Those of one process that come while another count is being written go
 * together, so a rush costs a few commits; none is counted that is refused.
 */
export function createRequestAdmissions(options: RequestAdmissionsOptions): Budgets['admitRequest'] {
  const { limits, tryCharge, refusal } = options;

  const admit = async (group: readonly Admission[]): Promise<void> => {
    let wanted = group;
    while (wanted.length > 0) {
      const [first] = wanted;
      if (first === undefined) return;
      const outcome = await tryCharge({ tenant: first.payer.tenant, charges: chargesOf(wanted) });
      if (!('excess' in outcome)) break;
      const { account, limit, used } = outcome.excess;
      const refused = wanted.filter(({ accounts }) => accounts.includes(account)).slice(Math.max(0, limit - used));
      for (const { payer, done } of refused) done.reject(await refusal(payer, outcome));
      const isOut = new Set(refused);
      wanted = wanted.filter((task) => !isOut.has(task));
    }
    for (const { done } of wanted) done.resolve();
  };
  const start = createKeyedBatches<Admission>({
    run: async (group) => {
      try {
        await admit(group);
      } catch (error) {
        // Admissions that were settled already are not affected.
        for (const { done } of group) done.reject(error);
      }
    },
    fits: (group) => group.length < MAX_GROUP,
  });
  return async (payer) => {
    const inForce = await limits.of(payer.accounts);
    const accounts = payer.accounts.filter((_, index) => inForce[index]?.has('requestsPerMinute'));
    if (accounts.length === 0) return;
    const done = Promise.withResolvers<void>();
    start({ payer, accounts, done, keys: new Set(accounts) });
    await done.promise;
  };
}

/** Keys first: whom a key's limit refuses must not take the place of another one in its tenant's. */
function chargesOf(group: readonly Admission[]): Bill['charges'] {
  const counts = new Map<BudgetAccount, number>();
  for (const account of group.flatMap(({ accounts }) => accounts)) {
    counts.set(account, (counts.get(account) ?? 0) + 1);
  }
  const keysFirst = [...counts].toSorted(([one], [other]) => Number(isKey(other)) - Number(isKey(one)));
  return keysFirst.map(([account, requestsPerMinute]) => ({ account, demand: { requestsPerMinute } }));
}

function isKey(account: BudgetAccount): boolean {
  return account.startsWith('key/');
}

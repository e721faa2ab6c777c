import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { BudgetAccount, BudgetLimits, Demand } from '../../domain/budget.ts';
import { asId } from '../../kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { recordCollections } from '../collections.ts';
import { createBudgets } from './budget-keeper.ts';
import { createStoredBudgets } from './budgets.ts';

const LIMITED = ['items', 'storageBytes', 'datasets', 'concurrentRuns'] as const;
const ACCOUNTS = ['tenant/t', 'key/a', 'key/b'] as const satisfies readonly BudgetAccount[];
type Limited = (typeof LIMITED)[number];

interface Step {
  readonly accounts: readonly BudgetAccount[];
  readonly kind: Limited;
  readonly amount: number;
}

const amounts = fc.integer({ min: 1, max: 5 });
const step: fc.Arbitrary<Step> = fc.record({
  accounts: fc.constantFrom<readonly BudgetAccount[]>(['tenant/t'], ['tenant/t', 'key/a'], ['tenant/t', 'key/b']),
  kind: fc.constantFrom(...LIMITED),
  amount: fc.oneof(
    amounts,
    amounts.map((amount) => -amount),
  ),
});
const limit = fc.option(
  fc.record({ limit: fc.integer({ min: 0, max: 12 }), action: fc.constantFrom('Enforce' as const, 'Warn' as const) }),
  { nil: undefined },
);
const limits = fc.record({ items: limit, storageBytes: limit, datasets: limit, concurrentRuns: limit });

describe('the budget keeper', () => {
  it('decides and counts like a table of numbers, whatever comes and goes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(limits, limits, limits), fc.array(step, { maxLength: 40 }), async (given, steps) => {
        const store = createMemoryDocumentStore();
        await store.prepare(recordCollections);
        const ignore = () => {};
        const budgets = createBudgets({
          store,
          ids: { uuid: randomUUID },
          eventLog: { appendWrites: () => [] },
          logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
          clock: { now: () => new Date('2026-01-02T03:04:05.678Z'), monotonicMs: () => 0 },
        });
        const stored = createStoredBudgets(store);
        const table = new Map<string, number>();
        const used = (account: BudgetAccount, kind: Limited) => table.get(`${account} ${kind}`) ?? 0;
        for (const [index, account] of ACCOUNTS.entries()) {
          const of = Object.fromEntries(Object.entries(given[index] ?? {}).filter(([, each]) => each)) as BudgetLimits;
          await store.commit(SYSTEM_SCOPE, [
            stored.putWrite({ account, limits: of, ceiling: {}, updatedAt: '' }, null),
          ]);
        }
        for (const { accounts, kind, amount } of steps) {
          // Nobody gives back what was not taken.
          if (amount < 0 && accounts.some((account) => used(account, kind) + amount < 0)) continue;
          const fits = accounts.every((account) => {
            const own = given[ACCOUNTS.indexOf(account as (typeof ACCOUNTS)[number])]?.[kind];
            return amount < 0 || own?.action !== 'Enforce' || used(account, kind) + amount <= own.limit;
          });
          const demand: Demand = { [kind]: amount };
          const charges = accounts.map((account) => ({ account, demand }));
          const isCharged = await budgets
            .charge({ tenant: asId('t'), charges }, (writes) => store.commit(SYSTEM_SCOPE, writes))
            .then(
              () => true,
              () => false,
            );
          expect(isCharged).to.equal(fits);
          if (!fits) continue;
          for (const account of accounts) table.set(`${account} ${kind}`, used(account, kind) + amount);
        }
        for (const account of ACCOUNTS) {
          const standing = await budgets.standing(account);
          for (const kind of LIMITED) expect(standing.used[kind]).to.equal(used(account, kind));
        }
      }),
      { numRuns: 300 },
    );
  });
});

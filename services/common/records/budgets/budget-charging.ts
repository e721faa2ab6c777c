import { type Bill, BUDGET_KINDS, type Demand, type Excess } from '../../domain/budget.ts';
import { engramError } from '../../kernel/errors.ts';
import type { BudgetMetrics } from '../../ports/budgets.ts';
import type { Clock } from '../../ports/system.ts';
import { VersionConflictError, type Write } from '../../storage/ports/document-store.ts';
import type { BudgetAlerts } from './budget-alerts.ts';
import { excessOf, isWarned, type Posting, postings, postingWrite } from './budget-postings.ts';
import type { KnownLimits } from './known-limits.ts';
import { type Usage, type UsageDocument, usageCollection } from './usage.ts';

export interface Refused {
  readonly posting: Posting;
  readonly excess: Excess;
}

export type ChargeOutcome<Result> = { readonly result: Result } | Refused;

interface BudgetCharging {
  postingsOf(bill: Bill): Promise<readonly Posting[]>;
  /** The counter as it stands; it is made when it is missing. */
  present(posting: Posting): Promise<UsageDocument>;
  /** `commit` writes what is counted, and what it is for, in one commit. Beyond a limit nothing is written. */
  tryCharge<Result>(bill: Bill, commit: (writes: readonly Write[]) => Promise<Result>): Promise<ChargeOutcome<Result>>;
}

interface BudgetChargingParts {
  readonly limits: KnownLimits;
  readonly usage: Usage;
  readonly alerts: BudgetAlerts;
  readonly clock: Clock;
  readonly metrics?: BudgetMetrics;
}

/** Each time another one was faster; with n at the same time at most n - 1 are. */
const MAX_ATTEMPTS = 1000;

/** Counts what is demanded against the limits in force. */
export function createBudgetCharging({ limits, usage, alerts, clock, metrics }: BudgetChargingParts): BudgetCharging {
  const postingsOf = async ({ charges }: Bill): Promise<readonly Posting[]> => {
    // What is given back is not limited.
    const limited = charges.filter(({ demand }) => Object.values(demand).some((amount) => amount > 0));
    const inForce = new Map(zip(limited, await limits.of(limited.map(({ account }) => account))));
    const now = clock.now();
    return charges.flatMap((each) => postings(each, inForce.get(each) ?? new Map(), now));
  };
  const present = async ({ id, account, counter, window }: Posting): Promise<UsageDocument> => {
    for (;;) {
      const found = await usage.get(id);
      if (found !== null && !found.outdated) return found;
      await usage.create(account, counter, window);
    }
  };
  const tryCharge = async <Result>(
    bill: Bill,
    commit: (writes: readonly Write[]) => Promise<Result>,
  ): Promise<ChargeOutcome<Result>> => {
    for (let attempt = 1; ; attempt += 1) {
      const planned = await postingsOf(bill);
      try {
        const result = await commit(planned.map(postingWrite));
        for (const { amounts } of planned) count(metrics, amounts);
        await alerts.warn(bill.tenant, planned.filter(isWarned));
        return { result };
      } catch (error) {
        const posting = isUsageConflict(error) ? planned.find(({ id }) => id === error.id) : undefined;
        if (posting === undefined) throw error;
        const excess = excessOf(posting, await present(posting));
        if (excess !== null) return { posting, excess };
        if (attempt === MAX_ATTEMPTS) throw tooManyChanges(error);
      }
    }
  };
  return { postingsOf, present, tryCharge };
}

function zip<One, Other>(ones: readonly One[], others: readonly Other[]): readonly (readonly [One, Other])[] {
  return ones.map((one, index) => [one, others[index] as Other]);
}

function count(metrics: BudgetMetrics | undefined, amounts: Demand): void {
  for (const kind of BUDGET_KINDS) {
    const amount = amounts[kind] ?? 0;
    if (amount > 0) metrics?.budgetCharged(kind, amount);
  }
}

function isUsageConflict(error: unknown): error is VersionConflictError {
  return error instanceof VersionConflictError && error.collection === usageCollection.name;
}

function tooManyChanges(cause: unknown): Error {
  const text = 'Too many changes are counted for the same budget at the same time';
  return engramError('ServiceUnavailableError', text, { cause, retryable: true, retryAfterSeconds: 1 });
}

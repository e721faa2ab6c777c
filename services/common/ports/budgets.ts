import type { Bill, BudgetAccount, BudgetKind, BudgetLimits, Demand, LimitsInForce, Payer } from '../domain/budget.ts';
import type { Write } from '../storage/ports/document-store.ts';
import type { TokenUsage } from './models.ts';

/**
 * Budgets and usage of tenants, accounts and API keys. Limits are exact: the change of a counter and what it
 * counts are one commit, conditional on the limit, so any number of processes together stay within it.
 * A refusal is the error of the kind: `LLMPaymentRequiredError` (402), `PayloadTooLargeError` (413),
 * `TooManyRequestsError` (429, with the wait). Its message names limit and usage. With `Warn` nothing is refused.
 */
export interface Budgets {
  /**
   * Commits what is charged: `commit` is handed the writes that count it and must commit them with its own. It is called
   * again when another one changed a counter in between. Once it resolves the charge stands.
   */
  charge<Result>(bill: Bill, commit: (writes: readonly Write[]) => Promise<Result>): Promise<Result>;
  /** Refuses what does not fit now, before any work is done for it; changes nothing. */
  check(bill: Bill): Promise<void>;
  /** Gives back a charge; does nothing when the account does not exist any more. */
  returnWrites(accounts: readonly BudgetAccount[], demand: Demand): readonly Write[];
  /** Lets the counters of the accounts be counted again from their data: for data that passes from one account to another. */
  recountWrites(accounts: readonly BudgetAccount[]): readonly Write[];
  /** Counts a request where its number is limited. */
  admitRequest(payer: Payer): Promise<void>;
  /** Exceeded limits with `Warn`, one text each. No reads where no such limit exists. */
  warnings(payer: Payer): Promise<readonly string[]>;
  /** Sets tokens aside for one call of a language model. At most one call goes beyond a limit, and only by its own size. */
  reserveTokens(payer: Payer, expected: number, signal?: AbortSignal): Promise<TokenReservation>;
  /** Limits and usage, as they stand in the store. */
  standing(account: BudgetAccount): Promise<BudgetStanding>;
  /** Windows that ended long ago go, and what dead processes had set aside. */
  sweep(): Promise<void>;
  /** For the commit that removes an account: its limits and counters go. */
  removeWrites(account: BudgetAccount): readonly Write[];
  /** Drops cached limits. */
  forget(): void;
}

/** Exactly one of the two is called, once. */
export interface TokenReservation {
  settle(usage: TokenUsage): Promise<void>;
  release(): Promise<void>;
}

export interface BudgetStanding {
  readonly inForce: LimitsInForce;
  readonly used: Readonly<Record<BudgetKind, number>>;
}

/** Stored limits of an account. */
export interface StoredBudget {
  readonly account: BudgetAccount;
  readonly limits: BudgetLimits;
  /** Limits of an API key by a superuser: its owner cannot exceed them. */
  readonly ceiling: BudgetLimits;
  readonly updatedAt: string;
  readonly version: number;
}

/** Metrics of charges, warnings and refusals. */
export interface BudgetMetrics {
  budgetCharged(kind: BudgetKind, amount: number): void;
  budgetPassed(kind: BudgetKind, outcome: 'warned' | 'exceeded'): void;
}

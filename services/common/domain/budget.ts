import type { TenantId } from '../kernel/brand.ts';
import type { DatasetRef } from '../kernel/dataset.ts';
import { type EngramError, engramError } from '../kernel/errors.ts';
import type { Principal } from '../kernel/principal.ts';
import { PERSONAL_TENANT } from '../kernel/scope.ts';
import { isCanaryDataset, isCanaryPrincipal } from './canary.ts';

/** Kinds of limits. The words are those of the wire and of a `Tenant` resource's quotas. */
export const BUDGET_KINDS = [
  'llmTokensPerDay',
  'llmTokensPerMonth',
  'storageBytes',
  'items',
  'datasets',
  'requestsPerMinute',
  'concurrentRuns',
] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];

/** `Enforce` refuses what goes beyond the limit; `Warn` lets it through and says so. */
export const BUDGET_ACTIONS = ['Enforce', 'Warn'] as const;
type BudgetAction = (typeof BUDGET_ACTIONS)[number];

export type BudgetLimit = {
  /** Null: no limit, whatever the default says. */
  readonly limit: number | null;
  readonly action: BudgetAction;
};

/** A kind that is absent has the server's default. */
export type BudgetLimits = { readonly [Kind in BudgetKind]?: BudgetLimit };

/** Limits in force, by kind. */
export type LimitsInForce = ReadonlyMap<BudgetKind, { readonly limit: number; readonly action: BudgetAction }>;

/**
 * Whose budget it is: `tenant/<id>`, `user/<id>` (the personal space of an account), `key/<id>` (an API key). Everybody's
 * personal space is one tenant in the stores; what it costs is each user's own.
 */
export type BudgetAccount = `${'tenant' | 'user' | 'key'}/${string}`;

/** Payer of a request: the space it works in, then the key it came with. */
export interface Payer {
  readonly tenant: TenantId;
  readonly accounts: readonly BudgetAccount[];
}

/** Amounts that an account is charged; negative amounts give back. */
export type Demand = { readonly [Kind in BudgetKind]?: number };
export interface Charge {
  readonly account: BudgetAccount;
  readonly demand: Demand;
}
/** Charges that are written together. Events about them belong to the tenant. */
export interface Bill {
  readonly tenant: TenantId;
  readonly charges: readonly Charge[];
}

export function keyAccount(keyId: string): BudgetAccount {
  return `key/${keyId}`;
}

/**
 * A tenant pays for what happens in it. In the personal space everybody pays for themselves, and for their agents. Canaries
 * are the server's, and are not charged.
 */
export function payerOf({ id, parentId, tenant, key }: Principal): Payer {
  if (isCanaryPrincipal({ id, tenant })) return { tenant, accounts: [] };
  const space: BudgetAccount = tenant === PERSONAL_TENANT ? `user/${parentId ?? id}` : `tenant/${tenant}`;
  return { tenant, accounts: key === undefined ? [space] : [space, keyAccount(key.id)] };
}

type DatasetHome = Pick<DatasetRef, 'tenant' | 'ownerId'>;

/** Account of a dataset's data: its tenant, or in the personal space its owner. */
export function homeOf({ tenant, ownerId }: DatasetHome): BudgetAccount {
  return tenant === PERSONAL_TENANT ? `user/${ownerId}` : `tenant/${tenant}`;
}

/** The same; empty where no account pays. */
export function homesOf(dataset: DatasetHome): readonly BudgetAccount[] {
  return isCanaryDataset(dataset) ? [] : [homeOf(dataset)];
}

export function billOf({ tenant, accounts }: Payer, demand: Demand): Bill {
  return { tenant, charges: accounts.map((account) => ({ account, demand })) };
}

/** Data counts where its dataset is at home, and for the key it came by. */
export function dataBill(dataset: DatasetHome, keyId: string | null | undefined, demand: Demand): Bill {
  const key = keyId ? [keyAccount(keyId)] : [];
  return billOf({ tenant: dataset.tenant, accounts: [...homesOf(dataset), ...key] }, demand);
}

/** Kinds that are counted in one document, because they change together or end together. */
export type Counter = 'stored' | 'runs' | 'day' | 'month' | 'minute';

const COUNTERS: Readonly<Record<BudgetKind, Counter>> = {
  llmTokensPerDay: 'day',
  llmTokensPerMonth: 'month',
  storageBytes: 'stored',
  items: 'stored',
  datasets: 'stored',
  requestsPerMinute: 'minute',
  concurrentRuns: 'runs',
};

export function counterOf(kind: BudgetKind): Counter {
  return COUNTERS[kind];
}

export interface BudgetWindow {
  /** `2026-11-22`, `2026-11`, `2026-11-22T09:41`, UTC. */
  readonly name: string;
  readonly endsAt: Date;
}

/** The window of a counter at a time; null for what is no rate. */
export function windowOf(counter: Counter, now: Date): BudgetWindow | null {
  const text = now.toISOString();
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (counter) {
    case 'day':
      return { name: text.slice(0, 10), endsAt: new Date(Date.UTC(year, month, day + 1)) };
    case 'month':
      return { name: text.slice(0, 7), endsAt: new Date(Date.UTC(year, month + 1, 1)) };
    case 'minute':
      return { name: text.slice(0, 16), endsAt: new Date((Math.floor(now.getTime() / 60_000) + 1) * 60_000) };
    default:
      return null;
  }
}

/** Window of an alert: one per window of the counter, one a day for counters without a window. */
export function alertWindow(counter: Counter, now: Date): string {
  return windowOf(counter, now)?.name ?? now.toISOString().slice(0, 10);
}

export interface Excess {
  readonly kind: BudgetKind;
  readonly account: BudgetAccount;
  readonly limit: number;
  readonly used: number;
  /** Amount that the request would have added; 0 when not known beforehand. */
  readonly amount: number;
}

const NAMES: Readonly<Record<BudgetKind, string>> = {
  llmTokensPerDay: 'language-model tokens per day',
  llmTokensPerMonth: 'language-model tokens per month',
  storageBytes: 'bytes of storage',
  items: 'items',
  datasets: 'datasets',
  requestsPerMinute: 'requests per minute',
  concurrentRuns: 'concurrent runs',
};
const OWNERS = { tenant: 'the tenant', user: 'the account', key: 'the API key' } as const;

/** `items of the tenant: 100 used, limit 100` */
export function standingText({ kind, account, limit, used }: Excess): string {
  const owner = OWNERS[account.slice(0, account.indexOf('/')) as keyof typeof OWNERS];
  return `${NAMES[kind]} of ${owner}: ${used} used, limit ${limit}`;
}

/** A run may end at any moment. */
const RETRY_RUNS_AFTER_SECONDS = 10;

/** Error of a refused request. `now` decides how long a client waits for the next window. */
export function overBudget(excess: Excess, now: Date): EngramError {
  const { kind, amount } = excess;
  const more = amount > 0 ? `, ${amount} more asked for` : '';
  const text = `${standingText(excess)}${more} (${kind})`;
  const window = windowOf(counterOf(kind), now);
  switch (counterOf(kind)) {
    case 'day':
    case 'month':
      return engramError(
        'LLMPaymentRequiredError',
        `LLM budget exhausted: ${text}; the window ends at ${window?.endsAt.toISOString()}.`,
      );
    case 'minute': {
      const waitMs = (window?.endsAt.getTime() ?? 0) - now.getTime();
      return engramError('TooManyRequestsError', `Budget exceeded: ${text}.`, {
        retryable: true,
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      });
    }
    case 'runs':
      return engramError('TooManyRequestsError', `Budget exceeded: ${text}.`, {
        retryable: true,
        retryAfterSeconds: RETRY_RUNS_AFTER_SECONDS,
      });
    default:
      return engramError('PayloadTooLargeError', `Budget exceeded: ${text}.`);
  }
}

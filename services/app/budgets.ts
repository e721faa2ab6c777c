import type { BudgetKind, BudgetLimits } from '../common/domain/budget.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import type { Lifecycle } from '../common/platform/lifecycle/lifecycle.ts';
import { EVERY_TENANT } from '../common/platform/messaging/messages.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import { type BudgetKeeperOptions, createBudgets } from '../common/records/budgets/budget-keeper.ts';
import { foldAll } from '../common/records/budgets/token-reservations.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';

interface BudgetParts extends Omit<BudgetKeeperOptions, 'defaults'> {
  readonly config: Config;
  readonly messenger: Pick<Messenger, 'subscribe'>;
}

/** The budgets of this process; they hear of changes that others make. */
export function openBudgets({ config, messenger, ...options }: BudgetParts, lifecycle: Lifecycle): Budgets {
  const budgets = createBudgets({ ...options, defaults: defaultLimits(config) });
  let news: Subscription | undefined;
  lifecycle.add({
    name: 'budgets',
    async start() {
      if (!options.store.capabilities.sharedBetweenProcesses) await giveBackReserved(options.store);
      news = await messenger.subscribe('access', EVERY_TENANT, () => budgets.forget());
    },
    stop: async () => news?.stop(),
  });
  return budgets;
}

/** Returns tokens that killed processes had reserved: this process alone owns the store. */
function giveBackReserved(store: DocumentStore): Promise<void> {
  return foldAll(store);
}

/** Limits of every tenant and personal space without a budget of its own. */
function defaultLimits(config: Config): BudgetLimits {
  const limits: Readonly<Record<BudgetKind, number | undefined>> = {
    llmTokensPerDay: config.budgetTokensPerDay,
    llmTokensPerMonth: config.budgetTokensPerMonth,
    storageBytes: config.budgetStorageBytes,
    items: config.budgetItems,
    datasets: config.budgetDatasets,
    requestsPerMinute: config.budgetRequestsPerMinute,
    concurrentRuns: config.budgetConcurrentRuns,
  };
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return Object.fromEntries(given.map(([kind, limit]) => [kind, { limit, action: config.budgetAction }]));
}

import { BUDGET_ACTIONS } from '../../../domain/budget.ts';
import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { optional, setting } = rowsOf('Budgets');

/** `integer` with 0: nothing of the kind may be used. A minute needs at least one request: else no request could raise it. */
const count = (min = 0) => type.integer({ min });

export const budgets = {
  budgetTokensPerDay: optional('ENGRAM_BUDGET_LLM_TOKENS_PER_DAY', {
    type: count(),
    shownDefault: 'no limit',
    meaning: 'Language-model tokens of a tenant, or of an account in its personal space, per UTC day.',
  }),
  budgetTokensPerMonth: optional('ENGRAM_BUDGET_LLM_TOKENS_PER_MONTH', {
    type: count(),
    shownDefault: 'no limit',
    meaning: 'The same per UTC month.',
  }),
  budgetStorageBytes: optional('ENGRAM_BUDGET_STORAGE_BYTES', {
    type: type.bytes({ min: 0 }),
    shownDefault: 'no limit',
    meaning: 'Size of everything added, as it was uploaded (`200GB`).',
  }),
  budgetItems: optional('ENGRAM_BUDGET_ITEMS', {
    type: count(),
    shownDefault: 'no limit',
    meaning: 'Data items.',
  }),
  budgetDatasets: optional('ENGRAM_BUDGET_DATASETS', {
    type: count(),
    shownDefault: 'no limit',
    meaning: 'Datasets.',
  }),
  budgetRequestsPerMinute: optional('ENGRAM_BUDGET_REQUESTS_PER_MINUTE', {
    type: count(1),
    shownDefault: 'no limit',
    meaning: 'Authenticated HTTP requests per minute; a WebSocket counts as one.',
  }),
  budgetConcurrentRuns: optional('ENGRAM_BUDGET_CONCURRENT_RUNS', {
    type: count(),
    shownDefault: 'no limit',
    meaning: 'Runs that wait or are under way at the same time.',
  }),
  budgetAction: setting('ENGRAM_BUDGET_ACTION', {
    type: type
      .oneOf(['enforce', 'warn'])
      .transform((word) => (word === 'warn' ? BUDGET_ACTIONS[1] : BUDGET_ACTIONS[0])),
    default: 'enforce',
    meaning:
      'What happens beyond the limits above: enforce refuses (402, 413 or 429), warn lets through and says so. They hold for every tenant and every personal space without a budget of its own (`PUT /api/v1/budgets/…`).',
  }),
};

import { z } from 'zod';
import { BUDGET_ACTIONS, BUDGET_KINDS } from '../../common/domain/budget.ts';
import { uuid } from '../../common/platform/http/schema.ts';

const action = z.enum(BUDGET_ACTIONS);

/** A number, null for no limit, or either with its own action. Absent: the server's default. */
const limit = (min = 0) => {
  const count = z.int().min(min).nullable();
  return z.union([count, z.object({ limit: count, action: action.optional() })]).optional();
};

export const budgetBody = z.object({
  llmTokensPerDay: limit(),
  llmTokensPerMonth: limit(),
  storageBytes: limit(),
  items: limit(),
  datasets: limit(),
  // With none at all nobody could ask for more.
  requestsPerMinute: limit(1),
  concurrentRuns: limit(),
  /** Of all limits that do not say their own; default Enforce. */
  action: action.optional(),
});

export type BudgetBody = z.output<typeof budgetBody>;

export const tenantBudgetParams = z.object({ tenantId: uuid() });
export const keyBudgetParams = z.object({ keyId: uuid() });

const standing = z.object({
  limit: z.number().nullable(),
  action: action.nullable(),
  used: z.number(),
  source: z.enum(['stored', 'default', 'none']),
  /** When the count begins anew; null for what is no rate. */
  windowEndsAt: z.string().nullable(),
});

export const budgetRecord = z.object({
  /** `tenant/<id>`, `user/<id>` for a personal space, `key/<id>` */
  account: z.string(),
  limits: z.record(z.enum(BUDGET_KINDS), standing),
  updatedAt: z.string().nullable(),
});

export const usageRecord = z.object({ space: budgetRecord.nullable(), key: budgetRecord.nullable() });

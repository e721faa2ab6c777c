import { z } from 'zod';
import {
  BUDGET_ACTIONS,
  BUDGET_KINDS,
  type BudgetKind,
  type BudgetLimit,
  type BudgetLimits,
  counterOf,
  windowOf,
} from '../../common/domain/budget.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { inTenant, NO_PERMISSION, ofAccount, SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import {
  type AccountBudget,
  changeKeyBudget,
  changeTenantBudget,
  readKeyBudget,
  readOwnUsage,
  readTenantBudget,
} from '../budgets/budgets.ts';
import type { AuthDependencies } from '../model.ts';

const action = z.enum(BUDGET_ACTIONS);

/** A number, null for no limit, or an object with either and an action. Absent: the server's default. */
const limit = (min = 0) => {
  const count = z.int().min(min).nullable();
  return z.union([count, z.object({ limit: count, action: action.optional() })]).optional();
};

const budgetBody = z.object({
  llmTokensPerDay: limit(),
  llmTokensPerMonth: limit(),
  storageBytes: limit(),
  items: limit(),
  datasets: limit(),
  // At least one request must be possible to raise the limit again.
  requestsPerMinute: limit(1),
  concurrentRuns: limit(),
  /** For limits without an action of their own; default Enforce. */
  action: action.optional(),
});

type BudgetBody = z.output<typeof budgetBody>;

const tenantBudgetParams = z.object({ tenantId: uuid() });
const keyBudgetParams = z.object({ keyId: uuid() });

const standing = z.object({
  limit: z.number().nullable(),
  action: action.nullable(),
  used: z.number(),
  source: z.enum(['stored', 'default', 'none']),
  /** When the count restarts; null for kinds that are not rates. */
  windowEndsAt: z.string().nullable(),
});

const budgetRecord = z.object({
  /** `tenant/<id>`, `user/<id>` for a personal space, `key/<id>` */
  account: z.string(),
  limits: z.record(z.enum(BUDGET_KINDS), standing),
  updatedAt: z.string().nullable(),
});

const usageQuery = z.object({
  /** Days that `models` counts, today included. */
  days: lenientInteger({ min: 1, max: 3650 }).default(30),
});

const usageRecord = z.object({
  space: budgetRecord.nullable(),
  key: budgetRecord.nullable(),
  /** Tokens of the space by model, those of building memory included. */
  models: z.array(
    z.object({ model: z.string(), calls: z.number(), inputTokens: z.number(), outputTokens: z.number() }),
  ),
});

const path = '/api/v1/budgets';
const record = { description: 'Limits with their usage', schema: budgetRecord };

const { routes, get, put } = routesOf<AuthDependencies>({ tag: 'budgets' });

/** Budgets and usage of tenants, personal spaces and API keys. */
export const budgetRoutes = routes(
  get(`${path}/tenants/:tenantId`, 'getTenantBudget', {
    summary: 'Budget and usage of a tenant; with the id of an account, of its personal space',
    permission: inTenant('manage_users', 'in the tenant; for a personal space its account; or superuser'),
    params: tenantBudgetParams,
    responses: { 200: record, 403: { description: 'A member without manage_users' }, 404: { description: 'Unknown' } },
    handle: async ({ principal, params }, deps) =>
      json(presentBudget(await readTenantBudget(deps, principal, params.tenantId))),
  }),
  put(`${path}/tenants/:tenantId`, 'setTenantBudget', {
    summary: 'Set the budget of a tenant or of the personal space of an account',
    auth: 'superuser',
    permission: SUPERUSER,
    params: tenantBudgetParams,
    body: { kind: 'json', schema: budgetBody },
    responses: { 200: record, 403: { description: 'Not a superuser' }, 404: { description: 'Unknown' } },
    async handle({ principal, params, body }, deps) {
      const change = { id: params.tenantId, limits: limitsOf(body) };
      return json(presentBudget(await changeTenantBudget(deps, principal, change)));
    },
  }),
  get(`${path}/keys/:keyId`, 'getKeyBudget', {
    summary: 'Budget and usage of an API key',
    permission: ofAccount('API keys; a superuser any'),
    params: keyBudgetParams,
    responses: { 200: record, 404: { description: 'No such key of the caller' } },
    handle: async ({ principal, params }, deps) =>
      json(presentBudget(await readKeyBudget(deps, principal, params.keyId))),
  }),
  put(`${path}/keys/:keyId`, 'setKeyBudget', {
    summary: 'Set the budget of an API key, within the ceiling that a superuser set',
    permission: ofAccount('API keys; a superuser any'),
    params: keyBudgetParams,
    body: { kind: 'json', schema: budgetBody },
    responses: {
      200: record,
      403: { description: 'Above the ceiling of a superuser, or requested with a key that has a budget' },
      404: { description: 'No such key of the caller' },
    },
    async handle({ principal, params, body }, deps) {
      const change = { id: params.keyId, limits: limitsOf(body) };
      return json(presentBudget(await changeKeyBudget(deps, principal, change)));
    },
  }),
  get('/api/v1/activity/usage', 'getUsage', {
    tag: 'activity',
    summary: 'Budget and usage of the space the caller works in, and of the API key it came with',
    permission: NO_PERMISSION,
    query: usageQuery,
    responses: { 200: { description: 'A tenant is null to members without manage_users', schema: usageRecord } },
    async handle({ principal, query }, deps) {
      const { space, key, models } = await readOwnUsage(deps, principal, query.days);
      return json({ space: space && presentBudget(space), key: key && presentBudget(key), models });
    },
  }),
);

/** Fills in the action of the body for limits without one. */
function limitsOf(body: BudgetBody): BudgetLimits {
  const limits: Partial<Record<BudgetKind, BudgetLimit>> = {};
  for (const kind of BUDGET_KINDS) {
    const given = body[kind];
    if (given === undefined) continue;
    const { limit, action } = typeof given === 'object' && given !== null ? given : { limit: given };
    limits[kind] = { limit, action: action ?? body.action ?? 'Enforce' };
  }
  return limits;
}

/** Limits with their usage. */
function presentBudget({ account, stored, standing, at }: AccountBudget) {
  const limits = BUDGET_KINDS.map((kind) => {
    const inForce = standing.inForce.get(kind);
    const windowEndsAt = windowOf(counterOf(kind), at)?.endsAt.toISOString() ?? null;
    const { limit, action } = inForce ?? { limit: null, action: null };
    return [kind, { limit, action, used: standing.used[kind], source: sourceOf(kind), windowEndsAt }];
  });
  return { account, limits: Object.fromEntries(limits), updatedAt: stored?.updatedAt ?? null };

  function sourceOf(kind: BudgetKind): 'stored' | 'default' | 'none' {
    if (stored?.limits[kind] !== undefined) return 'stored';
    return standing.inForce.has(kind) ? 'default' : 'none';
  }
}

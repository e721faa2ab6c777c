import { isDeepStrictEqual } from 'node:util';
import {
  BUDGET_KINDS,
  type BudgetAccount,
  type BudgetKind,
  type BudgetLimit,
  type BudgetLimits,
  keyAccount,
  payerOf,
} from '../../common/domain/budget.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { isTenantKey, type Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { BudgetStanding, StoredBudget } from '../../common/ports/budgets.ts';
import type { ApiKey } from '../../common/records/auth/api-keys.ts';
import type { ModelTokens } from '../../common/records/budgets/model-usage.ts';
import { authorityIn, requireCapability, tenantNotFound } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

const DAY_MS = 86_400_000;

/** The budget of an account with its current usage. */
export interface AccountBudget {
  readonly account: BudgetAccount;
  readonly stored: StoredBudget | null;
  readonly standing: BudgetStanding;
  readonly at: Date;
}

/** A budget's account, and the tenant or user to notify of changes. */
interface Place {
  readonly account: BudgetAccount;
  readonly tenant: TenantId;
  readonly user: UserId | null;
}

/**
 * Reads the budget of a tenant, for those who manage its users, or of a personal space, whose id is that of its account, for
 * that account. Superusers read all. Errors: `TenantNotFoundError`, also for non-members; `PermissionDeniedError` for other
 * members.
 */
export async function readTenantBudget(
  deps: AuthDependencies,
  principal: Principal,
  id: string,
): Promise<AccountBudget> {
  const isOwnSpace = principal.id === id && !isTenantKey(principal);
  if (!principal.isSuperuser && !isOwnSpace) await requireCapability(deps, principal, asId(id), 'manage_users');
  return budgetOf(deps, (await spaceOf(deps, id)).account);
}

/** For superusers only, which the route checks: a tenant must not raise its own budget. */
export async function changeTenantBudget(
  deps: AuthDependencies,
  principal: Principal,
  change: { readonly id: string; readonly limits: BudgetLimits },
): Promise<AccountBudget> {
  const place = await spaceOf(deps, change.id);
  await put(deps, { place, by: principal.id }, () => ({ limits: change.limits, ceiling: {} }));
  return budgetOf(deps, place.account);
}

/** Sets the budget that a `Tenant` resource declares. Idempotent. */
export async function setQuota(
  deps: AuthDependencies,
  { tenant, limits }: { readonly tenant: TenantId; readonly limits: BudgetLimits },
): Promise<void> {
  const account = await tenantAccount(deps, tenant);
  const before = await deps.storedBudgets.get(account);
  if (before !== null && isDeepStrictEqual(before.limits, limits)) return;
  await put(deps, { place: { account, tenant, user: null }, by: null }, () => ({ limits, ceiling: {} }));
}

/** Limits in force and usage of a tenant, by kind, for the operator. */
export async function readQuota(deps: AuthDependencies, tenant: TenantId) {
  const { inForce, used } = await deps.budgets.standing(await tenantAccount(deps, tenant));
  return BUDGET_KINDS.map((kind) => {
    const { limit = null, action } = inForce.get(kind) ?? {};
    return { kind, used: used[kind], limit, warnsOnly: action === 'Warn' };
  });
}

async function tenantAccount({ tenants }: AuthDependencies, tenant: TenantId): Promise<BudgetAccount> {
  if ((await tenants.get(tenant)) === null) throw tenantNotFound(tenant);
  return `tenant/${tenant}`;
}

/** `EntityNotFoundError` for another user's key, except for superusers. */
export async function readKeyBudget(deps: AuthDependencies, principal: Principal, id: string): Promise<AccountBudget> {
  return budgetOf(deps, keyAccount((await visibleKey(deps, principal, id)).id));
}

/**
 * Changes the budget of a key. Limits that a superuser sets are also the ceiling for later changes by the owner.
 * `PermissionDeniedError` above the ceiling, and for requests with a key that has a budget itself.
 */
export async function changeKeyBudget(
  deps: AuthDependencies,
  principal: Principal,
  change: { readonly id: string; readonly limits: BudgetLimits },
): Promise<AccountBudget> {
  const key = await visibleKey(deps, principal, change.id);
  await requireNoKeyBudget(deps, principal);
  const { limits } = change;
  const place = { account: keyAccount(key.id), tenant: PERSONAL_TENANT, user: key.userId };
  await put(deps, { place, by: principal.id }, (before) => {
    if (principal.isSuperuser) return { limits, ceiling: limits };
    const ceiling = before?.ceiling ?? {};
    return { limits: withinCeiling(limits, ceiling), ceiling };
  });
  return budgetOf(deps, place.account);
}

/** Usage of the caller's space, with what its models took in the last days, if it may see that, and of the key of the request. */
export async function readOwnUsage(
  deps: AuthDependencies,
  principal: Principal,
  days: number,
): Promise<{
  readonly space: AccountBudget | null;
  readonly key: AccountBudget | null;
  readonly models: readonly ModelTokens[];
}> {
  const [payer, key] = payerOf(principal).accounts;
  const space = payer !== undefined && (await maySeeSpace(deps, principal)) ? payer : null;
  const firstDay = new Date(deps.clock.now().getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  return {
    space: space && (await budgetOf(deps, space)),
    key: key === undefined ? null : await budgetOf(deps, key),
    models: space === null ? [] : await deps.modelUsage.since({ tenant: principal.tenant }, space, firstDay),
  };
}

/**
 * `PermissionDeniedError` for a key that has a budget: the credentials or limits that it would change are not limited by it.
 */
export async function requireNoKeyBudget({ storedBudgets }: AuthDependencies, { key, isSuperuser }: Principal) {
  if (key === undefined || isSuperuser || (await storedBudgets.get(keyAccount(key.id))) === null) return;
  throw engramError(
    'PermissionDeniedError',
    'This API key has a budget; it cannot change budgets or create credentials.',
  );
}

async function maySeeSpace(deps: AuthDependencies, { id, tenant, isSuperuser }: Principal): Promise<boolean> {
  if (tenant === PERSONAL_TENANT || isSuperuser) return true;
  const found = await deps.tenants.get(tenant);
  return found !== null && (await authorityIn(deps, id, found)).allows('manage_users');
}

async function spaceOf(deps: AuthDependencies, id: string): Promise<Place> {
  const tenant = asId<TenantId>(id);
  if ((await deps.tenants.get(tenant)) !== null) return { account: `tenant/${tenant}`, tenant, user: null };
  const user = await deps.users.get(asId(id));
  if (user === null) throw tenantNotFound(tenant);
  return { account: `user/${user.id}`, tenant: PERSONAL_TENANT, user: user.id };
}

async function visibleKey({ apiKeys }: AuthDependencies, principal: Principal, id: string): Promise<ApiKey> {
  const key = await apiKeys.get(id);
  if (key !== null && (key.userId === principal.id || principal.isSuperuser)) return key;
  throw engramError('EntityNotFoundError', 'API key not found.');
}

/** Applies the ceiling to the limits. Kinds that the owner does not set keep the ceiling. */
function withinCeiling(limits: BudgetLimits, ceiling: BudgetLimits): BudgetLimits {
  const kept: Partial<Record<BudgetKind, BudgetLimit>> = { ...limits };
  for (const kind of BUDGET_KINDS) {
    const highest = ceiling[kind];
    if (highest === undefined || highest.limit === null) continue;
    const asked = limits[kind] ?? highest;
    const isHigher = asked.limit === null || asked.limit > highest.limit;
    const isWeaker = highest.action === 'Enforce' && asked.action === 'Warn';
    if (isHigher || isWeaker) {
      throw engramError(
        'PermissionDeniedError',
        `The budget of this API key allows ${kind} of at most ${highest.limit}.`,
      );
    }
    kept[kind] = asked;
  }
  return kept;
}

async function put(
  deps: AuthDependencies,
  { place, by }: { readonly place: Place; readonly by: UserId | null },
  change: (before: StoredBudget | null) => Pick<StoredBudget, 'limits' | 'ceiling'>,
): Promise<void> {
  const { storedBudgets, audit, clock, notify, budgets } = deps;
  const { account, tenant, user } = place;
  await retryOnConflict(async () => {
    const before = await storedBudgets.get(account);
    const next = { account, ...change(before), updatedAt: clock.now().toISOString() };
    const details = { account, limits: next.limits, before: before?.limits ?? null };
    const subject = account.slice(account.indexOf('/') + 1);
    await audit.commit(
      { tenant },
      [storedBudgets.putWrite(next, before)],
      [{ tenant, action: 'budget.changed', actor: by, subject, details }],
    );
  });
  budgets.forget();
  if (user === null) notify.accessChanged(tenant, null);
  else notify.userChanged(user);
}

async function budgetOf({ storedBudgets, budgets, clock }: AuthDependencies, account: BudgetAccount) {
  const [stored, standing] = await Promise.all([storedBudgets.get(account), budgets.standing(account)]);
  return { account, stored, standing, at: clock.now() };
}

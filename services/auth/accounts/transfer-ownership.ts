import { homeOf } from '../../common/domain/budget.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { StoredDataset } from '../../common/records/auth/datasets.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { authorityIn } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import { ensureDefaultUser } from './default-user.ts';

/** Accounts that go, and who removes them. */
export interface Departure {
  /** The account and its agents: none of them inherits from another. */
  readonly leaving: ReadonlySet<UserId>;
  /** The acting user; null for the system. */
  readonly by: UserId | null;
}

/**
 * Who gets a dataset of an account that goes: the parent of an agent, else the owner of the dataset's tenant, else the
 * acting superuser (decisions.md, "deleted owner"). A parent who does not belong to the tenant could not reach it there.
 */
export async function heirOfDataset(
  deps: AuthDependencies,
  owner: Pick<User, 'parentId'>,
  { tenant, departure }: { readonly tenant: TenantId; readonly departure: Departure },
): Promise<UserId> {
  const { parentId } = owner;
  if (parentId !== null && (await canInherit(deps, parentId, departure))) {
    if (tenant === PERSONAL_TENANT || (await deps.memberships.has(tenant, parentId))) return parentId;
  }
  const tenantOwner = tenant === PERSONAL_TENANT ? undefined : (await deps.tenants.get(tenant))?.ownerId;
  if (tenantOwner !== undefined && (await canInherit(deps, tenantOwner, departure))) return tenantOwner;
  return actingSuperuser(deps, departure);
}

/** Who gets a tenant: the member of longest standing who manages its users, else the acting superuser. */
export async function heirOfTenant(deps: AuthDependencies, tenant: Tenant, departure: Departure): Promise<UserId> {
  for (const id of await deps.memberships.usersOf(tenant.id)) {
    if (departure.leaving.has(id)) continue;
    const member = await deps.users.get(id);
    if (member === null || !member.isActive || member.parentId !== null) continue;
    if ((await authorityIn(deps, id, tenant)).allows('manage_users')) return id;
  }
  return actingSuperuser(deps, departure);
}

/** The acting user if it is a superuser, else the oldest one. A server without any gets its default account. */
async function actingSuperuser(deps: AuthDependencies, { leaving, by }: Departure): Promise<UserId> {
  const staying = (await deps.users.superusers()).filter(({ id }) => !leaving.has(id));
  const heir = staying.find(({ id }) => id === by) ?? staying[0] ?? (await ensureDefaultUser(deps));
  return heir.id;
}

async function canInherit({ users }: AuthDependencies, id: UserId, { leaving }: Departure): Promise<boolean> {
  return !leaving.has(id) && (await users.get(id)) !== null;
}

/** Datasets in one commit: few enough for the locks of a transaction, many enough for accounts with thousands. */
const BATCH = 100;

/**
 * Gives every dataset of an account that goes another owner with all four grants. Ids stay, so content and shares stay as
 * they are. A name that the new owner has already gets the head of the dataset's id behind it: names resolve among own
 * datasets, and two of one name could not be told apart. Each commit stands for itself: what was cut short goes on when it
 * is repeated.
 */
export async function handOverDatasets(
  deps: AuthDependencies,
  owner: Pick<User, 'id' | 'parentId'>,
  departure: Departure,
): Promise<void> {
  const handOverNext = async () => {
    const owned = await deps.datasets.ofOwner(owner.id, BATCH);
    for (const [tenant, datasets] of byTenant(owned)) {
      const heir = await heirOfDataset(deps, owner, { tenant, departure });
      await handOverBatch(deps, datasets, { tenant, heir, by: departure.by });
    }
    return owned.length > 0;
  };
  while (await retryOnConflict(handOverNext)) {
    // Until it owns none.
  }
}

interface HandOver {
  readonly tenant: TenantId;
  readonly heir: UserId;
  readonly by: UserId | null;
}

async function handOverBatch(
  deps: AuthDependencies,
  owned: readonly StoredDataset[],
  { tenant, heir, by }: HandOver,
): Promise<void> {
  const { datasets, grants, users, clock } = deps;
  const scope = { tenant };
  const at = clock.now().toISOString();
  const names = await freeNames(deps, owned, { tenant, heir });
  const writes: Write[] = [users.touchWrite(heir)];
  const entries: AuditEntry[] = [];
  for (const dataset of owned) {
    const name = names.get(dataset) ?? dataset.name;
    const event = { type: 'dataset.reassigned', subjectId: dataset.id, data: { ownerId: heir } };
    writes.push(
      datasets.passOnWrite(dataset, { ownerId: heir, name, at }),
      ...deps.eventLog.appendWrites({ tenant, dataset: dataset.id }, [event]),
    );
    const details = { from: dataset.ownerId, to: heir, name };
    entries.push({ tenant, action: 'dataset.reassigned', actor: by, subject: dataset.id, details });
  }
  const ids = owned.map(({ id }) => id);
  writes.push(...(await grants.giveAllWrites(scope, ids, heir)));
  const homes = [...owned, { tenant, ownerId: heir }].map(homeOf);
  if (tenant === PERSONAL_TENANT) writes.push(...deps.budgets.recountWrites([...new Set(homes)]));
  const [first, ...rest] = entries;
  if (first === undefined) return;
  await deps.audit.commit(scope, writes, [first, ...rest]);
  deps.news.accessChanged(tenant, [heir]);
}

async function freeNames(
  deps: AuthDependencies,
  owned: readonly StoredDataset[],
  { tenant, heir }: Pick<HandOver, 'tenant' | 'heir'>,
): Promise<ReadonlyMap<StoredDataset, string>> {
  const spellings = new Map(owned.map((dataset) => [dataset, spellingsOf(dataset)]));
  const taken = await deps.datasets.ownedByName({ tenant }, heir, [...spellings.values()].flat());
  const unusable = new Set(taken.map(({ name }) => name));
  const chosen = new Map<StoredDataset, string>();
  for (const [dataset, candidates] of spellings) {
    const name = candidates.find((candidate) => !unusable.has(candidate));
    // The last one holds the whole id: nobody else has it.
    const free = name ?? candidates.at(-1) ?? dataset.name;
    unusable.add(free);
    chosen.set(dataset, free);
  }
  return chosen;
}

/** In the order they are tried. */
function spellingsOf({ name, id }: StoredDataset): readonly string[] {
  return [name, `${name}_${id.slice(0, 8)}`, `${name}_${id}`];
}

function byTenant(owned: readonly StoredDataset[]): ReadonlyMap<TenantId, readonly StoredDataset[]> {
  return Map.groupBy(owned, ({ tenant }) => tenant);
}

/** Gives every tenant of an account that goes another owner, who becomes a member if need be. */
export async function handOverTenants(deps: AuthDependencies, owner: UserId, departure: Departure): Promise<void> {
  const handOverOwned = async () => {
    const owned = await deps.tenants.ownedBy(owner);
    for (const tenant of owned) await handOverTenant(deps, tenant, departure);
    return owned.length > 0;
  };
  while (await retryOnConflict(handOverOwned)) {
    // Until it owns none.
  }
}

async function handOverTenant(deps: AuthDependencies, tenant: Tenant, departure: Departure): Promise<void> {
  const { tenants, memberships, users, clock, eventLog } = deps;
  const heir = await heirOfTenant(deps, tenant, departure);
  const isMember = await memberships.has(tenant.id, heir);
  const details = { from: tenant.ownerId, to: heir };
  const joined = { type: 'membership.added', subjectId: heir, data: {} };
  const reassigned = { type: 'tenant.reassigned', subjectId: tenant.id, data: { ownerId: heir } };
  await deps.audit.commit(
    { tenant: tenant.id },
    [
      tenants.passOnWrite(tenant, heir),
      users.touchWrite(heir),
      ...(isMember ? [] : [memberships.insertWrite(tenant.id, heir, clock.now().toISOString())]),
      ...eventLog.appendWrites({ tenant: tenant.id }, isMember ? [reassigned] : [joined, reassigned]),
    ],
    [
      { tenant: tenant.id, action: 'tenant.reassigned', actor: departure.by, subject: tenant.id, details },
      ...(isMember ? [] : [{ tenant: tenant.id, action: 'membership.added', actor: departure.by, subject: heir }]),
    ],
  );
  deps.news.accessChanged(tenant.id, [heir]);
  // Its keys act as the new owner.
  deps.news.tenantChanged(tenant.id);
}

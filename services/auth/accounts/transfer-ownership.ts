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

/** A deletion of accounts. */
export interface AccountDeletion {
  /** The account and its agents: none of them can succeed another. */
  readonly leaving: ReadonlySet<UserId>;
  /** The acting user; null: the system. */
  readonly by: UserId | null;
}

/**
 * The new owner of a dataset of a deleted account: the parent of an agent, else the owner of the dataset's tenant, else the
 * acting superuser (proto/http/decisions.md, "deleted owner"). A parent outside the tenant could not reach the dataset, so it
 * is passed over.
 */
async function successorOfDataset(
  deps: AuthDependencies,
  owner: Pick<User, 'parentId'>,
  { tenant, deletion }: { readonly tenant: TenantId; readonly deletion: AccountDeletion },
): Promise<UserId> {
  const { parentId } = owner;
  if (parentId !== null && (await canSucceed(deps, parentId, deletion))) {
    if (tenant === PERSONAL_TENANT || (await deps.memberships.has(tenant, parentId))) return parentId;
  }
  const tenantOwner = tenant === PERSONAL_TENANT ? undefined : (await deps.tenants.get(tenant))?.ownerId;
  if (tenantOwner !== undefined && (await canSucceed(deps, tenantOwner, deletion))) return tenantOwner;
  return actingSuperuser(deps, deletion);
}

/** The new owner of a tenant: the longest-standing member who manages its users, else the acting superuser. */
async function successorOfTenant(deps: AuthDependencies, tenant: Tenant, deletion: AccountDeletion): Promise<UserId> {
  for (const id of await deps.memberships.usersOf(tenant.id)) {
    if (deletion.leaving.has(id)) continue;
    const member = await deps.users.get(id);
    if (member === null || !member.isActive || member.parentId !== null) continue;
    if ((await authorityIn(deps, id, tenant)).allows('manage_users')) return id;
  }
  return actingSuperuser(deps, deletion);
}

/** The acting user if it is a superuser, else the oldest superuser, else the default account. */
async function actingSuperuser(deps: AuthDependencies, { leaving, by }: AccountDeletion): Promise<UserId> {
  const staying = (await deps.users.superusers()).filter(({ id }) => !leaving.has(id));
  const successor = staying.find(({ id }) => id === by) ?? staying[0] ?? (await ensureDefaultUser(deps));
  return successor.id;
}

async function canSucceed({ users }: AuthDependencies, id: UserId, { leaving }: AccountDeletion): Promise<boolean> {
  return !leaving.has(id) && (await users.get(id)) !== null;
}

/** Datasets per commit: few enough for the locks of a transaction, enough for accounts with thousands of datasets. */
const BATCH = 100;

/**
 * Transfers all datasets of a deleted account, each to its successor with all four permissions. Ids stay, so content and
 * shares stay as they are. A name that the new owner already uses gets the start of the dataset's id appended: names resolve
 * among a user's own datasets. Each commit is independent: an interrupted transfer continues when it is repeated.
 */
export async function transferDatasets(
  deps: AuthDependencies,
  owner: Pick<User, 'id' | 'parentId'>,
  deletion: AccountDeletion,
): Promise<void> {
  const transferNext = async () => {
    const owned = await deps.datasets.ofOwner(owner.id, BATCH);
    for (const [tenant, datasets] of byTenant(owned)) {
      const successor = await successorOfDataset(deps, owner, { tenant, deletion });
      await transferBatch(deps, datasets, { tenant, successor, by: deletion.by });
    }
    return owned.length > 0;
  };
  while (await retryOnConflict(transferNext)) {
    // The next batch, until nothing is left.
  }
}

interface Transfer {
  readonly tenant: TenantId;
  readonly successor: UserId;
  readonly by: UserId | null;
}

async function transferBatch(
  deps: AuthDependencies,
  owned: readonly StoredDataset[],
  { tenant, successor, by }: Transfer,
): Promise<void> {
  const { datasets, grants, users, clock } = deps;
  const scope = { tenant };
  const at = clock.now().toISOString();
  const names = await freeNames(deps, owned, { tenant, successor });
  const writes: Write[] = [users.touchWrite(successor)];
  const entries: AuditEntry[] = [];
  for (const dataset of owned) {
    const name = names.get(dataset) ?? dataset.name;
    const event = { type: 'dataset.reassigned', subjectId: dataset.id, data: { ownerId: successor } };
    writes.push(
      datasets.transferWrite(dataset, { ownerId: successor, name, at }),
      ...deps.eventLog.appendWrites({ tenant, dataset: dataset.id }, [event]),
    );
    const details = { from: dataset.ownerId, to: successor, name };
    entries.push({ tenant, action: 'dataset.reassigned', actor: by, subject: dataset.id, details });
  }
  const ids = owned.map(({ id }) => id);
  writes.push(...(await grants.giveAllWrites(scope, ids, successor)));
  const homes = [...owned, { tenant, ownerId: successor }].map(homeOf);
  if (tenant === PERSONAL_TENANT) writes.push(...deps.budgets.recountWrites([...new Set(homes)]));
  const [first, ...rest] = entries;
  if (first === undefined) return;
  await deps.audit.commit(scope, writes, [first, ...rest]);
  deps.notify.accessChanged(tenant, [successor]);
}

async function freeNames(
  deps: AuthDependencies,
  owned: readonly StoredDataset[],
  { tenant, successor }: Pick<Transfer, 'tenant' | 'successor'>,
): Promise<ReadonlyMap<StoredDataset, string>> {
  const spellings = new Map(owned.map((dataset) => [dataset, candidateNamesOf(dataset)]));
  const taken = await deps.datasets.ownedByName({ tenant }, successor, [...spellings.values()].flat());
  const unusable = new Set(taken.map(({ name }) => name));
  const chosen = new Map<StoredDataset, string>();
  for (const [dataset, candidates] of spellings) {
    const name = candidates.find((candidate) => !unusable.has(candidate));
    // The last candidate contains the whole id, so it is unique.
    const free = name ?? candidates.at(-1) ?? dataset.name;
    unusable.add(free);
    chosen.set(dataset, free);
  }
  return chosen;
}

/** Candidate names, in the order in which they are tried. */
function candidateNamesOf({ name, id }: StoredDataset): readonly string[] {
  return [name, `${name}_${id.slice(0, 8)}`, `${name}_${id}`];
}

function byTenant(owned: readonly StoredDataset[]): ReadonlyMap<TenantId, readonly StoredDataset[]> {
  return Map.groupBy(owned, ({ tenant }) => tenant);
}

/** Transfers all tenants of a deleted account, each to its successor, who becomes a member if necessary. */
export async function transferTenants(deps: AuthDependencies, owner: UserId, deletion: AccountDeletion): Promise<void> {
  const transferOwned = async () => {
    const owned = await deps.tenants.ownedBy(owner);
    for (const tenant of owned) await transferTenant(deps, tenant, deletion);
    return owned.length > 0;
  };
  while (await retryOnConflict(transferOwned)) {
    // The next batch, until nothing is left.
  }
}

async function transferTenant(deps: AuthDependencies, tenant: Tenant, deletion: AccountDeletion): Promise<void> {
  const { tenants, memberships, users, clock, eventLog } = deps;
  const successor = await successorOfTenant(deps, tenant, deletion);
  const isMember = await memberships.has(tenant.id, successor);
  const details = { from: tenant.ownerId, to: successor };
  const joined = { type: 'membership.added', subjectId: successor, data: {} };
  const reassigned = { type: 'tenant.reassigned', subjectId: tenant.id, data: { ownerId: successor } };
  await deps.audit.commit(
    { tenant: tenant.id },
    [
      tenants.transferWrite(tenant, successor),
      users.touchWrite(successor),
      ...(isMember ? [] : [memberships.insertWrite(tenant.id, successor, clock.now().toISOString())]),
      ...eventLog.appendWrites({ tenant: tenant.id }, isMember ? [reassigned] : [joined, reassigned]),
    ],
    [
      { tenant: tenant.id, action: 'tenant.reassigned', actor: deletion.by, subject: tenant.id, details },
      ...(isMember ? [] : [{ tenant: tenant.id, action: 'membership.added', actor: deletion.by, subject: successor }]),
    ],
  );
  deps.notify.accessChanged(tenant.id, [successor]);
  // API keys of the tenant act as the new owner.
  deps.notify.tenantChanged(tenant.id);
}

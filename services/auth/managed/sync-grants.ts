import type { PrincipalId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERMISSIONS, type Permission } from '../../common/kernel/principal.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, DeclaredGrant, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { findHolder, type Holder, holderWrite } from '../access/holders.ts';
import type { AuthDependencies } from '../model.ts';
import type { SinglePermission } from '../repositories/managed-grants.ts';

/** Implements `auth.SyncGrants`; proto/ has its rules and errors. */
export async function syncGrants(
  deps: AuthDependencies,
  request: RequestOf<'auth.SyncGrants'>,
): Promise<AnswerOf<'auth.SyncGrants'>> {
  const { tenantId, datasetId, crUid } = request;
  return retryOnConflict(async () => {
    const dataset = await deps.datasets.get(datasetScope(tenantId, datasetId), datasetId);
    if (dataset === null) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
    const managed = await requireManaged(deps, { tenant: tenantId, dataset: datasetId }, crUid);
    const { holders, wanted, unknown } = await declared(deps, request);
    const plan = await planOf(deps, request, { wanted, ownerId: dataset.ownerId });
    const answer = { added: plan.given.length, removed: plan.taken.length, unknownPrincipals: unknown };
    if (!(await apply(deps, request, { plan, holders, keep: deps.managedResources.keepWrite(managed) }))) return answer;
    deps.notify.accessChanged(tenantId, null);
    return answer;
  });
}

interface Declared {
  readonly holders: ReadonlyMap<PrincipalId, Holder>;
  readonly wanted: readonly SinglePermission[];
  /** Sorted. */
  readonly unknown: readonly string[];
}

async function declared(deps: AuthDependencies, { tenantId, grants }: RequestOf<'auth.SyncGrants'>): Promise<Declared> {
  const holders = new Map<PrincipalId, Holder>();
  const wanted = new Map<string, SinglePermission>();
  const unknown = new Set<string>();
  for (const { holder: named, permissions } of grants) {
    const id = await idOfHolder(deps, tenantId, named);
    const holder = id === null ? null : await findHolder(deps, id);
    if (holder === null) unknown.add(spelled(named));
    else holders.set(holder.id, holder);
    if (holder === null) continue;
    for (const permission of permissions) {
      const single = { holder: holder.id, permission };
      wanted.set(keyOf(single), single);
    }
  }
  return { holders, wanted: [...wanted.values()], unknown: [...unknown].sort() };
}

async function idOfHolder({ users, roles }: AuthDependencies, tenant: TenantId, holder: DeclaredGrant['holder']) {
  if ('userEmail' in holder) return (await users.findByEmail(holder.userEmail))?.id ?? null;
  if ('roleName' in holder) return (await roles.findByName(tenant, holder.roleName))?.id ?? null;
  return asId(holder.tenantId);
}

function spelled(holder: DeclaredGrant['holder']): string {
  if ('userEmail' in holder) return `user/${holder.userEmail}`;
  return 'roleName' in holder ? `role/${holder.roleName}` : `tenant/${holder.tenantId}`;
}

/** The changes to make, as lists of single permissions. */
interface Plan {
  readonly given: readonly SinglePermission[];
  readonly taken: readonly SinglePermission[];
  /** Permissions that become declared, or are no longer declared, by the resource. */
  readonly newlyDeclared: readonly SinglePermission[];
  readonly undeclared: readonly SinglePermission[];
  /** The permissions afterwards, of holders whose permissions change. */
  readonly after: ReadonlyMap<PrincipalId, ReadonlySet<Permission>>;
}

async function planOf(
  { grants, managedGrants }: AuthDependencies,
  { tenantId, datasetId, exclusive }: RequestOf<'auth.SyncGrants'>,
  { wanted, ownerId }: { readonly wanted: readonly SinglePermission[]; readonly ownerId: PrincipalId },
): Promise<Plan> {
  const scope = { tenant: tenantId };
  const [present, newlyDeclared] = await Promise.all([
    grants.onDataset(scope, datasetId),
    managedGrants.ofDataset(scope, datasetId),
  ]);
  const has = present.flatMap(({ holder, permissions }) =>
    [...permissions].map((permission) => ({ holder, permission })),
  );
  const given = without(wanted, has);
  const outdated = without(newlyDeclared, wanted);
  const beyond = exclusive ? without(has, wanted) : common(has, outdated);
  const taken = beyond.filter(({ holder }) => holder !== ownerId);
  const changed = new Set([...given, ...taken].map(({ holder }) => holder));
  const left = [...without(has, taken), ...given];
  const after = new Map(
    [...changed].map((holder) => [
      holder,
      new Set(left.filter((single) => single.holder === holder).map(({ permission }) => permission)),
    ]),
  );
  return { given, taken, newlyDeclared: without(given, newlyDeclared), undeclared: outdated, after };
}

interface Work {
  readonly plan: Plan;
  readonly holders: ReadonlyMap<PrincipalId, Holder>;
  readonly keep: Write;
}

/** False when nothing had to be changed. */
async function apply(
  deps: AuthDependencies,
  { tenantId: tenant, datasetId: dataset, crUid }: RequestOf<'auth.SyncGrants'>,
  { plan, holders, keep }: Work,
): Promise<boolean> {
  const { given, taken, newlyDeclared, undeclared, after } = plan;
  const notes = [
    ...undeclared.map((single) => deps.managedGrants.removeWrite(dataset, single)),
    ...newlyDeclared.map((single) => deps.managedGrants.insertWrite(dataset, single)),
  ];
  if (given.length + taken.length + notes.length === 0) return false;
  const receivers = [...new Set(given.map(({ holder }) => holder))].flatMap((id) => holders.get(id) ?? []);
  const writes = [
    keep,
    ...receivers.map((holder) => holderWrite(deps, holder)),
    ...(await deps.grants.exactWrites({ tenant }, dataset, after)),
    ...notes,
    ...deps.eventLog.appendWrites({ tenant, dataset }, [
      ...given.map((single) => eventOf(dataset, single, 'access.granted')),
      ...taken.map((single) => eventOf(dataset, single, 'access.revoked')),
    ]),
  ];
  const entry =
    (action: string) =>
    ({ holder, permission }: SinglePermission): AuditEntry => ({
      tenant,
      action,
      actor: null,
      subject: dataset,
      details: { holder, permission, resource: crUid },
    });
  const [first, ...rest] = [...given.map(entry('grant.given')), ...taken.map(entry('grant.revoked'))];
  // Only the record of declared permissions changed: access is the same, so it is not audited.
  if (first === undefined) await deps.store.commit({ tenant }, writes);
  else await deps.audit.commit({ tenant }, writes, [first, ...rest]);
  return true;
}

function eventOf(dataset: string, { holder, permission }: SinglePermission, type: string) {
  return { type, subjectId: `${dataset}/${holder}/${permission}`, data: { holderId: holder, permission } };
}

function keyOf({ holder, permission }: SinglePermission): string {
  return `${holder}/${PERMISSIONS.indexOf(permission)}`;
}

function without(list: readonly SinglePermission[], others: readonly SinglePermission[]): readonly SinglePermission[] {
  const keys = new Set(others.map(keyOf));
  return list.filter((single) => !keys.has(keyOf(single)));
}

function common(list: readonly SinglePermission[], others: readonly SinglePermission[]): readonly SinglePermission[] {
  const keys = new Set(others.map(keyOf));
  return list.filter((single) => keys.has(keyOf(single)));
}

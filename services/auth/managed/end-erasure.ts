import { keyAccount } from '../../common/domain/budget.ts';
import type { ErasureReceipt } from '../../common/domain/erasure-receipt.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { requireManager } from '../../common/records/auth/require-managed.ts';
import { removeOfWrite } from '../../common/records/collections.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import { tenantRecordCollections } from '../collections.ts';
import type { AuthDependencies } from '../model.ts';

/** Records that an erasure keeps: the audit log, the ids of events, and tombstones, by which late work on a dataset is recognised. */
const KEPT = {
  dataset: ['audit log', 'event log', 'run history', 'tombstones'],
  tenant: ['audit log', 'event log'],
} as const;

/** Implements `auth.EndErasure`; proto/ has its rules and errors. */
export async function endErasure(deps: AuthDependencies, request: RequestOf<'auth.EndErasure'>): Promise<string> {
  const { tenantId: tenant, datasetId, crUid } = request;
  const thing = { tenant, dataset: datasetId ?? null };
  return retryOnConflict(async () => {
    const earlier = await deps.erasureReceipts.get(crUid, thing);
    if (earlier !== null) return earlier;
    const managed = await requireManager(deps, thing, crUid);
    if (!managed.isErasing) throw engramError('ConflictError', 'The erasure has not been started.');
    await requireNoDataset(deps, thing);
    const accounts = thing.dataset === null ? await removeMembers(deps, tenant) : 0;
    const removed = thing.dataset === null ? { ...request.removed, memberships: accounts } : request.removed;
    const { text, write } = receiptOf(deps, { ...request, removed }, thing);
    const writes: Write[] = [
      deps.managedResources.keepWrite(managed),
      write,
      ...(thing.dataset === null
        ? await tenantBelongingsWrites(deps, tenant)
        : [deps.managedResources.removeWrite(thing), deps.managedGrants.removeAllWrite(thing.dataset)]),
      // The removal of a dataset has emitted its event already.
      ...(thing.dataset === null
        ? deps.eventLog.appendWrites({ tenant }, [{ type: 'tenant.erased', subjectId: tenant, data: {} }])
        : []),
    ];
    const action = thing.dataset === null ? 'tenant.erased' : 'dataset.erased';
    const entry = {
      tenant,
      action,
      actor: null,
      subject: thing.dataset ?? tenant,
      details: { resource: crUid, removed },
    };
    await deps.audit.commit({ tenant }, writes, [entry]);
    deps.notify.tenantChanged(tenant);
    return text;
  });
}

/** `ConflictError` while a dataset is left: it was overlooked, or created before the beginning of the erasure took effect. */
async function requireNoDataset({ datasets }: AuthDependencies, { tenant, dataset }: ManagedThing): Promise<void> {
  const left =
    dataset === null
      ? (await datasets.ofTenant({ tenant }, 1)).length > 0
      : (await datasets.get({ tenant }, dataset)) !== null;
  if (left) throw engramError('ConflictError', 'There is still a dataset to be erased.', { retryable: true });
}

function receiptOf(
  { auditHeads, erasureReceipts, clock }: AuthDependencies,
  { crUid, begunAt, removed, kept }: RequestOf<'auth.EndErasure'>,
  thing: ManagedThing,
): { readonly text: string; readonly write: Write } {
  const endedAt = clock.now().toISOString();
  const kind = thing.dataset === null ? 'tenant' : 'dataset';
  const receipt: ErasureReceipt = {
    kind,
    tenant: thing.tenant,
    dataset: thing.dataset,
    resource: crUid,
    begunAt,
    endedAt,
    removed,
    residue: 0,
    kept: [...KEPT[kind], ...kept],
  };
  const text = JSON.stringify(auditHeads.signReceipt(receipt));
  return { text, write: erasureReceipts.insertWrite(crUid, thing, { text, createdAt: endedAt }) };
}

/** Removes the tenant with its records in one commit, so that nothing can be added afterwards. */
async function tenantBelongingsWrites(deps: AuthDependencies, tenant: TenantId): Promise<readonly Write[]> {
  const keys = await deps.apiKeys.ofTenant(tenant);
  const accounts = [`tenant/${tenant}` as const, ...keys.map(({ id }) => keyAccount(id))];
  return [
    ...tenantRecordCollections.map((collection) => removeOfWrite(collection, 'tenant', tenant)),
    ...accounts.flatMap((account) => deps.budgets.removeWrites(account)),
    deps.tenants.removeWrite(tenant),
  ];
}

/**
 * Ends all memberships: members return to their personal space, agents that were created in the tenant are deleted. Returns
 * the number of members.
 */
async function removeMembers(deps: AuthDependencies, tenant: TenantId): Promise<number> {
  const members = await deps.memberships.usersOf(tenant);
  for (const member of members) {
    const agents = await deps.users.agentsOf(member);
    for (const agent of agents) if (agent.tenant === tenant) await deleteUser(deps, agent.id, null);
    await endMembership(deps, tenant, member);
  }
  return members.length;
}

async function endMembership(deps: AuthDependencies, tenant: TenantId, id: UserId): Promise<void> {
  await retryOnConflict(async () => {
    const user = await deps.users.get(id);
    const writes = [
      ...(user?.tenant === tenant ? [deps.users.replaceWrite({ ...user, tenant: PERSONAL_TENANT })] : []),
      deps.memberships.removeWrite(tenant, id),
      ...deps.eventLog.appendWrites({ tenant }, [{ type: 'membership.removed', subjectId: id, data: {} }]),
    ];
    await deps.audit.commit({ tenant }, writes, [
      { tenant, action: 'membership.removed', actor: null, subject: id, details: { reason: 'erasure' } },
    ]);
    deps.notify.userChanged(id);
  });
}

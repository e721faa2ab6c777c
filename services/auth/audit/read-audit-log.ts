import type { AuditRecord, SignedAuditHead } from '../../common/domain/audit-record.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { capabilityMissing, requireCapability } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

/**
 * The tenant whose log is requested, by default the principal's own. `PermissionDeniedError` unless the principal manages its
 * users, also for a tenant that does not exist. The log of the personal space covers all accounts: only superusers read it.
 */
export async function auditedTenant(
  deps: AuthDependencies,
  principal: Principal,
  wanted: TenantId = principal.tenant,
): Promise<TenantId> {
  if (wanted === PERSONAL_TENANT) {
    if (!principal.isSuperuser) throw capabilityMissing('manage_users');
    return wanted;
  }
  try {
    await requireCapability(deps, principal, wanted, 'manage_users');
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'TenantNotFoundError') throw capabilityMissing('manage_users');
    throw error;
  }
  return wanted;
}

export interface AuditExport {
  /** From the first record to the head, a few hundred in memory at a time. */
  readonly records: AsyncGenerator<readonly AuditRecord[]>;
  /** Signed before the first record is read. */
  readonly head: SignedAuditHead;
}

/** Exports the whole log of a tenant; its last record is about this export. The caller has checked the permission. */
export async function exportAudit(deps: AuthDependencies, tenant: TenantId, by: UserId): Promise<AuditExport> {
  await deps.audit.record({ tenant, action: 'export.made', actor: by, subject: tenant, details: { what: 'audit' } });
  const { number, hash } = await deps.auditRecords.head(tenant);
  const head = deps.auditHeads.sign({ tenant, number, hash, signedAt: deps.clock.now().toISOString() });
  return { records: recordsUpTo(deps, tenant, number), head };
}

async function* recordsUpTo(
  { auditRecords }: AuthDependencies,
  tenant: TenantId,
  last: number,
): AsyncGenerator<readonly AuditRecord[]> {
  let after = 0;
  while (after < last) {
    const records = await auditRecords.range(tenant, after, last);
    const end = records.at(-1);
    // Records are missing in the store: the others are exported, and the head shows that something is missing.
    if (end === undefined) return;
    yield records;
    after = end.number;
  }
}

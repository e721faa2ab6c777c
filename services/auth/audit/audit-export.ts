import type { SignedAuditHead } from '../../common/domain/audit-head.ts';
import type { AuditRecord } from '../../common/domain/audit-record.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import type { AuthDependencies } from '../dependencies.ts';

type Dependencies = Pick<AuthDependencies, 'audit' | 'auditRecords' | 'auditHeads' | 'clock'>;

export interface AuditExport {
  /** From the first record to the head, a few hundred in memory at a time. */
  readonly records: AsyncGenerator<readonly AuditRecord[]>;
  /** Signed before the first record is read. */
  readonly head: SignedAuditHead;
}

/** The whole log of a tenant as it stands now; its last record tells of this export. The caller has checked the right. */
export async function exportAudit(deps: Dependencies, tenant: TenantId, by: UserId): Promise<AuditExport> {
  await deps.audit.record({ tenant, action: 'export.made', actor: by, subject: tenant, details: { what: 'audit' } });
  const { number, hash } = await deps.auditRecords.head(tenant);
  const head = deps.auditHeads.sign({ tenant, number, hash, signedAt: deps.clock.now().toISOString() });
  return { records: recordsUpTo(deps, tenant, number), head };
}

async function* recordsUpTo(
  { auditRecords }: Pick<AuthDependencies, 'auditRecords'>,
  tenant: TenantId,
  last: number,
): AsyncGenerator<readonly AuditRecord[]> {
  let after = 0;
  while (after < last) {
    const records = await auditRecords.range(tenant, after, last);
    const end = records.at(-1);
    // Gone from the store: what is there is exported all the same, and the head shows that something is missing.
    if (end === undefined) return;
    yield records;
    after = end.number;
  }
}

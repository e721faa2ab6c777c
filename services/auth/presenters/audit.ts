import type { SignedAuditHead } from '../../common/domain/audit-head.ts';
import type { AuditRecord } from '../../common/domain/audit-record.ts';
import { asId } from '../../common/kernel/ids.ts';
import { parseClientJson } from '../../common/kernel/json.ts';
import { wireTenant } from '../../common/kernel/scope.ts';

/** For reading: `details` is an object. Hashes are made of the text, which exports have. */
export function presentAuditRecord({ tenant, details, previous, hash, ...record }: AuditRecord) {
  return { tenant_id: wireTenant(asId(tenant)), ...record, details: parseClientJson(details), previous, hash };
}

/** A line of an export: the fields that the hash is made of, in their order. */
export function exportedRecord(record: AuditRecord): string {
  const { tenant, number, at, action, actor, subject, details, previous, hash } = record;
  return `${JSON.stringify({ tenant, number, at, action, actor, subject, details, previous, hash })}\n`;
}

/** The last line of an export. */
export function exportedHead({ tenant, number, hash, signedAt, keyId, signature }: SignedAuditHead): string {
  return `${JSON.stringify({ head: { tenant, number, hash, signed_at: signedAt, key_id: keyId, signature } })}\n`;
}

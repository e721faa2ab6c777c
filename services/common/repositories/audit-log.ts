import { type AuditRecord, NO_RECORD, recordHash } from '../domain/audit-record.ts';
import type { TenantId } from '../domain/brand.ts';
import { SYSTEM_SCOPE } from '../domain/scope.ts';
import type { AuditEntry, AuditLog } from '../ports/audit-log.ts';
import { type Collection, type DocumentStore, DuplicateKeyError, insert } from '../ports/document-store.ts';
import type { Clock } from '../ports/system.ts';

/** Not the tenant's by level: records are committed with changes of any scope, and outlive what they tell of. */
export const auditRecordsCollection: Collection<AuditRecord> = {
  name: 'audit_records',
  level: 'system',
  indexes: [{ fields: ['tenant', 'number'], unique: true }],
};

type Link = Pick<AuditRecord, 'number' | 'hash'>;
const START: Link = { number: 0, hash: NO_RECORD };

export function createAuditLog(store: DocumentStore, clock: Pick<Clock, 'now'>): AuditLog {
  // The end of each chain as this process last saw it: another process that went on is noticed by the number being taken.
  const ends = new Map<TenantId, Link>();
  const endOf = async (tenant: TenantId): Promise<Link> => {
    const known = ends.get(tenant);
    if (known !== undefined) return known;
    const { items } = await store.find(SYSTEM_SCOPE, auditRecordsCollection, {
      where: { tenant },
      sort: [{ field: 'number', descending: true }],
      limit: 1,
    });
    return items[0]?.value ?? START;
  };
  const recordsOf = async (entries: readonly AuditEntry[]): Promise<readonly AuditRecord[]> => {
    const records: AuditRecord[] = [];
    const reached = new Map<TenantId, Link>();
    for (const { tenant, action, actor, subject, details = {} } of entries) {
      const { number, hash: previous } = reached.get(tenant) ?? (await endOf(tenant));
      const at = clock.now().toISOString();
      const record = {
        tenant,
        number: number + 1,
        at,
        action,
        actor,
        subject,
        details: JSON.stringify(details),
        previous,
      };
      const linked = { ...record, hash: recordHash(record) };
      reached.set(tenant, linked);
      records.push(linked);
    }
    return records;
  };
  const commit: AuditLog['commit'] = async (scope, writes, entries) => {
    for (;;) {
      const records = await recordsOf(entries);
      const appended = records.map((record) =>
        insert(auditRecordsCollection, `${record.tenant}/${record.number}`, record),
      );
      try {
        const results = await store.commit(scope, [...writes, ...appended]);
        for (const { tenant, number, hash } of records) ends.set(tenant as TenantId, { number, hash });
        return results.slice(0, writes.length);
      } catch (error) {
        for (const { tenant } of entries) ends.delete(tenant);
        const isOvertaken = error instanceof DuplicateKeyError && error.collection === auditRecordsCollection.name;
        if (!isOvertaken) throw error;
      }
    }
  };
  return {
    commit,
    async record(entry) {
      await commit(SYSTEM_SCOPE, [], [entry]);
    },
  };
}

import { type AuditLink, type AuditRecord, NO_RECORD } from '../../common/domain/audit-record.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { withoutUndefined } from '../../common/kernel/objects.ts';
import type { Page } from '../../common/kernel/result-page.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { DocumentStore, Filter } from '../../common/storage/ports/document-store.ts';
import { auditRecordsCollection } from './audit-log.ts';

/** All given conditions must hold. */
interface AuditFilter {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly subject?: string | undefined;
  /** ISO-8601 in UTC with milliseconds, like the times of records. Inclusive. */
  readonly since?: string | undefined;
  /** Exclusive. */
  readonly until?: string | undefined;
}

const RANGE = 500;

export type AuditRecords = ReturnType<typeof createAuditRecords>;

/** Reads audit records; callers check the permission. */
export function createAuditRecords(store: DocumentStore) {
  const newestFirst = [
    { field: 'tenant', descending: true },
    { field: 'number', descending: true },
  ] as const;
  // Clocks of replicas differ, so this order differs a little from that of the numbers; but every filter has an index in
  // it.
  const latestFirst = [
    { field: 'tenant', descending: true },
    { field: 'at', descending: true },
    { field: 'number', descending: true },
  ] as const;
  return {
    /** Newest first. `limit`: 1 to 1000. A cursor belongs to its filter. */
    async page(
      tenant: TenantId,
      filter: AuditFilter,
      { limit, after }: { readonly limit: number; readonly after: string | null },
    ): Promise<Page<AuditRecord>> {
      const where = { tenant, ...conditionsOf(filter) };
      const sort = Object.keys(where).length === 1 ? newestFirst : latestFirst;
      const page = await store.find(SYSTEM_SCOPE, auditRecordsCollection, { where, sort, limit, after });
      return { items: page.items.map(({ value }) => value), next: page.next };
    },
    /**
     * At most 500 records in the order of the chain, with numbers greater than `after` up to `upTo`; empty when there are
     * none.
     */
    async range(tenant: TenantId, after: number, upTo: number): Promise<readonly AuditRecord[]> {
      const { items } = await store.find(SYSTEM_SCOPE, auditRecordsCollection, {
        where: { tenant, number: { greaterThan: after, atMost: upTo } },
        sort: [{ field: 'tenant' }, { field: 'number' }],
        limit: RANGE,
      });
      return items.map(({ value }) => value);
    },
    /** The end of the chain; number 0 and no hash when it is empty. */
    async head(tenant: TenantId): Promise<AuditLink> {
      const query = { where: { tenant }, sort: newestFirst, limit: 1 };
      const { items } = await store.find(SYSTEM_SCOPE, auditRecordsCollection, query);
      const [last] = items;
      return { number: last?.value.number ?? 0, hash: last?.value.hash ?? NO_RECORD };
    },
  };
}

function conditionsOf({ action, actor, subject, since, until }: AuditFilter): Filter<AuditRecord> {
  const time = {
    ...withoutUndefined({ atLeast: since, lessThan: until }),
  };
  return {
    ...withoutUndefined({ action, actor, subject }),
    ...(Object.keys(time).length === 0 ? {} : { at: time }),
  };
}

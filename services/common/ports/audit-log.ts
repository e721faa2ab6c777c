import type { TenantId } from '../kernel/brand.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { AnyScope } from '../kernel/scope.ts';
import type { Write, WriteResult } from '../storage/ports/document-store.ts';

/**
 * Audit log, append-only: one chain of records per tenant, each holding the hash of the one before, so that none can be
 * changed, left out or put in between without being noticed. Accounts and the server itself are in the chain of the personal
 * space. Adapter: `auth/repositories/audit-log.ts`, on the document store.
 */
export interface AuditLog {
  /** Commits the writes with their audit records, all or nothing. Throws what `DocumentStore.commit` throws for the writes. */
  commit(
    scope: AnyScope,
    writes: readonly Write[],
    entries: readonly [AuditEntry, ...AuditEntry[]],
  ): Promise<readonly WriteResult[]>;
  /** For what changes nothing: a refused sign-in, an export. */
  record(entry: AuditEntry): Promise<void>;
}

export interface AuditEntry {
  /** Tenant whose administrators may read it. */
  readonly tenant: TenantId;
  /** `<what>.<past tense>`, for example `grant.given`, `session.refused`. */
  readonly action: string;
  /** User id; null: unknown. */
  readonly actor: string | null;
  /** Id of what it was done to; an address for a sign-in with an unknown one. */
  readonly subject: string;
  /** No secrets, no content of datasets. */
  readonly details?: JsonObject;
}

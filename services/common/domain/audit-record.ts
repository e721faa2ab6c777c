import { hash } from 'node:crypto';

/** An entry as it stands in the chain of its tenant. */
export type AuditRecord = {
  readonly tenant: string;
  /** From 1, without gaps. */
  readonly number: number;
  /** ISO-8601 with offset. */
  readonly at: string;
  readonly action: string;
  readonly actor: string | null;
  readonly subject: string;
  /** JSON text: an object would come back with its keys in another order from some stores, and so with another hash. */
  readonly details: string;
  /** Hash of the record before; `NO_RECORD` for the first. */
  readonly previous: string;
  /** Hash of all other fields: lower-case hex SHA-256, see `recordHash`. */
  readonly hash: string;
};

export const NO_RECORD = '0'.repeat(64);

/** SHA-256 over the JSON text of the fields as a list, in the order of `AuditRecord`. */
export function recordHash(record: Omit<AuditRecord, 'hash'>): string {
  const { tenant, number, at, action, actor, subject, details, previous } = record;
  return hash('sha256', JSON.stringify([tenant, number, at, action, actor, subject, details, previous]));
}

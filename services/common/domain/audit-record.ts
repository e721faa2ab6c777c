import { sha256OfJson } from '../kernel/hashes.ts';

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

/** What the next record is chained to. */
export type AuditLink = Pick<AuditRecord, 'number' | 'hash'>;

export const NO_RECORD = '0'.repeat(64);

/** SHA-256 over the JSON text of the fields as a list, in the order of `AuditRecord`. */
export function recordHash(record: Omit<AuditRecord, 'hash'>): string {
  const { tenant, number, at, action, actor, subject, details, previous } = record;
  return sha256OfJson([tenant, number, at, action, actor, subject, details, previous]);
}

/** Purpose of the key that signs heads, receipts and snapshots; it is derived from the secret that signs login tokens. */
export const SIGNING_PURPOSE = 'engram audit heads';

/** Signed end of an audit chain at a time: it proves when later records were removed. */
export interface AuditHead extends Pick<AuditRecord, 'tenant' | 'number' | 'hash'> {
  /** When it was signed: ISO-8601 with offset. */
  readonly signedAt: string;
}

export interface SignedAuditHead extends AuditHead {
  /** Id of the public key in `GET /api/v1/audit/keys`. */
  readonly keyId: string;
  /** Ed25519 over `auditHeadText`, base64url. */
  readonly signature: string;
}

/** Returns the signed text: a JSON list, in UTF-8. */
export function auditHeadText({ tenant, number, hash, signedAt }: AuditHead): string {
  return JSON.stringify(['engram audit head', tenant, number, hash, signedAt]);
}

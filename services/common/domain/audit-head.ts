import type { AuditRecord } from './audit-record.ts';

/** Of the key that signs heads, receipts and snapshots, which derives from the secret that signs login tokens. */
export const SIGNING_PURPOSE = 'engram audit heads';

/** Where a chain ended at a time, signed by the server: who holds it can prove that records behind it were cut off. */
export interface AuditHead extends Pick<AuditRecord, 'tenant' | 'number' | 'hash'> {
  /** When it was signed: ISO-8601 with offset. */
  readonly signedAt: string;
}

export interface SignedAuditHead extends AuditHead {
  /** Of the public key in `GET /api/v1/audit/keys`. */
  readonly keyId: string;
  /** Ed25519 over `auditHeadText`, base64url. */
  readonly signature: string;
}

/** What the signature is over: JSON text of a list, in UTF-8. */
export function auditHeadText({ tenant, number, hash, signedAt }: AuditHead): string {
  return JSON.stringify(['engram audit head', tenant, number, hash, signedAt]);
}

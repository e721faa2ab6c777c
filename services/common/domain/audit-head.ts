import type { AuditRecord } from './audit-record.ts';

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

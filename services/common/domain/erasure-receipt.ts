import type { JsonObject } from '../kernel/json.ts';

/** Signed proof of an erasure: everything was removed and counted. */
export interface ErasureReceipt {
  readonly kind: 'dataset' | 'tenant';
  readonly tenant: string;
  /** Null: the whole tenant. */
  readonly dataset: string | null;
  /** `metadata.uid` of the resource that asked for it. */
  readonly resource: string;
  /** ISO-8601 with offset, as all times. */
  readonly begunAt: string;
  readonly endedAt: string;
  /** Counts by kind of what was removed. */
  readonly removed: JsonObject;
  /** Number of records left afterwards; a receipt is issued for 0 only. */
  readonly residue: 0;
  /** Data that is kept on purpose: ids of events, no content. */
  readonly kept: readonly string[];
}

export interface SignedErasureReceipt extends ErasureReceipt {
  /** Id of the public key in `GET /api/v1/audit/keys`. */
  readonly keyId: string;
  /** Ed25519 over `erasureReceiptText`, base64url. */
  readonly signature: string;
}

/** Returns the signed text: a JSON list, in UTF-8, the counts by the code points of their names. */
export function erasureReceiptText(receipt: ErasureReceipt): string {
  const { kind, tenant, dataset, resource, begunAt, endedAt, removed, residue, kept } = receipt;
  const counts = Object.entries(removed).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([
    ...['engram erasure receipt', kind, tenant, dataset, resource, begunAt, endedAt],
    ...[counts, residue, kept],
  ]);
}

/** Says what a deletion removed by kind, and what is left: `Removed: items 1, blobs 2, graph 40; left: 0`. */
export function removedText({
  removed,
  residue,
}: {
  removed: Readonly<Record<string, number>>;
  residue: number;
}): string {
  const counts = Object.entries(removed).map(([kind, count]) => `${kind} ${count}`);
  return `Removed: ${counts.join(', ') || 'nothing'}; left: ${residue}`;
}

import { createPublicKey, verify } from 'node:crypto';
import { erasureReceiptText, type SignedErasureReceipt } from '../common/domain/erasure-receipt.ts';
import type { AuditKey } from './audit-check.ts';

export type ReceiptVerdict =
  | { readonly ok: true; readonly receipt: SignedErasureReceipt }
  /** `text` is for people. */
  | { readonly ok: false; readonly text: string };

const TEXTS = ['kind', 'tenant', 'resource', 'begunAt', 'endedAt', 'keyId', 'signature'] as const;
const FIELDS: ReadonlySet<string> = new Set([...TEXTS, 'dataset', 'removed', 'residue', 'kept']);

/** Whether the text is a receipt that one of the keys signed, and nothing beside it. */
export function checkReceipt(text: string, keys: readonly AuditKey[]): ReceiptVerdict {
  const receipt = parse(text);
  if (receipt === null) return { ok: false, text: 'it is no receipt of an erasure' };
  const key = keys.find(({ kid, crv }) => kid === receipt.keyId && crv === 'Ed25519');
  if (key === undefined) return { ok: false, text: 'it is signed by a key that the server does not have' };
  const publicKey = createPublicKey({ key, format: 'jwk' });
  const signed = Buffer.from(erasureReceiptText(receipt));
  if (verify(null, signed, publicKey, Buffer.from(receipt.signature, 'base64url'))) return { ok: true, receipt };
  return { ok: false, text: 'its signature is not right' };
}

/** Returns null for anything else: a field that the signature does not cover would be a forgery, too. */
function parse(text: string): SignedErasureReceipt | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const fields = value as Record<string, unknown>;
  if (!Object.keys(fields).every((name) => FIELDS.has(name))) return null;
  if (!TEXTS.every((name) => typeof fields[name] === 'string')) return null;
  const { dataset, removed, residue, kept } = fields;
  const isDataset = dataset === null || typeof dataset === 'string';
  const isCounted = typeof removed === 'object' && removed !== null && residue === 0 && Array.isArray(kept);
  return isDataset && isCounted ? (fields as unknown as SignedErasureReceipt) : null;
}

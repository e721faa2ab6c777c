import { createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { erasureReceiptText, type SignedErasureReceipt } from '../../common/domain/erasure-receipt.ts';
import { parseJson } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import type { AuditKey } from '../audit-check.ts';
import type { Command } from '../command.ts';
import { print, printJson } from '../output.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { AUDIT_PATH, auditKeys, unreadable } from './audit-request.ts';

export const receiptCommand: Command = {
  name: 'receipt',
  usage: 'verify FILE',
  summary: 'Proves that the receipt of an erasure is the one that the server signed.',
  details: `The operator keeps the receipt of a deleted Tenant or Dataset in a ConfigMap. Ends with 1 when the receipt was changed, or
signed by another server. Keep the server's keys with a receipt that shall be verified for years.`,
  options: {
    keys: { type: 'string', value: 'FILE', meaning: `the server's keys, as GET ${AUDIT_PATH}/keys gave them` },
  },
  async run(call) {
    const [action, file, ...more] = call.arguments;
    if (action !== 'verify' || file === undefined || more.length > 0) throw usageFailure('receipt knows: verify FILE');
    const verdict = checkReceipt(await readFile(file, 'utf8').catch(unreadable('', file)), await auditKeys(call));
    if (!verdict.ok) {
      if (call.asJson) printJson(call, verdict);
      throw new CliFailure(`This is not what the server signed: ${verdict.text}.`, exitCodes.failed);
    }
    const { kind, tenant, dataset, endedAt, removed } = verdict.receipt;
    if (call.asJson) printJson(call, { ok: true, receipt: verdict.receipt });
    else {
      const counts = Object.entries(removed).map(([name, count]) => `${name} ${String(count)}`);
      const what = `${kind} ${dataset ?? tenant}`;
      print(call, `${what} was erased, nothing was left at ${endedAt}\nremoved: ${counts.join(', ') || 'nothing'}`);
    }
    return exitCodes.ok;
  },
};

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
  const fields = parseJson(text);
  if (!isRecord(fields)) return null;
  if (!Object.keys(fields).every((name) => FIELDS.has(name))) return null;
  if (!TEXTS.every((name) => typeof fields[name] === 'string')) return null;
  const { dataset, removed, residue, kept } = fields;
  const isDataset = dataset === null || typeof dataset === 'string';
  const isCounted = typeof removed === 'object' && removed !== null && residue === 0 && Array.isArray(kept);
  return isDataset && isCounted ? (fields as unknown as SignedErasureReceipt) : null;
}

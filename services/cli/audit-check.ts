import { createPublicKey, type JsonWebKey, verify as verifyBytes } from 'node:crypto';
import {
  type AuditLink,
  type AuditRecord,
  auditHeadText,
  NO_RECORD,
  recordHash,
  type SignedAuditHead,
} from '../common/domain/audit-record.ts';
import { parseJson } from '../common/kernel/json.ts';
import { isRecord } from '../common/kernel/objects.ts';

interface AuditExpectations {
  /** JSON Web Keys of the server; null: the signature is not looked at. */
  readonly keys: readonly AuditKey[] | null;
  /** Hash of a record that must be in the log. */
  readonly head: string | null;
  /** Name in records. */
  readonly tenant: string | null;
}
export type AuditKey = JsonWebKey & { readonly kid?: string };

export type AuditVerdict =
  | { readonly ok: true; readonly head: SignedAuditHead }
  /** `record`: where the fault shows; null when it is no single record. `text` is for people. */
  | { readonly ok: false; readonly record: number | null; readonly text: string };

type Line = { readonly record: AuditRecord } | { readonly head: SignedAuditHead } | null;

/** Follows an export line by line, holding none of them, to the first fault. */
export async function checkAudit(
  lines: AsyncIterable<string>,
  { keys, head: expected, tenant }: AuditExpectations,
): Promise<AuditVerdict> {
  const check = createChainCheck();
  let head: SignedAuditHead | null = null;
  let isExpectedSeen = expected === null;
  for await (const text of lines) {
    if (text === '') continue;
    const at = check.end().number + 1;
    if (head !== null) return wrong(null, `there are lines behind the signed end at record ${head.number}`);
    const line = parseLine(text);
    if (line === null) return wrong(at, `where record ${at} should be is a line that is none`);
    if ('head' in line) {
      head = line.head;
      continue;
    }
    const { record } = line;
    if (tenant !== null && record.tenant !== tenant) return wrong(record.number, 'the log is of another tenant');
    const fault = check.follow(record);
    if (fault !== null) return wrong(fault.number, fault.text);
    isExpectedSeen ||= record.hash === expected;
  }
  const end = check.end();
  if (head === null)
    return wrong(end.number + 1, `the log was cut off behind record ${end.number}: it has no signed end`);
  if (head.number > end.number) {
    return wrong(end.number + 1, `records ${end.number + 1} to ${head.number} are missing at the end`);
  }
  if (head.number < end.number) return wrong(head.number + 1, `record ${head.number + 1} stands behind the signed end`);
  if (head.hash !== end.hash)
    return wrong(end.number, `record ${end.number} is not the one that was signed as the end`);
  if (tenant !== null && head.tenant !== tenant) return wrong(null, 'the signed end is of another tenant');
  if (keys !== null && !isSignedBy(keys, head))
    return wrong(null, 'the signature of the end is not by a key of the server');
  if (!isExpectedSeen) {
    return wrong(null, `no record has the hash ${expected}: the log was cut off before it, or written anew`);
  }
  return { ok: true, head };
}

function wrong(record: number | null, text: string): AuditVerdict {
  return { ok: false, record, text };
}

function isSignedBy(keys: readonly AuditKey[], head: SignedAuditHead): boolean {
  const key = keys.find(({ kid, crv }) => kid === head.keyId && crv === 'Ed25519');
  if (key === undefined) return false;
  const publicKey = createPublicKey({ key, format: 'jwk' });
  return verifyBytes(null, Buffer.from(auditHeadText(head)), publicKey, Buffer.from(head.signature, 'base64url'));
}

const RECORD_FIELDS = ['tenant', 'number', 'at', 'action', 'actor', 'subject', 'details', 'previous', 'hash'];
const HEAD_FIELDS = ['tenant', 'number', 'hash', 'signed_at', 'key_id', 'signature'];

/** Returns null for anything else: a field that the hash does not cover would be a forgery, too. */
function parseLine(text: string): Line {
  const value = parseObject(text);
  if (value === null) return null;
  if (!('head' in value)) {
    return hasFields(value, RECORD_FIELDS, 'actor') ? { record: value as unknown as AuditRecord } : null;
  }
  const { head } = value as { head: unknown };
  if (Object.keys(value).length > 1 || !isRecord(head) || !hasFields(head, HEAD_FIELDS)) return null;
  const { signed_at: signedAt, key_id: keyId, ...rest } = head;
  return { head: { ...rest, signedAt, keyId } as SignedAuditHead };
}

function hasFields(value: Record<string, unknown>, names: readonly string[], nullable?: string): boolean {
  if (Object.keys(value).length !== names.length) return false;
  return names.every((name) => {
    const field = value[name];
    if (name === 'number') return Number.isSafeInteger(field);
    return typeof field === 'string' || (name === nullable && field === null);
  });
}

function parseObject(text: string): Record<string, unknown> | null {
  const value = parseJson(text);
  return isRecord(value) ? value : null;
}

/** The first thing that is wrong with a chain. */
interface ChainFault {
  /** Number of the record where it shows. */
  readonly number: number;
  readonly kind: 'changed' | 'missing' | 'reordered' | 'inserted' | 'foreign';
  /** Explanation for people. */
  readonly text: string;
}

/** Follows a chain from its first record on, holding nothing but its end. */
interface ChainCheck {
  /** Returns null for the right next record. After a fault the rest proves nothing. */
  follow(record: AuditRecord): ChainFault | null;
  /** The last right record; number 0 before the first. */
  end(): AuditLink;
}

export function createChainCheck(): ChainCheck {
  let tenant: string | null = null;
  let end = { number: 0, hash: NO_RECORD };
  return {
    follow(record) {
      const fault = faultOf(record, end, tenant);
      if (fault !== null) return fault;
      tenant = record.tenant;
      end = { number: record.number, hash: record.hash };
      return null;
    },
    end: () => end,
  };
}

function faultOf(record: AuditRecord, end: AuditLink, tenant: string | null) {
  const { number } = record;
  const fault = (kind: ChainFault['kind'], text: string): ChainFault => ({ number, kind, text });
  if (tenant !== null && record.tenant !== tenant) {
    return fault('foreign', `record ${number} after record ${end.number} is of another tenant's log`);
  }
  if (number > end.number + 1) {
    const [first, last] = [end.number + 1, number - 1];
    return fault('missing', first === last ? `record ${first} is missing` : `records ${first} to ${last} are missing`);
  }
  if (number <= end.number)
    return fault('reordered', `record ${number} stands again, or too late, after record ${end.number}`);
  if (record.hash !== recordHash(record)) return fault('changed', `record ${number} was changed`);
  if (record.previous !== end.hash) {
    const before = end.number === 0 ? 'the beginning' : `record ${end.number}`;
    return fault('inserted', `record ${number} does not follow ${before}: one of the two was put in place of another`);
  }
  return null;
}

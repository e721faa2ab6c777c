import { type AuditRecord, NO_RECORD, recordHash } from '../common/domain/audit-record.ts';

/** The first thing that is wrong with a chain. */
export interface ChainFault {
  /** Number of the record where it shows. */
  readonly number: number;
  readonly kind: 'changed' | 'missing' | 'reordered' | 'inserted' | 'foreign';
  /** Explanation for people. */
  readonly text: string;
}

/** Follows a chain from its first record on, holding nothing but its end. */
export interface ChainCheck {
  /** Returns null for the right next record. After a fault the rest proves nothing. */
  follow(record: AuditRecord): ChainFault | null;
  /** The last right record; number 0 before the first. */
  end(): Pick<AuditRecord, 'number' | 'hash'>;
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

function faultOf(record: AuditRecord, end: Pick<AuditRecord, 'number' | 'hash'>, tenant: string | null) {
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

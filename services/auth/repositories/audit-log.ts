import { type AuditLink, type AuditRecord, NO_RECORD, recordHash } from '../../common/domain/audit-record.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { keepNewest } from '../../common/kernel/recently-used.ts';
import { type AnyScope, isSystemScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createKeyedBatches, type KeyedTask } from '../../common/platform/async/keyed-batches.ts';
import { retry } from '../../common/platform/async/retry.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry, AuditLog } from '../../common/ports/audit-log.ts';
import type { WallClock } from '../../common/ports/system.ts';
import {
  type DocumentStore,
  DuplicateKeyError,
  insert,
  type Write,
  type WriteResult,
} from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** A collection of system scope: records are committed with changes of any scope, and outlive what they describe. */
export const auditRecordsCollection: OwnedCollection<AuditRecord> = {
  name: 'audit_records',
  level: 'system',
  owner: 'auth',
  writers: { every: 'a record is in the commit of what it records, or it could be lost' },
  belongsTo: 'system',
  indexes: [
    { fields: ['tenant', 'number'], unique: true },
    { fields: ['tenant', 'actor', 'at', 'number'] },
    { fields: ['tenant', 'subject', 'at', 'number'] },
    { fields: ['tenant', 'action', 'at', 'number'] },
    { fields: ['tenant', 'at', 'number'] },
  ],
};

/** The subject may be text that a client entered. */
const MAX_SUBJECT_CHARACTERS = 512;
/** Commits to the same chain that are joined when many wait. */
const MAX_GROUP = 64;
/** Chains whose end this process caches, by latest use. */
const MAX_KNOWN_ENDS = 1000;
/** Each failed attempt means that another process has extended the chain; of n processes at most n - 1 are faster at once. */
const MAX_ATTEMPTS = 100;
const MAX_PAUSE_MS = 50;

const START: AuditLink = { number: 0, hash: NO_RECORD };

interface Append extends KeyedTask {
  readonly scope: AnyScope;
  readonly writes: readonly Write[];
  readonly entries: readonly AuditEntry[];
  readonly done: PromiseWithResolvers<readonly WriteResult[]>;
}

/**
 * The chain is kept in the store: record n+1 can be inserted once, so of two processes that extend record n one fails, reads
 * the new end and tries again. Within a process the commits to a chain are queued and then joined.
 */
export function createAuditLog(store: DocumentStore, clock: WallClock): AuditLog {
  const ends = createKnownEnds(store);

  const append = async (group: readonly Append[]): Promise<readonly WriteResult[]> => {
    const [{ scope } = { scope: SYSTEM_SCOPE }] = group;
    const entries = group.flatMap((task) => task.entries);
    const writes = group.flatMap((task) => task.writes);
    const commitNext = async () => {
      const records = await linked(entries, ends, clock.now().toISOString());
      const inserts = records.map((record) => insert(auditRecordsCollection, recordId(record), record));
      try {
        const results = await store.commit(scope, [...writes, ...inserts]);
        for (const record of records) ends.set(record.tenant, record);
        return results.slice(0, writes.length);
      } catch (error) {
        for (const { tenant } of entries) ends.forget(tenant);
        throw error;
      }
    };
    try {
      return await retry(commitNext, {
        isRetryable: isChainExtended,
        attempts: MAX_ATTEMPTS,
        maxPauseMs: MAX_PAUSE_MS,
      });
    } catch (error) {
      throw isChainExtended(error) ? tooManyChanges(error) : error;
    }
  };
  const runAlone = async (task: Append): Promise<void> => {
    try {
      task.done.resolve(await append([task]));
    } catch (error) {
      task.done.reject(error);
    }
  };
  const run = async (group: readonly Append[]): Promise<void> => {
    const [only] = group;
    if (only !== undefined && group.length === 1) return runAlone(only);
    try {
      const results = await append(group);
      let from = 0;
      for (const { writes, done } of group) {
        done.resolve(results.slice(from, from + writes.length));
        from += writes.length;
      }
    } catch (error) {
      if (!isRefusal(error)) {
        for (const { done } of group) done.reject(error);
        return;
      }
      // Nothing of the group was written: each commit is repeated alone, so that only the faulty one fails.
      for (const task of group) await runAlone(task);
    }
  };
  const fits = (group: readonly Append[], next: Append): boolean =>
    group.length < MAX_GROUP &&
    group.every(({ scope }) => isSameScope(scope, next.scope)) &&
    [...group, next].reduce(countWrites, 0) <= store.capabilities.maxWritesPerCommit;
  const start = createKeyedBatches<Append>({ run, fits });

  const commit: AuditLog['commit'] = (scope, writes, entries) => {
    const done = Promise.withResolvers<readonly WriteResult[]>();
    start({ scope, writes, entries, done, keys: new Set(entries.map(({ tenant }) => tenant)) });
    return done.promise;
  };
  return {
    commit,
    async record(entry) {
      await commit(SYSTEM_SCOPE, [], [entry]);
    },
  };
}

type KnownEnds = ReturnType<typeof createKnownEnds>;

/** The ends of chains, as this process last read them. */
function createKnownEnds(store: DocumentStore) {
  const ends = new Map<string, AuditLink>();
  return {
    async get(tenant: string): Promise<AuditLink> {
      const known = ends.get(tenant);
      if (known !== undefined) return known;
      const { items } = await store.find(SYSTEM_SCOPE, auditRecordsCollection, {
        where: { tenant },
        sort: [
          { field: 'tenant', descending: true },
          { field: 'number', descending: true },
        ],
        limit: 1,
      });
      return items[0]?.value ?? START;
    },
    set: (tenant: string, { number, hash }: AuditLink) => keepNewest(ends, MAX_KNOWN_ENDS, tenant, { number, hash }),
    forget: (tenant: string) => void ends.delete(tenant),
  };
}

/** Turns the entries into the next records of their chains. */
async function linked(entries: readonly AuditEntry[], ends: KnownEnds, at: string): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = [];
  const reached = new Map<string, AuditLink>();
  for (const { tenant, action, actor, subject, details = {} } of entries) {
    const { number, hash: previous } = reached.get(tenant) ?? (await ends.get(tenant));
    const what = { action, actor, subject: shortened(subject), details: JSON.stringify(details) };
    const record = { tenant, number: number + 1, at, ...what, previous };
    const complete = { ...record, hash: recordHash(record) };
    reached.set(tenant, complete);
    records.push(complete);
  }
  return records;
}

function recordId({ tenant, number }: AuditRecord): string {
  return `${tenant}/${number}`;
}

function shortened(subject: string): string {
  return subject.length <= MAX_SUBJECT_CHARACTERS ? subject : `${subject.slice(0, MAX_SUBJECT_CHARACTERS - 1)}…`;
}

/** Another process has appended to the chain meanwhile. */
function isChainExtended(error: unknown): boolean {
  return error instanceof DuplicateKeyError && error.collection === auditRecordsCollection.name;
}

/** Whether the store refused the writes and made none; after any other error some may have been made. */
function isRefusal(error: unknown): boolean {
  return isWriteConflict(error) || (isEngramError(error) && error.status < 500);
}

function isSameScope(one: AnyScope, other: AnyScope): boolean {
  if (isSystemScope(one) || isSystemScope(other)) return one === other;
  return one.tenant === other.tenant && one.dataset === other.dataset;
}

function countWrites(sum: number, { writes, entries }: Append): number {
  return sum + writes.length + entries.length;
}

function tooManyChanges(cause: unknown): Error {
  const text = 'Too many changes are recorded in the same audit log at the same time';
  return engramError('ServiceUnavailableError', text, { cause, retryable: true, retryAfterSeconds: 1 });
}

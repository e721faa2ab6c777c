import { MongoError } from 'mongodb';
import { isEngramError } from '../../../kernel/errors.ts';
import type { AnyScope } from '../../../kernel/scope.ts';
import { createWorkGroups } from '../../../platform/async/work-groups.ts';
import type { Write, WriteResult } from '../../ports/document-store.ts';
import { applyWrites, LostRaceError, removeSome, type Step } from './apply-writes.ts';
import type { Collections } from './collections.ts';
import type { MongodbConnection } from './connection.ts';
import { isTransient } from './mongodb-errors.ts';
import { createSequences } from './sequences.ts';
import { inTransaction, retryDisturbed } from './transaction.ts';

/** A transaction of so many removals stays far below what the smallest server's cache holds. */
const REMOVED_TOGETHER = 5_000;

/** All or nothing: in a transaction, or without one where a single document is written. */
export type Commit = (scope: AnyScope, writes: readonly Write[]) => Promise<readonly WriteResult[]>;

export function createCommit(connection: MongodbConnection, collections: Collections): Commit {
  const sequences = createSequences(connection);
  const together = async (steps: readonly Step[]): Promise<readonly WriteResult[]> => {
    const numbered = sequencedInserts(collections, steps);
    return inTransaction(connection, async (session) => {
      // First of all: a commit that must wait for one of another process learns so before it has done any work.
      const next = new Map<string, number>();
      for (const [name, count] of numbered) next.set(name, await sequences.take(name, count, session));
      const nextSequence = (name: string): number => {
        const number = next.get(name) ?? 0;
        next.set(name, number + 1);
        return number;
      };
      return applyWrites({ collections, session, nextSequence }, steps);
    });
  };
  const inGroups = createNumberedGroups(together);

  return async (scope, writes) => {
    const steps = writes.map((write) => ({ scope, write }));
    const isNumbered = sequencedInserts(collections, steps).size > 0;
    const [first] = writes;
    if (writes.length === 1 && first?.kind === 'removeWhere') {
      return [{ stored: null, changed: await removeAlone(connection, collections, scope, first) }];
    }
    if (writes.length === 1 && !isNumbered) {
      const alone = () => applyWrites({ collections, nextSequence: () => 0 }, steps);
      return connection.rescued(() => retryDisturbed(isLostRace, alone));
    }
    return isNumbered ? inGroups(steps) : together(steps);
  };
}

/** Up to `REMOVED_TOGETHER` documents go in one transaction, more of them part by part. */
async function removeAlone(
  connection: MongodbConnection,
  collections: Collections,
  scope: AnyScope,
  write: Extract<Write, { kind: 'removeWhere' }>,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const part = await inTransaction(connection, (session) =>
      removeSome({ collections, session }, scope, write, REMOVED_TOGETHER),
    );
    removed += part;
    if (part < REMOVED_TOGETHER) return removed;
  }
}

/** Numbers that the steps need, by collection, in an order that all commits share. */
function sequencedInserts(collections: Collections, steps: readonly Step[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { write } of steps) {
    const { kind, collection } = write;
    if (kind !== 'insert' || !collections.layoutOf(collection.name).rules.sequenced) continue;
    counts.set(collection.name, (counts.get(collection.name) ?? 0) + 1);
  }
  return new Map([...counts].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function isLostRace(error: unknown): boolean {
  return error instanceof LostRaceError || isTransient(error);
}

/** Bounds of one group: its transaction blocks all others that take numbers. */
const MAX_COMMITS = 50;
const MAX_STEPS = 1_000;

type CommitSteps = (steps: readonly Step[]) => Promise<readonly WriteResult[]>;

/**
 * Commits that take numbers have to go one after the other: those that wait go together in one transaction, where all have
 * the same scope or only insert. When the server is away all learn it at once.
 */
export function createNumberedGroups(commitTogether: CommitSteps): CommitSteps {
  return createWorkGroups<readonly Step[], readonly WriteResult[]>({
    async together(group) {
      const results = (await commitTogether(group.flat())).values();
      return group.map((steps) => [...results.take(steps.length)]);
    },
    concernsAll: (error) => error instanceof MongoError || (isEngramError(error) && error.retryable),
    goTogether: (first, next) => (onlyInserts(first) && onlyInserts(next)) || scopeKey(first) === scopeKey(next),
    maxCount: MAX_COMMITS,
    maxSize: MAX_STEPS,
    sizeOf: (steps) => steps.length,
  });
}

function onlyInserts(steps: readonly Step[]): boolean {
  return steps.every(({ write }) => write.kind === 'insert');
}

/** All steps of one commit have the same. */
function scopeKey([step]: readonly Step[]): string {
  return JSON.stringify(step?.scope, ['tenant', 'dataset']);
}

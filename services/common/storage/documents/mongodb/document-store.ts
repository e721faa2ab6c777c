import { MongoError } from 'mongodb';
import { isEngramError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { AnyScope } from '../../../kernel/scope.ts';
import { createWorkGroups } from '../../../platform/async/work-groups.ts';
import type { Collection, DocumentStore, Query, Write, WriteResult } from '../../ports/document-store.ts';
import { MAX_WRITES_PER_COMMIT, requireCommitSize } from '../rules/change.ts';
import { rulesOf } from '../rules/collection-rules.ts';
import { reachOf } from '../rules/reach.ts';
import { applyWrites, LostRaceError, removeSome, type Step } from './apply-writes.ts';
import { type Collections, createCollections } from './collections.ts';
import type { MongodbConnection } from './connection.ts';
import { layoutOf } from './document-layout.ts';
import { isTransient } from './mongodb-errors.ts';
import {
  countChanges,
  countDocuments,
  countOfEach,
  findPage,
  getMany,
  getOne,
  type ReadOptions,
} from './read-documents.ts';
import { createSequences } from './sequences.ts';
import { inTransaction, retryDisturbed } from './transaction.ts';

/**
 * Documents in MongoDB: a collection for each declared one. Reads see what a
 * majority of the members has; commits are acknowledged by a majority, journalled. Closing the store leaves the connection
 * to the caller that opened it. A single document holds at most 15 MB of JSON (`PayloadTooLargeError`).
 */
export function createMongodbDocumentStore(connection: MongodbConnection): DocumentStore {
  const { guarded, options } = connection;
  const collections = createCollections(connection);
  const commit = createCommit(connection, collections);
  const reading = (scope: AnyScope, name: string): ReadOptions => {
    const layout = collections.layoutOf(name);
    const reach = reachOf(scope, layout.rules);
    return { collection: collections.of(layout), layout, reach, timeLimitMs: options.operationTimeoutMs };
  };
  return {
    capabilities: { maxWritesPerCommit: MAX_WRITES_PER_COMMIT, sharedBetweenProcesses: true },
    prepare: (declared) => guarded(() => collections.declare(declared.map((each) => layoutOf(rulesOf(each))))),
    get<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, id: string) {
      return guarded(() => getOne<T>(reading(scope, collection.name), id));
    },
    getMany<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, ids: readonly string[]) {
      return guarded(() => getMany<T>(reading(scope, collection.name), ids));
    },
    find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
      return guarded(() => findPage<T>(reading(scope, collection.name), query));
    },
    count: (scope, collection, where) => guarded(() => countDocuments(reading(scope, collection.name), where)),
    countEach: (scope, counted) => guarded(() => countOfEach(counted.map(({ name }) => reading(scope, name)))),
    countChanges: (scope, counted) => guarded(() => countChanges(counted.map(({ name }) => reading(scope, name)))),
    commit: (scope, writes) =>
      guarded(async () => {
        requireCommitSize(writes);
        return writes.length === 0 ? [] : commit(scope, writes);
      }),
    async view() {
      const session = connection.client.startSession({ snapshot: true });
      return {
        find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
          return guarded(() => findPage<T>({ ...reading(scope, collection.name), session }, query));
        },
        close: () => session.endSession(),
      };
    },
    async close() {},
  };
}

/** A transaction of so many removals stays far below what the smallest server's cache holds. */
const REMOVED_TOGETHER = 5_000;

/** All or nothing: in a transaction, or without one where a single document is written. */
type Commit = (scope: AnyScope, writes: readonly Write[]) => Promise<readonly WriteResult[]>;

function createCommit(connection: MongodbConnection, collections: Collections): Commit {
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

import type { DataItemId, UserId } from '../../kernel/brand.ts';
import { dataItemId } from '../../kernel/ids.ts';
import { keepNewest } from '../../kernel/recently-used.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { ignoreDuplicate, isWriteConflict } from '../../platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert, removeWhere, update, type Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

type MarkDocument = {
  readonly fingerprint: string;
  /** Item that says it, or that the answer was made from. */
  readonly item: string;
  /** ISO. */
  readonly expiresAt: string;
};

/** Sentences that a user was shown, as fingerprints, for as long as sessions are kept. */
export const echoMarksCollection: OwnedCollection<MarkDocument> = {
  name: 'echo_marks',
  level: 'dataset',
  owner: 'ingest',
  writers: { search: 'marks the sentences of an answer when it is given' },
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['fingerprint'] }, { fields: ['expiresAt'] }, { fields: ['item'] }],
};

export interface ShownSentence {
  readonly fingerprint: string;
  readonly item: DataItemId;
}

interface MarkTime {
  readonly now: Date;
  readonly ttlMs: number;
}

/** Sentences marked for one answer at most: of greater ones the first. */
export const MARKS_PER_ANSWER = 400;
const SLICE = 200;
/** Ids of one read; a fingerprint may have been shown to many users, with a mark each. */
const READ_SLICE = 1000;
/** A process removes expired marks of a dataset at most so often: the removal makes a trip of its own in each commit. */
const REMOVAL_MS = 60_000;
const MAX_DATASETS = 10_000;

export type EchoMarks = ReturnType<typeof createEchoMarks>;

export function createEchoMarks(store: DocumentStore) {
  const collection = echoMarksCollection;
  const removedMs = new Map<string, number>();
  /** Expired marks are not found; each write removes them, so that they are not kept for long. */
  const expiredWrites = ({ tenant, dataset }: DatasetScope, now: Date): readonly Write[] => {
    const key = `${tenant} ${dataset}`;
    if (Math.abs(now.getTime() - (removedMs.get(key) ?? 0)) < REMOVAL_MS) return [];
    keepNewest(removedMs, MAX_DATASETS, key, now.getTime());
    return [removeWhere(collection, { expiresAt: { lessThan: now.toISOString() } })];
  };
  return {
    /** Marks them for the user, for `ttlMs` from now; what was marked lately is only read. */
    async put(scope: DatasetScope, user: UserId, shown: readonly ShownSentence[], { now, ttlMs }: MarkTime) {
      const wanted = new Map(shown.slice(0, MARKS_PER_ANSWER).map((one) => [markId(user, one.fingerprint), one]));
      if (wanted.size === 0) return;
      const present = new Map(
        (await store.getMany(scope, collection, [...wanted.keys()])).map((stored) => [stored.id, stored.value]),
      );
      const expiresAt = new Date(now.getTime() + ttlMs).toISOString();
      const refreshBelow = new Date(now.getTime() + ttlMs / 2).toISOString();
      const writes = [...wanted].flatMap(([id, { fingerprint, item }]): readonly Write[] => {
        const before = present.get(id);
        if (before === undefined) return [insert(collection, id, { fingerprint, item, expiresAt })];
        if (before.item === item && before.expiresAt > refreshBelow) return [];
        return [update(collection, id, { set: { item, expiresAt } })];
      });
      if (writes.length === 0) return;
      const expired = expiredWrites(scope, now);
      for (let start = 0; start < writes.length; start += SLICE) {
        const slice = writes.slice(start, start + SLICE);
        try {
          await store.commit(scope, start === 0 ? [...slice, ...expired] : slice);
        } catch (error) {
          if (!isWriteConflict(error)) throw error;
          // Another answer marked some of them just now; the others go one by one.
          for (const write of slice) await ignoreDuplicate(store.commit(scope, [write]));
        }
      }
    },
    /** The fingerprints that were shown to the user (null: to any user), with the item they come from. */
    async find(scope: DatasetScope, user: UserId | null, fingerprints: readonly string[], now: Date) {
      const distinct = [...new Set(fingerprints)];
      const found = new Map<string, DataItemId>();
      const isValid = (expiresAt: string) => expiresAt > now.toISOString();
      const length = user === null ? SLICE : READ_SLICE;
      for (const slice of slices(distinct, length)) {
        const marks =
          user === null
            ? (await store.find(scope, collection, { where: { fingerprint: { in: slice } }, limit: 1000 })).items
            : await store.getMany(
                scope,
                collection,
                slice.map((fingerprint) => markId(user, fingerprint)),
              );
        for (const { value } of marks) {
          if (isValid(value.expiresAt)) found.set(value.fingerprint, dataItemId(value.item));
        }
      }
      return found;
    },
    removeWrite: (items: readonly DataItemId[]) => removeWhere(collection, { item: { in: items } }),
  };
}

function markId(user: UserId, fingerprint: string): string {
  return `${user}/${fingerprint}`;
}

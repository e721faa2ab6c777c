import { type QaEntry, type SessionKey, sessionDocumentId } from '../../domain/session.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import {
  type Collection,
  type DocumentStore,
  removeWhere,
  replace,
  type Stored,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { put } from '../base/repository.ts';

type WeightDocument = {
  /** 0 to 1, 4 decimals. */
  readonly weight: number;
  readonly changedAt: string;
};

/** Weights of nodes and edges from ratings of answers, by wire id; an element without a rating has none. */
export const elementWeightsCollection: OwnedCollection<WeightDocument> = {
  name: 'element_weights',
  level: 'dataset',
  owner: 'improve',
  writers: { ingest: 'a restored snapshot brings its weights' },
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [],
};

type VoteDocument = {
  /** User of the answer; below the document id of its session and its number there. */
  readonly userId: string;
  readonly session: string;
  readonly turn: number;
  readonly score: number;
  readonly source: 'explicit' | 'implicit';
  readonly applied: readonly string[];
  readonly attempts: number;
};

/**
 * The elements that a rating has moved, by the id of its answer: one rating moves none twice. A vote is removed with its
 * answer; its number says which votes the retention of a session removes.
 */
export const weightVotesCollection: OwnedCollection<VoteDocument> = {
  name: 'weight_votes',
  level: 'dataset',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes the votes of an answer with the answer',
  },
  readers: ['search'],
  belongsTo: { user: 'userId', dataset: 'scope' },
  indexes: [
    { fields: ['userId'], wide: true },
    { fields: ['session', 'turn'], wide: true },
  ],
};

/** In all datasets of the scope, as the others below. */
export function votesOfAnswersWrite(answers: readonly string[]): Write {
  return removeWhere(weightVotesCollection, { id: { in: answers } });
}

export function votesOfSessionWrite(key: SessionKey): Write {
  return removeWhere(weightVotesCollection, { session: sessionDocumentId(key) });
}

/** Removes the votes of answers with numbers up to this. */
export function votesUpToWrite(key: SessionKey, turn: number): Write {
  return removeWhere(weightVotesCollection, { session: sessionDocumentId(key), turn: { atMost: turn } });
}

/** Weight of an element that was never rated. */
export const NEUTRAL_WEIGHT = 0.5;

export interface WeightVote extends Pick<VoteDocument, 'score' | 'source' | 'applied' | 'attempts'> {
  /** Null: not stored yet. */
  readonly version: number | null;
}

interface Ballot {
  readonly session: SessionKey;
  readonly answer: Pick<QaEntry, 'id' | 'number'>;
  readonly vote: WeightVote;
  /** Elements to move. */
  readonly ids: readonly string[];
  move(weight: number): number;
  readonly at: string;
}

const READ_SLICE = 1000;

export type ElementWeights = ReturnType<typeof createElementWeights>;

export function createElementWeights(store: DocumentStore) {
  const stored = async (scope: DatasetScope, ids: readonly string[]) => {
    const found = new Map<string, Stored<WeightDocument>>();
    for (const slice of slices(ids, READ_SLICE)) {
      for (const document of await store.getMany(scope, elementWeightsCollection, slice))
        found.set(document.id, document);
    }
    return found;
  };
  return {
    /** Weights of those elements that were rated. Batched: one read for 1000 ids. */
    async of(scope: DatasetScope, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const found = await stored(scope, [...new Set(ids)]);
      return new Map([...found].map(([id, { value }]) => [id, value.weight]));
    },
    /** The vote of an answer, null when it never had one. */
    async vote(scope: DatasetScope, answer: string): Promise<WeightVote | null> {
      const found = await store.get(scope, weightVotesCollection, answer);
      if (found === null) return null;
      const { score, source, applied, attempts } = found.value;
      return { score, source, applied, attempts, version: found.version };
    },
    /**
     * Moves the elements and keeps the vote, in one commit. `VersionConflictError` or `DuplicateKeyError` when another
     * process moved one of them meanwhile.
     */
    async cast(scope: DatasetScope, { session, answer, vote, ids, move, at }: Ballot): Promise<void> {
      const known = await stored(scope, ids);
      const moves = ids.map((id): Write => {
        const present = known.get(id);
        const document = { weight: move(present?.value.weight ?? NEUTRAL_WEIGHT), changedAt: at };
        return put(elementWeightsCollection, id, document, present);
      });
      const { version, ...rest } = vote;
      const document = { userId: session.user, session: sessionDocumentId(session), turn: answer.number, ...rest };
      await store.commit(scope, [put(weightVotesCollection, answer.id, document, { version }), ...moves]);
    },
    /** Ids of all elements that were rated, a thousand at a time. */
    async *rated(scope: DatasetScope): AsyncIterable<readonly string[]> {
      for await (const page of allPages(store, scope, elementWeightsCollection)) yield page.map(({ id }) => id);
    },
    /** Removes the weights of deleted elements, and their mention in votes. Returns the number of weights. */
    async forget(scope: DatasetScope, ids: readonly string[]): Promise<number> {
      // Last, so that a repetition finds what was left.
      await takeOutOfVotes(store, scope, new Set(ids));
      let removed = 0;
      for (const slice of slices(ids, READ_SLICE)) {
        const [result] = await store.commit(scope, [removeWhere(elementWeightsCollection, { id: { in: slice } })]);
        removed += result?.changed ?? 0;
      }
      return removed;
    },
  };
}

function allPages<T extends JsonObject>(store: DocumentStore, scope: DatasetScope, collection: Collection<T>) {
  const query = { sort: [{ field: 'id' as const }], limit: READ_SLICE };
  return pagesOf((after) => store.find(scope, collection, { ...query, after }));
}

async function takeOutOfVotes(store: DocumentStore, scope: DatasetScope, gone: ReadonlySet<string>): Promise<void> {
  for await (const votes of allPages(store, scope, weightVotesCollection)) {
    const touched = votes.filter(({ value }) => value.applied.some((id) => gone.has(id)));
    for (const { id } of touched) await takeOutOfVote(store, scope, id, gone);
  }
}

/** Another vote may be cast at the same time. */
async function takeOutOfVote(store: DocumentStore, scope: DatasetScope, answer: string, gone: ReadonlySet<string>) {
  await retryOnConflict(async () => {
    const stored = await store.get(scope, weightVotesCollection, answer);
    if (stored === null) return;
    const applied = stored.value.applied.filter((id) => !gone.has(id));
    await store.commit(scope, [replace(weightVotesCollection, answer, { ...stored.value, applied }, stored.version)]);
  });
}

import type { DatasetScope } from '../domain/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  replace,
  type Stored,
  type Write,
} from '../ports/document-store.ts';

type WeightDocument = {
  /** 0 to 1, 4 decimals. */
  readonly weight: number;
  readonly changedAt: string;
};

/** What ratings of answers have made of nodes and edges, by wire id; what was never rated has none. */
export const elementWeightsCollection: Collection<WeightDocument> = {
  name: 'element_weights',
  level: 'dataset',
  indexes: [],
};

type VoteDocument = {
  readonly score: number;
  readonly source: 'explicit' | 'implicit';
  readonly applied: readonly string[];
  readonly attempts: number;
};

/** Which elements a rating has moved, by the id of its answer: none is moved twice by one rating. */
export const weightVotesCollection: Collection<VoteDocument> = { name: 'weight_votes', level: 'dataset', indexes: [] };

/** Of an element that was never rated. */
export const NEUTRAL_WEIGHT = 0.5;

export interface WeightVote extends VoteDocument {
  /** Null: not stored yet. */
  readonly version: number | null;
}

export interface ElementWeights {
  /** Weights of those elements that were rated. Batched: one read for 1000 ids. */
  of(scope: DatasetScope, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The vote of an answer, null when it never had one. */
  vote(scope: DatasetScope, answer: string): Promise<WeightVote | null>;
  /**
   * Moves the elements and keeps the vote, in one commit. `VersionConflictError` or `DuplicateKeyError` when somebody else
   * moved one of them meanwhile.
   */
  cast(scope: DatasetScope, ballot: Ballot): Promise<void>;
}

export interface Ballot {
  readonly answer: string;
  readonly vote: WeightVote;
  /** Elements to move. */
  readonly ids: readonly string[];
  move(weight: number): number;
  readonly at: string;
}

const READ_SLICE = 1000;

export function createElementWeights(store: DocumentStore): ElementWeights {
  const stored = async (scope: DatasetScope, ids: readonly string[]) => {
    const found = new Map<string, Stored<WeightDocument>>();
    for (let start = 0; start < ids.length; start += READ_SLICE) {
      const slice = ids.slice(start, start + READ_SLICE);
      for (const document of await store.getMany(scope, elementWeightsCollection, slice))
        found.set(document.id, document);
    }
    return found;
  };
  return {
    async of(scope, ids) {
      const found = await stored(scope, [...new Set(ids)]);
      return new Map([...found].map(([id, { value }]) => [id, value.weight]));
    },
    async vote(scope, answer) {
      const found = await store.get(scope, weightVotesCollection, answer);
      return found === null ? null : { ...found.value, version: found.version };
    },
    async cast(scope, { answer, vote: { version, ...vote }, ids, move, at }) {
      const known = await stored(scope, ids);
      const moves = ids.map((id): Write => {
        const present = known.get(id);
        const document = { weight: move(present?.value.weight ?? NEUTRAL_WEIGHT), changedAt: at };
        if (present === undefined) return insert(elementWeightsCollection, id, document);
        return replace(elementWeightsCollection, id, document, present.version);
      });
      const kept =
        version === null
          ? insert(weightVotesCollection, answer, vote)
          : replace(weightVotesCollection, answer, vote, version);
      await store.commit(scope, [kept, ...moves]);
    },
  };
}

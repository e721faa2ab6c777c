import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import type { IndexStores } from '../../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { RankedPassage, TimeView } from '../model.ts';
import type { NamedEntity } from './candidates.ts';
import type { JoinedDataset } from './joined-stores.ts';
import type { InfluenceOptions, LearnedElements, LearnedReader } from './learned-weights.ts';
import type { QueryAnalysis } from './query-analysis.ts';
import type { Visibility } from './visibility.ts';

/** The indexes and the records that a search reads. */
export interface ReadsHere {
  readonly indexes: IndexStores;
  readonly ledger: Pick<Ledger, 'committed'>;
  readonly supersessions: Supersessions;
}

export type SearchedDataset = Pick<DatasetRef, 'tenant' | 'id' | 'withheld'>;

/** Numbers of entities and facts in a context. */
export interface KnowledgeLimits {
  readonly entities: number;
  readonly facts: number;
}

/** How a question is answered with quotes. */
export interface QuoteOptions {
  /** Named by the sources of the quotes, when several datasets are asked; else null. */
  readonly dataset: string | null;
  /** Maximum number. */
  readonly quotes?: number;
}

export interface RetrievalRequest {
  readonly scope: DatasetScope;
  readonly query: string;
  /** Vector of the query in the dataset's space; null skips the dense lane. */
  readonly vector: Float32Array | null;
  /** Scope of the vectors to compare with; default: `scope`. */
  readonly vectorVersion?: DatasetScope;
  /** Maximum number of passages. */
  readonly limit: number;
  readonly nodeSets?: readonly string[];
  /** Default: none. */
  readonly influence?: InfluenceOptions;
  /** Default: statements that hold now. */
  readonly view?: TimeView;
  /** Anchors relative dates of the query. */
  readonly now?: Date;
  /** Ranks the passages of these datasets as if they were one; `scope` and `vectorVersion` are then those of one of them. */
  readonly joined?: readonly JoinedDataset[];
  /** Only the passages are read: a thread sends no entities. */
  readonly isForPassages?: boolean;
  /** The knowledge around the passages will be asked for with these limits: a thread reads it in the same trip. */
  readonly knowledge?: KnowledgeLimits;
  /** The query will be answered with quotes of the passages: a thread answers it in the same trip. */
  readonly quotes?: QuoteOptions;
  /** Read in place of those of the retriever. */
  readonly here?: ReadsHere;
  readonly signal?: AbortSignal;
}

export interface Retrieval {
  readonly analysis: QueryAnalysis;
  /** Committed generations of the ledger, for further look-ups of the same search. */
  readonly visibility: Visibility;
  /** Reader of learned weights; null when there are none. */
  readonly learned: LearnedReader | null;
  /** idf of each term of the query in the dataset, in the order of `analysis.terms`. */
  readonly information: readonly number[];
  readonly passages: readonly RankedPassage[];
  /** The passages with the superseded statements that `passages` omit; absent when they omit none. */
  readonly withSuperseded?: readonly RankedPassage[];
  readonly named: readonly NamedEntity[];
  /** Edges from the strongest of the passages to their entities. */
  readonly mentions: readonly EdgeEvidence[];
}

/** Dependencies of retrieval. */
export interface RetrievalDependencies {
  readonly store: DocumentStore;
  readonly indexes: IndexStores;
  /** Scopes of the active vectors within `indexes.vectors`. */
  readonly vectorVersions: Pick<VectorIndexVersions, 'active'>;
  readonly embedders: EmbedderSource;
  readonly ledger: Ledger;
  readonly supersessions: Supersessions;
  readonly learned: LearnedElements;
  readonly retriever: Retriever;
  readonly clock: Clock;
}

/** Finds the passages that answer a query in one dataset; the steps are described in README.md. */
export interface Retriever {
  retrieve(request: RetrievalRequest): Promise<Retrieval>;
}

/** Limits concurrent retrievals; the others wait in order. */
export function limitRetrievals(retriever: Retriever, limit: number): Retriever {
  const gate = createConcurrencyLimit(limit);
  return {
    retrieve: (request) =>
      gate(async () => {
        request.signal?.throwIfAborted();
        return retriever.retrieve(request);
      }),
  };
}

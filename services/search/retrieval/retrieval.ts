import type { DatasetScope } from '../../common/kernel/scope.ts';
import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import type { DatasetIndexes } from '../../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { RankedPassage, TimeView } from '../model.ts';
import type { PassageLink } from './bridge.ts';
import type { NamedEntity } from './candidates.ts';
import type { InfluenceWish, LearnedElements, LearnedReader } from './learned-weights.ts';
import type { QueryAnalysis } from './query-analysis.ts';
import type { Visibility } from './visibility.ts';

export interface RetrievalRequest {
  readonly scope: DatasetScope;
  readonly query: string;
  /** Of the query, in the dataset's space; null leaves the dense lane out. */
  readonly vector: Float32Array | null;
  /** Where the vectors are that it is compared with; default: where the dataset's are now. */
  readonly vectorVersion?: DatasetScope;
  /** Passages wanted. */
  readonly limit: number;
  readonly nodeSets?: readonly string[];
  /** Default: none. */
  readonly influence?: InfluenceWish;
  /** Absent: what holds now. */
  readonly view?: TimeView;
  /** Anchors relative dates of the query. */
  readonly now?: Date;
  readonly signal?: AbortSignal;
}

export interface Retrieval {
  readonly analysis: QueryAnalysis;
  /** What the ledger showed: for further look-ups about the same answer. */
  readonly visibility: Visibility;
  /** What was learned of elements, where there is anything. */
  readonly learned: LearnedReader | null;
  /** idf of each term of the query in the dataset, in the order of `analysis.terms`. */
  readonly information: readonly number[];
  readonly passages: readonly RankedPassage[];
  readonly named: readonly NamedEntity[];
  readonly links: readonly PassageLink[];
  /** Entities of the strongest passages, as the graph has them. */
  readonly mentions: readonly EdgeEvidence[];
}

/** The stores that retrieval reads, and what it knows of them. */
export interface RetrievalDependencies {
  readonly store: DocumentStore;
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  /** `indexes.vectors` reach each index version by its own scope. */
  readonly vectorVersions: Pick<VectorIndexVersions, 'active'>;
  readonly embedders: EmbedderSource;
  readonly ledger: Ledger;
  readonly supersessions: Supersessions;
  readonly learned: LearnedElements;
  readonly retriever: Retriever;
  readonly clock: Clock;
}

/** Finds the passages that answer a query in one dataset: `design/retrieval.md` §4. */
export interface Retriever {
  retrieve(request: RetrievalRequest): Promise<Retrieval>;
}

/** At most `limit` retrievals at the same time, the others in order. */
export function boundRetrievals(retriever: Retriever, limit: number): Retriever {
  const gate = createConcurrencyLimit(limit);
  return {
    retrieve: (request) =>
      gate(async () => {
        request.signal?.throwIfAborted();
        return retriever.retrieve(request);
      }),
  };
}

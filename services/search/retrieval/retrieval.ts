import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { QueryAnalysis } from '../../common/text/language/query.ts';
import type { StatementMark } from '../hygiene/retired-statements.ts';
import type { TimeView } from '../hygiene/time-view.ts';
import type { PassageLink } from './bridge.ts';
import type { NamedEntity } from './candidates.ts';
import type { InfluenceWish, LearnedReader } from './learned-elements.ts';
import type { LearnedShift } from './learned-influence.ts';
import type { LaneName } from './settings.ts';
import type { Visibility } from './visibility.ts';

export interface RetrievalRequest {
  readonly scope: DatasetScope;
  readonly query: string;
  /** Of the query, in the dataset's space; null leaves the dense lane out. */
  readonly vector: Float32Array | null;
  /** Where the vectors are that it is compared with; default: where the dataset's are now. */
  readonly vectorHome?: DatasetScope;
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

/** Why a passage stands where it stands. */
export interface Explanation {
  readonly lanes: Readonly<Partial<Record<LaneName, { readonly rank: number; readonly score: number }>>>;
  /** Sum over the lanes, see `fuse`. */
  readonly fusion: number;
  /** Score of the passage alone and with the passage that completes it. */
  readonly own: number;
  readonly evidence: number;
  /** Null where nothing that was learned moved it; `evidence` is the score behind that. */
  readonly learned: LearnedShift | null;
  /** How the truth subspace moved it; absent when it was not asked, or does not know the passage. */
  readonly truth?: { readonly score: number; readonly factor: number };
  /** The passage that completes it, and the entity that joins the two. */
  readonly partner: string | null;
  readonly via: string | null;
  /** Its statements that replaced others or were replaced; absent for a passage without any. */
  readonly statements?: readonly StatementMark[];
}

export interface RankedPassage {
  readonly id: string;
  readonly row: TextRow;
  readonly payload: ChunkPayload;
  /** Evidence as a share of what the query is worth: compares across datasets, roughly. */
  readonly score: number;
  /** Cosine with the query; null when it was not among the nearest. */
  readonly similarity: number | null;
  /** What it holds of each term of the query, in the order of `analysis.terms`: BM25 parts, 0 for none. */
  readonly terms: Float64Array;
  /** Passages that say the same, this one included. */
  readonly support: number;
  readonly explanation: Explanation;
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

/** Finds the passages that answer a query in one dataset: `design/retrieval.md` §4. */
export interface Retriever {
  retrieve(request: RetrievalRequest): Promise<Retrieval>;
}

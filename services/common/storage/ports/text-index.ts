import type { DatasetScope } from '../../kernel/scope.ts';
import type {
  CopyOptions,
  EntryFilter,
  EntryKey,
  EntryPayload,
  IndexCopy,
  IndexKind,
  Provenance,
} from './index-entry.ts';

/** All rows of a listing, page by page; no page is empty. */
export async function* textPages(
  text: Pick<TextIndex, 'list'>,
  scope: DatasetScope,
  query: Omit<Parameters<TextIndex['list']>[1], 'after'>,
): AsyncGenerator<readonly TextRow[]> {
  let after: number | undefined;
  do {
    const rows = await text.list(scope, { ...query, ...(after === undefined ? {} : { after }) });
    if (rows.length > 0) yield rows;
    after = rows.length < query.limit ? undefined : rows.at(-1)?.ordinal;
  } while (after !== undefined);
}

/**
 * Lexical index of a dataset, and the home of the text it shows (chunks, sentences, summaries and their payloads).
 * Adapters: SQLite, memory, Elasticsearch.
 *
 * Tokens are made by `common/text/language` and come pre-split, joined by blanks: an adapter must index exactly those words
 * (lower-cased already; no stemming, no stop words, any Unicode, any punctuation) and nothing else. Scoring is
 * `domain/ranking/bm25.ts`; an adapter delivers candidates and the statistics it needs, so all shapes rank alike.
 */
export interface TextIndex {
  /** Idempotent: a row with the same key replaces the one before. All rows of a call or none. */
  upsert(scope: DatasetScope, entries: readonly TextEntry[]): Promise<void>;
  /**
   * The rows with the best lexical match, at most `limit`, in no promised order; any row that contains one of `terms`
   * competes, but those of items that the scope withholds. `statistics` covers the whole kind of the dataset (filters do not
   * change it).
   */
  candidates(scope: DatasetScope, query: TextQuery, signal?: AbortSignal): Promise<TextCandidates>;
  /**
   * Rows by wire id, every item and generation that has it; unknown ids are left out. `perId`: at most so many of each id,
   * those that came last, without those of items which the scope withholds: an entity has a row in every item that names it.
   */
  fetch(
    scope: DatasetScope,
    kind: IndexKind,
    ids: readonly string[],
    options?: { readonly perId?: number },
  ): Promise<readonly TextRow[]>;
  /** The rows of `fetch` with their length and what they hold of `terms`, be it nothing. */
  fetchCandidates(scope: DatasetScope, query: CandidateQuery): Promise<readonly TextCandidate[]>;
  /** Rows of an item's generation in `ordinal` order, keyset-paged by ordinal. */
  list(scope: DatasetScope, query: TextListQuery): Promise<readonly TextRow[]>;
  /** Removes rows of an item, of one generation of it, or of those before one. Returns how many. */
  remove(scope: DatasetScope, selection: RowSelection): Promise<number>;
  /** Removes everything the index holds of the dataset. */
  drop(scope: DatasetScope): Promise<void>;
  count(scope: DatasetScope, filter: Partial<EntryFilter>): Promise<number>;
  /**
   * Copies the rows whose every change changes the ledger (`COPIED_KINDS`) into this process; null when they are too large.
   * Rows of other kinds are asked of the index. Absent where a call costs no trip.
   */
  copy?(scope: DatasetScope, options: CopyOptions): Promise<IndexCopy<CopiedTextReads> | null>;
}

export type CopiedTextReads = Pick<TextIndex, 'candidates' | 'fetch' | 'fetchCandidates' | 'list'>;

/** Not triplets, which improve writes into generations that are committed, and not what no search reads. */
export const COPIED_KINDS: readonly IndexKind[] = ['chunk', 'summary', 'entity'];

export interface RowSelection {
  readonly item: string;
  readonly generation?: number;
  /** A later one may be in the making, elsewhere: it is left alone. */
  readonly beforeGeneration?: number;
}

export interface TextEntry extends EntryKey {
  readonly kind: IndexKind;
  /** Tokens joined by single blanks. Repetition counts as term frequency. */
  readonly tokens: string;
  /** Position in the item: chunk index, sentence number. */
  readonly ordinal: number;
  readonly nodeSets: readonly string[];
  readonly payload: EntryPayload;
}

export interface TextQuery extends EntryFilter {
  /** Distinct tokens, 1 to 256. */
  readonly terms: readonly string[];
  /** 1 to 1000. */
  readonly limit: number;
  /** Default true. False may leave `payload` empty, where that costs less: of many rows that compete, few are shown. */
  readonly withPayload?: boolean;
}

export interface TextListQuery {
  readonly kind: IndexKind;
  readonly provenance?: Provenance;
  readonly after?: number;
  readonly limit: number;
  /** Default false. True gives the tokens back too, for copies of rows. */
  readonly withTokens?: boolean;
}

export interface CandidateQuery {
  readonly kind: IndexKind;
  readonly ids: readonly string[];
  /** Distinct tokens, 0 to 256. */
  readonly terms: readonly string[];
  /** See `TextQuery`. */
  readonly withPayload?: boolean;
}

export interface TextRow extends EntryKey {
  readonly kind: IndexKind;
  readonly ordinal: number;
  readonly nodeSets: readonly string[];
  readonly payload: EntryPayload;
  /**
   * Of `list` when asked for: each as often as it stands in the row, in no promised order. A token of more than 200 characters
   * may be another of its own, that only counts for the length.
   */
  readonly tokens?: string;
}

export interface TextCandidate extends TextRow {
  /** Number of tokens of the row. */
  readonly length: number;
  /** Occurrences of each query term, in the order of `terms`. */
  readonly frequencies: readonly number[];
}

export interface TextCandidates {
  readonly candidates: readonly TextCandidate[];
  readonly statistics: {
    readonly rowCount: number;
    readonly averageLength: number;
    /** Rows that contain each query term, in the order of `terms`. */
    readonly rowFrequencies: readonly number[];
  };
}

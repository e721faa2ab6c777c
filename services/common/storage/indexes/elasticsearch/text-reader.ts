import type { estypes } from '@elastic/elasticsearch';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { asRead, type IndexKind, type Provenance } from '../../ports/index-entry.ts';
import type { TextIndex } from '../../ports/text-index.ts';
import type { ElasticsearchConnection, SearchAnswer, SearchBody } from './connection.ts';
import { anyOf, entryFilters, type Query } from './filters.ts';
import { MAX_ROWS_PER_ID } from './index-layout.ts';
import type { ElasticsearchNames } from './names.ts';

/** A row as it is stored. */
export interface TextDocument extends Provenance {
  readonly dataset: string;
  readonly kind: IndexKind;
  readonly id: string;
  readonly ordinal: number;
  readonly nodeSets: readonly string[];
  readonly words: readonly string[];
  /** Absent when no word has one. */
  readonly often?: readonly string[];
  readonly length: number;
  /** JSON text. */
  readonly payload: string;
}

/** A bucket of `latestRows`. */
interface LatestRows {
  readonly latest: { readonly hits: { readonly hits: readonly estypes.SearchHit<TextDocument>[] } };
}

const ROWS_AT_ONCE = 1000;
const BY_KEY = [{ id: 'asc' }, { item: 'asc' }, { generation: 'asc' }] as const;

/**
 * Reads rows of a dataset through its alias, in answers of bounded size. Rows come whole: leaving fields out cost the server
 * more than half as much CPU again (10 000 chunks of 250 words, server 9.5).
 */
export function createTextReader(dependencies: {
  readonly connection: ElasticsearchConnection;
  readonly names: ElasticsearchNames;
}) {
  const { connection, names } = dependencies;
  /** Empty when the dataset has no alias: nothing was ever written. */
  const search = (scope: DatasetScope, body: SearchBody, signal?: AbortSignal) =>
    connection.search<TextDocument>(names.textAlias(scope), body, signal);
  const pages = (scope: DatasetScope, request: SearchBody) =>
    readAllPages<TextDocument>((page) => search(scope, { ...request, ...page }), ROWS_AT_ONCE);
  /** Every row of the ids, page by page. */
  const rowsOf = async (scope: DatasetScope, kind: IndexKind, ids: readonly string[]) => {
    const found: TextDocument[] = [];
    for (const some of slices([...new Set(ids)], ROWS_AT_ONCE)) {
      const filter = [{ term: { kind } }, anyOf('id', some)];
      found.push(...(await pages(scope, { query: { bool: { filter } }, sort: [...BY_KEY] })));
    }
    return found;
  };
  /** The latest rows of each id. */
  const latestRowsOf = async (scope: DatasetScope, kind: IndexKind, ids: readonly string[], wanted: number) => {
    const perId = Math.min(wanted, MAX_ROWS_PER_ID);
    const found: TextDocument[] = [];
    for (const some of slices([...new Set(ids)], Math.max(1, Math.floor(ROWS_AT_ONCE / perId)))) {
      const answer = await search(scope, {
        size: 0,
        query: { bool: { filter: [...entryFilters(asRead(scope, { kind })), anyOf('id', some)] } },
        aggregations: latestRows(some.length, perId),
      });
      found.push(...readLatestRows(answer));
    }
    return found;
  };
  return {
    search,
    rowsOf,
    latestRowsOf,
    /** In order of ordinals. A page ends between two ordinals, never among rows of one, so that paging by ordinal loses none. */
    async list(
      scope: DatasetScope,
      { kind, provenance, after, limit }: Parameters<TextIndex['list']>[1],
    ): Promise<readonly TextDocument[]> {
      const filter: Query[] = [
        { term: { kind } },
        ...(provenance ? [{ term: { item: provenance.item } }, { term: { generation: provenance.generation } }] : []),
      ];
      const page = (range: estypes.QueryDslNumberRangeQuery) => ({
        query: { bool: { filter: [...filter, { range: { ordinal: range } }] } },
        sort: [{ ordinal: 'asc' as const }, ...BY_KEY],
      });
      const size = Math.min(limit, ROWS_AT_ONCE);
      const { hits } = await search(scope, { ...page(after === undefined ? {} : { gt: after }), size: size + 1 });
      const found = sources(hits.hits);
      const last = found[size - 1]?.ordinal;
      if (last === undefined || found[size]?.ordinal !== last) return found.slice(0, size);
      const whole = found.filter(({ ordinal }) => ordinal < last);
      return [...whole, ...(await pages(scope, page({ gte: last, lte: last })))];
    },
  };
}

/** A dataset is in one shard, whose sequence numbers give the order of writing. */
function latestRows(ids: number, perId: number): Record<string, estypes.AggregationsAggregationContainer> {
  const latest = { top_hits: { size: perId, sort: [{ _seq_no: { order: 'desc' as const } }] } };
  // By map: the server would else number all ids of the index after every write.
  return { ids: { terms: { field: 'id', size: ids, execution_hint: 'map' }, aggregations: { latest } } };
}

function readLatestRows({ aggregations }: SearchAnswer<TextDocument>): readonly TextDocument[] {
  const ids = aggregations?.['ids'] as { readonly buckets: readonly LatestRows[] } | undefined;
  return (ids?.buckets ?? []).flatMap(({ latest }) => sources(latest.hits.hits));
}

export function sources(hits: readonly estypes.SearchHit<TextDocument>[]): readonly TextDocument[] {
  return hits.flatMap(({ _source }) => (_source === undefined ? [] : [_source]));
}

/** Reads all hits of a sorted search, `size` at a time; each page begins after the last hit of the one before. */
async function readAllPages<Document>(
  search: (page: SearchBody) => Promise<SearchAnswer<Document>>,
  size: number,
): Promise<readonly Document[]> {
  const found: Document[] = [];
  let after: estypes.SortResults | undefined;
  for (;;) {
    const { hits } = await search({ size, ...(after === undefined ? {} : { search_after: after }) });
    for (const { _source } of hits.hits) if (_source !== undefined) found.push(_source);
    after = hits.hits.at(-1)?.sort;
    if (hits.hits.length < size || after === undefined) return found;
  }
}

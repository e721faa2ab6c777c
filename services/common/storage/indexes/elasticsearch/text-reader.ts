import type { estypes } from '@elastic/elasticsearch';
import type { DataItemId } from '../../../kernel/brand.ts';
import { createRecentReads } from '../../../kernel/recent-reads.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { asRead, type EntryKey, type EntryPayload, type IndexKind } from '../../ports/index-entry.ts';
import type { TextCandidate, TextIndex, TextRow } from '../../ports/text-index.ts';
import type { ElasticsearchConnection, SearchAnswer, SearchBody } from './connection.ts';
import { anyOf, entryFilters, type Query } from './filters.ts';
import { MAX_ROWS_PER_ID } from './index-layout.ts';
import { type ElasticsearchNames, rowId } from './names.ts';
import { type TokenCounts, tokenCounts } from './row-words.ts';

/** A row as it is stored. */
export interface TextDocument extends EntryKey {
  readonly dataset: string;
  readonly kind: IndexKind;
  readonly ordinal: number;
  readonly nodeSets: readonly string[];
  readonly words: readonly string[];
  /** Absent when no word has one. */
  readonly often?: readonly string[];
  readonly length: number;
  readonly stamp?: number;
  /** JSON text. */
  readonly payload: string;
}

/** A row that was read. */
export interface StoredRow extends Omit<TextDocument, 'dataset' | 'words' | 'often'> {
  readonly counts: TokenCounts;
}

/** A bucket of `latestRows`. */
interface LatestRows {
  readonly latest: { readonly hits: { readonly hits: readonly Hit[] } };
}

type Hit = estypes.SearchHit<TextDocument>;

export const ROWS_AT_ONCE = 1000;
export const BY_KEY = [{ id: 'asc' }, { item: 'asc' }, { generation: 'asc' }] as const;

/** Which rows are found. They are read from doc values: to open what is stored of a row costs the server ten times as much. */
const KEYS_ONLY = {
  _source: false,
  stored_fields: '_none_',
  docvalue_fields: ['id', 'item', 'generation', 'stamp'],
};

/** Words of all rows that are kept: about 25 MB, and as much again for what searches read of their payloads. */
const WORDS_KEPT = 400_000;

/** Datasets and kinds that are known to be familiar. */
const MAX_FAMILIAR = 20_000;

/**
 * Reads rows of a dataset through its alias, in answers of bounded size. Where most rows were read before, the server is asked
 * for keys and stamps, and then for the rows that are not kept here: what a stamp names never changes.
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
    readAllPages((page) => search(scope, { ...request, ...page }), ROWS_AT_ONCE);
  const kept = createRecentReads<StoredRow>(WORDS_KEPT);
  const keep = (key: string, row: StoredRow): void => {
    if (row.stamp !== undefined) kept.keep(key, row, row.counts.size);
  };
  /** Datasets, with a kind, of whose rows most were kept when some were read. */
  const familiar = new Set<string>();
  const familiarName = (scope: DatasetScope, kind: IndexKind) => `${names.textAlias(scope)} ${kind}`;
  /** What to ask for of each row. */
  const columns = (scope: DatasetScope, kind: IndexKind) => (familiar.has(familiarName(scope, kind)) ? KEYS_ONLY : {});
  /** The rows of hits that have `columns`, without those that were removed meanwhile. */
  const rowsOfHits = async (scope: DatasetScope, kind: IndexKind, hits: readonly Hit[], signal?: AbortSignal) => {
    const prefix = names.textIndex(scope);
    const found = new Map<string, StoredRow | null>();
    let known = 0;
    for (const hit of hits) {
      const [whole] = storedRows([hit]);
      const { id, item, generation, stamp } = whole ?? keyOf(hit);
      const key = rowId(scope, kind, { id, item, generation });
      const row = kept.get(`${prefix} ${key}`);
      const isCurrent = row !== undefined && row.stamp === stamp;
      if (isCurrent) known += 1;
      else if (whole !== undefined) keep(`${prefix} ${key}`, whole);
      found.set(key, isCurrent ? row : (whole ?? null));
    }
    const name = familiarName(scope, kind);
    if (familiar.size >= MAX_FAMILIAR) familiar.clear();
    if (2 * known > hits.length) familiar.add(name);
    else if (hits.length > 0) familiar.delete(name);
    const missing = [...found].flatMap(([key, row]) => (row === null ? [key] : []));
    for (const values of slices(missing, ROWS_AT_ONCE)) {
      const answer = await search(scope, { query: { ids: { values: [...values] } }, size: values.length }, signal);
      for (const row of storedRows(answer.hits.hits)) {
        const key = rowId(scope, kind, row);
        found.set(key, row);
        keep(`${prefix} ${key}`, row);
      }
    }
    return [...found.values()].filter((row) => row !== null);
  };
  /** Every row of the ids, page by page. */
  const rowsOf = async (scope: DatasetScope, kind: IndexKind, ids: readonly string[]) => {
    const found: StoredRow[] = [];
    for (const some of slices([...new Set(ids)], ROWS_AT_ONCE)) {
      const filter = [{ term: { kind } }, anyOf('id', some)];
      const hits = await pages(scope, { query: { bool: { filter } }, sort: [...BY_KEY], ...columns(scope, kind) });
      found.push(...(await rowsOfHits(scope, kind, hits)));
    }
    return found;
  };
  const latestRowsOf = async (scope: DatasetScope, kind: IndexKind, ids: readonly string[], wanted: number) => {
    const perId = Math.min(wanted, MAX_ROWS_PER_ID);
    const read = async (some: readonly string[]) =>
      search(scope, {
        size: 0,
        query: { bool: { filter: [...entryFilters(asRead(scope, { kind })), anyOf('id', some)] } },
        aggregations: latestRows(some.length, { size: perId, ...columns(scope, kind) }),
      });
    // At once, and so in one trip.
    const parts = [...slices([...new Set(ids)], Math.max(1, Math.floor(ROWS_AT_ONCE / perId)))];
    const answers = await Promise.all(parts.map(read));
    return rowsOfHits(scope, kind, answers.flatMap(latestHits));
  };
  return {
    search,
    /** The best rows of a query for rows of the kind, with the lowest score among them. */
    async best(scope: DatasetScope, kind: IndexKind, body: SearchBody, signal?: AbortSignal) {
      const { hits } = (await search(scope, { ...body, ...columns(scope, kind) }, signal)).hits;
      return { rows: await rowsOfHits(scope, kind, hits, signal), worst: hits.at(-1)?._score ?? 0, found: hits.length };
    },
    rowsOf,
    latestRowsOf,
    /** All rows of a kind, in order of their keys, each with its sequence number; `items`: those of these items, null: of all. */
    async *everyRow(scope: DatasetScope, kind: IndexKind, items: readonly DataItemId[] | null, signal: AbortSignal) {
      if (items?.length === 0) return;
      const filter = entryFilters({ kind, ...(items === null ? {} : { items }) });
      const request = { query: { bool: { filter } }, sort: [...BY_KEY] };
      const asked = { ...request, size: ROWS_AT_ONCE, seq_no_primary_term: true };
      for (let after: estypes.SortResults | undefined; ; ) {
        const page = after === undefined ? asked : { ...asked, search_after: after };
        const { hits } = (await search(scope, page, signal)).hits;
        yield hits.flatMap((hit) => storedRows([hit]).map((row) => ({ row, place: hit._seq_no ?? 0 })));
        after = hits.at(-1)?.sort;
        if (hits.length < ROWS_AT_ONCE || after === undefined) return;
      }
    },
    /** In order of ordinals. A page ends between two ordinals, never among rows of one, so that paging by ordinal loses none. */
    async list(scope: DatasetScope, { kind, provenance, after, limit }: Parameters<TextIndex['list']>[1]) {
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
      const found = storedRows(hits.hits);
      const last = found[size - 1]?.ordinal;
      if (last === undefined || found[size]?.ordinal !== last) return found.slice(0, size);
      const whole = found.filter(({ ordinal }) => ordinal < last);
      return [...whole, ...storedRows(await pages(scope, page({ gte: last, lte: last })))];
    },
  };
}

/** A dataset is in one shard, whose sequence numbers give the order of writing. */
function latestRows(
  ids: number,
  of: estypes.AggregationsTopHitsAggregation,
): Record<string, estypes.AggregationsAggregationContainer> {
  const latest = { top_hits: { ...of, sort: [{ _seq_no: { order: 'desc' as const } }] } };
  // By map: the server would else number all ids of the index after every write.
  return { ids: { terms: { field: 'id', size: ids, execution_hint: 'map' }, aggregations: { latest } } };
}

function latestHits({ aggregations }: SearchAnswer<TextDocument>): readonly Hit[] {
  const ids = aggregations?.['ids'] as { readonly buckets: readonly LatestRows[] } | undefined;
  return (ids?.buckets ?? []).flatMap(({ latest }) => latest.hits.hits);
}

/** Of a hit with `KEYS_ONLY`. */
function keyOf({ fields }: Hit): EntryKey & Pick<TextDocument, 'stamp'> {
  const [id, item, generation, stamp] = KEYS_ONLY.docvalue_fields.map((name) => fields?.[name]?.[0]);
  return { id, item, generation, ...(stamp === undefined ? {} : { stamp }) };
}

function storedRows(hits: readonly Hit[]): readonly StoredRow[] {
  return hits.flatMap(({ _source }) => {
    if (_source === undefined) return [];
    const { dataset: _, words, often = [], ...row } = _source;
    return [{ ...row, counts: tokenCounts({ words, often }) }];
  });
}

/** The payload is read when it is asked for: of many candidates few are shown. */
export function candidateOf(row: ReadRow, frequencies: readonly number[]): TextCandidate {
  return {
    ...columnsOf(row),
    get payload() {
      return payloadOf(row);
    },
    length: row.length,
    frequencies,
  };
}

export function textRow(row: ReadRow): TextRow {
  return { ...columnsOf(row), payload: payloadOf(row) };
}

type ReadRow = Omit<StoredRow, 'counts'>;

function columnsOf({ kind, id, item, generation, ordinal, nodeSets }: ReadRow): Omit<TextRow, 'payload' | 'tokens'> {
  return { kind, id, item, generation, ordinal, nodeSets };
}

/** Payloads that were read from their JSON, for as long as their rows are kept. */
const payloads = new WeakMap<ReadRow, EntryPayload>();

/** The same object each time: what searches read of a text, they remember by its payload. */
function payloadOf(row: ReadRow): EntryPayload {
  let payload = payloads.get(row);
  if (payload === undefined) {
    payload = JSON.parse(row.payload) as EntryPayload;
    payloads.set(row, payload);
  }
  return payload;
}

/** Reads all hits of a sorted search, `size` at a time; each page begins after the last hit of the one before. */
async function readAllPages(search: (page: SearchBody) => Promise<SearchAnswer<TextDocument>>, size: number) {
  const found: Hit[] = [];
  let after: estypes.SortResults | undefined;
  for (;;) {
    const { hits } = await search({ size, ...(after === undefined ? {} : { search_after: after }) });
    found.push(...hits.hits);
    after = hits.hits.at(-1)?.sort;
    if (hits.hits.length < size || after === undefined) return found;
  }
}

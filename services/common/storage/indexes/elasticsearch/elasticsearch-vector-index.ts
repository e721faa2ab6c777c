import type { estypes } from '@elastic/elasticsearch';
import { engramError } from '../../../kernel/errors.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { nullIf } from '../../../platform/async/null-if.ts';
import { asRead, type IndexKind, type Provenance } from '../../ports/index-entry.ts';
import {
  isSameSpace,
  type VectorEntry,
  type VectorHit,
  type VectorIndex,
  type VectorQuery,
  type VectorSpace,
} from '../../ports/vector-index.ts';
import { assertQueryDimensions, assertSameSpace, normaliseInto } from '../wasm-vectors/vector-space.ts';
import type { BulkRow } from './bulk-writer.ts';
import type { ElasticsearchConnection, SearchBody } from './connection.ts';
import { copyVectors, type EveryVector } from './copied-vectors.ts';
import { isMissing, writeConflict } from './elasticsearch-errors.ts';
import { anyOf, entryFilters, letsNothingThrough, ofDataset, type Query } from './filters.ts';
import { MAX_DIMENSIONS, spacesLayout, vectorLayout } from './index-layout.ts';
import type { IndexPlacement } from './index-placements.ts';
import { type ElasticsearchNames, routingOf, rowId, spaceId } from './names.ts';
import type { IndexParts } from './stored-rows.ts';
import {
  entryKey,
  isZero,
  KEY_FIELDS,
  nearestFirst,
  type StoredVector,
  similarityOf,
  storedVector,
  toNumbers,
} from './stored-vectors.ts';
import { BY_KEY } from './text-reader.ts';

const ATTEMPTS = 5;

/**
 * `VectorIndex` in one index per tenant and embedding with an alias per dataset. What is remembered of a dataset's space is
 * never trusted with data: the alias bears the space in its name, and is removed when another process has dropped the dataset.
 */
export function createElasticsearchVectorIndex(dependencies: IndexParts): VectorIndex {
  const { connection, placements, rows, names, settings } = dependencies;
  const spaces = createVectorSpaces(dependencies);
  const known = createKnownSpaces(spaces);
  const reader = createVectorReader({ connection, names, known });
  const homeOf = (scope: DatasetScope, space: VectorSpace): IndexPlacement => ({
    index: names.vectorIndex(scope, space),
    layout: vectorLayout(settings, space.dimensions),
    alias: names.vectorAlias(scope, space),
    filter: ofDataset(scope),
    routing: routingOf(scope),
  });
  const index: VectorIndex = {
    space: known.reload,
    async upsert(scope, space, entries) {
      const documents = bulkRows(scope, space, entries);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        let settled = await known.get(scope);
        if (settled !== null && !isSameSpace(settled, space)) settled = await known.reload(scope);
        assertSameSpace(settled, space);
        if (documents.length === 0) return;
        settled ??= known.remember(scope, await spaces.settle(scope, space));
        assertSameSpace(settled, space);
        if (await rows.write(homeOf(scope, space), documents)) return;
        await known.reload(scope);
      }
      throw writeConflict(connection.address);
    },
    async nearest(scope, query, signal) {
      signal?.throwIfAborted();
      let space = await known.get(scope);
      if (space !== null && space.dimensions !== query.vector.length) space = await known.reload(scope);
      if (space === null) return [];
      assertQueryDimensions(space, query.vector.length);
      const unit = new Float32Array(query.vector.length);
      normaliseInto(query.vector, unit, 'the query');
      if (letsNothingThrough(query) || isZero(unit)) return [];
      return reader.nearest(scope, unit, query, signal);
    },
    fetch: reader.fetch,
    remove: (scope, selection) => rows.remove(names.vectorIndexes(scope), scope, selection),
    async drop(scope) {
      const space = await known.reload(scope);
      known.remember(scope, null);
      const pattern = names.vectorIndexes(scope);
      // First: writers that come late must not find their way in.
      await placements.removeAliases(pattern, names.vectorAliases(scope));
      await rows.remove(pattern, scope, null);
      await spaces.remove(scope);
      if (space === null) return;
      const placement = homeOf(scope, space);
      placements.forget(placement);
      await placements.deleteIfEmpty(placement.index);
    },
    count: (scope, filter) => rows.count(names.vectorIndexes(scope), scope, filter),
    copy: (scope, copied) => copyVectors({ ...reader, nearest: index.nearest }, scope, copied),
  };
  return index;
}

/** Checks every row before any is sent. Later rows win over earlier ones of the same key. */
function bulkRows(scope: DatasetScope, space: VectorSpace, entries: readonly VectorEntry[]): readonly BulkRow[] {
  if (entries.length > 0 && space.dimensions > MAX_DIMENSIONS) {
    throw engramError(
      'DimensionOutOfRangeError',
      `Vectors of ${space.model} have ${space.dimensions} dimensions; Elasticsearch takes ${MAX_DIMENSIONS} at most.`,
    );
  }
  const documents = new Map<string, string>();
  const unit = new Float32Array(space.dimensions);
  for (const { kind, id, item, generation, nodeSets, vector } of entries) {
    assertSameSpace(space, { model: space.model, dimensions: vector.length });
    normaliseInto(vector, unit, id);
    const row = { dataset: scope.dataset, kind, id, item, generation, nodeSets };
    const document = JSON.stringify(isZero(unit) ? row : { ...row, vector: toNumbers(unit) });
    documents.set(rowId(scope, kind, { item, generation, id }), document);
  }
  return [...documents].map(([id, document]) => ({ id, document }));
}

const ROWS_AT_ONCE = 500;
/** Rows that pass a query's filters up to which the server compares every one; beyond, so many near ones. Its maximum. */
const MAX_CANDIDATES = 10_000;
/** Rows read beside those wanted, so that ties at the end can be broken by key; the server finds rows in no order. */
const BESIDE = 16;
/** Rows among which ties are broken when these are not enough. */
const TIED_ROWS = 1000;

/** Reads vectors of a dataset through its alias. */
function createVectorReader(dependencies: {
  readonly connection: ElasticsearchConnection;
  readonly names: ElasticsearchNames;
  readonly known: KnownSpaces;
}) {
  const { connection, names, known } = dependencies;
  /** The hits, or null when the dataset has no alias for the space. */
  const search = async (scope: DatasetScope, space: VectorSpace, body: SearchBody, signal?: AbortSignal) => {
    const answer = await connection.search(names.vectorAlias(scope, space), { _source: false, ...body }, signal);
    return answer._shards.total === 0 ? null : answer.hits.hits;
  };
  /** Looks the space up again when the remembered one has no alias any more. */
  const searchIn = async (scope: DatasetScope, request: (space: VectorSpace) => SearchBody, signal?: AbortSignal) => {
    for (let space = await known.get(scope), attempt = 1; space !== null && attempt <= 2; attempt++) {
      const hits = await search(scope, space, request(space), signal);
      if (hits !== null) return { space, hits };
      space = await known.reload(scope);
    }
    return null;
  };
  /** `unit`: the query's vector at unit length. */
  const nearest = async (scope: DatasetScope, unit: Float32Array, query: VectorQuery, signal?: AbortSignal) => {
    const { limit } = query;
    const knn = {
      field: 'vector',
      query_vector: toNumbers(unit),
      num_candidates: MAX_CANDIDATES,
      filter: [ofDataset(scope), ...entryFilters(asRead(scope, query))],
    };
    const read = async (size: number) => {
      const request: SearchBody = {
        // As a query: a search with vectors beside its query makes one round more within the server, for the same hits.
        query: { knn },
        size,
        stored_fields: '_none_',
        docvalue_fields: KEY_FIELDS,
      };
      const ofSpace = (space: VectorSpace) => {
        // Another process may have built the dataset with another embedding since the space was read.
        assertQueryDimensions(space, unit.length);
        return request;
      };
      return (await searchIn(scope, ofSpace, signal))?.hits ?? [];
    };
    const few = await read(limit + BESIDE);
    const isOpen = few.length === limit + BESIDE && few.at(-1)?._score === few[limit - 1]?._score;
    const hits = isOpen ? await read(Math.max(limit + BESIDE, TIED_ROWS)) : few;
    const found = hits.map(
      (hit): VectorHit => ({ ...entryKey(hit.fields), similarity: similarityOf(hit._score ?? 0) }),
    );
    return found.sort(nearestFirst).slice(0, limit);
  };
  /** Every row of a query in order of keys, with its vector, page by page. */
  const pages = async function* (scope: DatasetScope, filter: Query[], fields: SearchBody, signal?: AbortSignal) {
    for (let after: estypes.SortResults | undefined; ; ) {
      const request = (): SearchBody => ({
        query: { bool: { filter } },
        size: ROWS_AT_ONCE,
        sort: [...BY_KEY],
        docvalue_fields: KEY_FIELDS,
        // Asked for as a field: newer servers leave vectors out of the source.
        fields: ['vector'],
        ...fields,
        ...(after === undefined ? {} : { search_after: after }),
      });
      const page = await searchIn(scope, request, signal);
      if (page === null) return;
      yield page;
      after = page.hits.at(-1)?.sort;
      if (page.hits.length < ROWS_AT_ONCE || after === undefined) return;
    }
  };
  const everyVector: EveryVector = async function* (scope, kind, items, signal) {
    if (items?.length === 0) return;
    const filter = entryFilters({ kind, ...(items === null ? {} : { items }) });
    // Zero vectors are not stored, and never found.
    const found = [ofDataset(scope), ...filter, { exists: { field: 'vector' } }];
    for await (const { space, hits } of pages(scope, found, { _source: ['nodeSets'] }, signal)) {
      const rows = hits.map(({ fields, _source }) => ({
        ...entryKey(fields),
        vector: storedVector(fields, space.dimensions),
        nodeSets: (_source as { readonly nodeSets?: readonly string[] } | undefined)?.nodeSets ?? [],
      }));
      yield { space, rows };
    }
  };
  return {
    nearest,
    everyVector,
    async fetch(scope: DatasetScope, kind: IndexKind, ids: readonly string[], provenance?: Provenance) {
      const distinct = [...new Set(ids)];
      const found: StoredVector[] = [];
      const origin =
        provenance === undefined
          ? []
          : [{ term: { item: provenance.item } }, { term: { generation: provenance.generation } }];
      for (const slice of slices(distinct, ROWS_AT_ONCE)) {
        const filter = [{ term: { kind } }, anyOf('id', slice), ...origin];
        for await (const { space, hits } of pages(scope, filter, {})) {
          for (const { fields } of hits)
            found.push({ ...entryKey(fields), vector: storedVector(fields, space.dimensions) });
        }
      }
      return found;
    },
  };
}

/** Embedding space of each dataset: a document per dataset, read by id, so that every process sees the same. */
type VectorSpaces = ReturnType<typeof createVectorSpaces>;

/** Cache of spaces: valid until another process drops the dataset, which its alias shows. */
interface KnownSpaces {
  /** From the cache, else from the store. */
  get(scope: DatasetScope): Promise<VectorSpace | null>;
  /** From the store. */
  reload(scope: DatasetScope): Promise<VectorSpace | null>;
  remember(scope: DatasetScope, space: VectorSpace | null): VectorSpace | null;
}

/** Datasets whose space is remembered. */
const MAX_KNOWN = 20_000;

function createKnownSpaces(spaces: VectorSpaces): KnownSpaces {
  const remembered = new Map<string, VectorSpace>();
  const remember: KnownSpaces['remember'] = (scope, space) => {
    if (remembered.size >= MAX_KNOWN) remembered.clear();
    if (space === null) remembered.delete(spaceId(scope));
    else remembered.set(spaceId(scope), space);
    return space;
  };
  const reload = async (scope: DatasetScope) => remember(scope, await spaces.read(scope));
  return { get: async (scope) => remembered.get(spaceId(scope)) ?? (await reload(scope)), reload, remember };
}

function createVectorSpaces({ connection, placements, names, settings }: IndexParts) {
  const index = names.spaces;
  const layout = spacesLayout(settings);
  const read = async (scope: DatasetScope): Promise<VectorSpace | null> => {
    const reading = connection.request((client, options) =>
      client.get<VectorSpace>({ index, id: spaceId(scope) }, options),
    );
    const { _source } = (await nullIf(isMissing, reading)) ?? {};
    return _source === undefined ? null : { model: _source.model, dimensions: _source.dimensions };
  };
  return {
    read,
    /** Stores `space` unless there is one; resolves to the one that holds. Of two writers at once one wins. */
    async settle(scope: DatasetScope, space: VectorSpace) {
      await placements.ensureIndex(index, layout);
      const { tenant, dataset } = scope;
      const document = { tenant, dataset, model: space.model, dimensions: space.dimensions };
      await connection.request(async (client, options) => {
        const ignoreConflict = { ...options, ignore: [409] };
        await client.index({ index, id: spaceId(scope), op_type: 'create', document }, ignoreConflict);
      });
      return (await read(scope)) ?? space;
    },
    async remove(scope: DatasetScope) {
      await connection.request((client, options) =>
        client.delete({ index, id: spaceId(scope) }, { ...options, ignore: [404] }),
      );
    },
  };
}

import { engramError } from '../../../kernel/errors.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { isSameSpace, type VectorEntry, type VectorIndex, type VectorSpace } from '../../ports/vector-index.ts';
import { assertQueryDimensions, assertSameSpace, normaliseInto } from '../wasm-vectors/vector-space.ts';
import type { BulkRow } from './bulk-writer.ts';
import type { ElasticsearchConnection } from './connection.ts';
import { writeConflict } from './elasticsearch-errors.ts';
import { letsNothingThrough, ofDataset } from './filters.ts';
import { type IndexSettings, MAX_DIMENSIONS, vectorLayout } from './index-layout.ts';
import type { IndexPlacement, IndexPlacements } from './index-placements.ts';
import { type ElasticsearchNames, routingOf, rowId } from './names.ts';
import type { StoredRows } from './stored-rows.ts';
import { createVectorReader, toNumbers } from './vector-reader.ts';
import { createKnownSpaces, createVectorSpaces } from './vector-spaces.ts';

interface VectorIndexDependencies {
  readonly connection: ElasticsearchConnection;
  readonly placements: IndexPlacements;
  readonly rows: StoredRows;
  readonly names: ElasticsearchNames;
  readonly settings: IndexSettings;
}

const ATTEMPTS = 5;

/**
 * `VectorIndex` in one index per tenant and embedding with an alias per dataset. What is remembered of a dataset's space is
 * never trusted with data: the alias bears the space in its name, and is removed when another process has dropped the dataset.
 */
export function createElasticsearchVectorIndex(dependencies: VectorIndexDependencies): VectorIndex {
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
  return {
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
  };
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

function isZero(vector: Float32Array): boolean {
  return vector.every((component) => component === 0);
}

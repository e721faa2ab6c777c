import type { EdgeEvidence, NodeEvidence } from '../../ports/graph-store.ts';
import type { IndexKind } from '../../ports/index-entry.ts';
import type { TextEntry } from '../../ports/text-index.ts';
import type { VectorEntry, VectorSpace } from '../../ports/vector-index.ts';
import { assertSameSpace } from '../wasm-vectors/vector-space.ts';
import type { StoredOrigin } from './schema.ts';

/**
 * Messages to the storage worker: columns of plain strings and numbers, since cloning them costs a tenth of cloning
 * the same rows as nested objects. A later row of a call replaces an earlier one with the same key here already.
 */
interface Batch {
  readonly origins: readonly StoredOrigin[];
  /** Index into `origins` of each row. */
  readonly originOf: readonly number[];
}

export interface TextBatch extends Batch {
  readonly kinds: readonly IndexKind[];
  readonly ids: readonly string[];
  readonly ordinals: readonly number[];
  readonly tokens: readonly string[];
  /** JSON. */
  readonly payloads: readonly string[];
}

export interface VectorBatch extends Batch {
  readonly space: VectorSpace;
  readonly kinds: readonly IndexKind[];
  readonly ids: readonly string[];
  /** One after the other. */
  readonly components: Float32Array<ArrayBuffer>;
}

export interface NodeBatch extends Batch {
  readonly ids: readonly string[];
  readonly types: readonly string[];
  readonly names: readonly string[];
  readonly mentions: readonly number[];
  /** JSON. */
  readonly properties: readonly string[];
}

export interface EdgeBatch extends Batch {
  readonly sources: readonly string[];
  readonly relations: readonly string[];
  readonly targets: readonly string[];
  readonly weights: readonly number[];
  /** JSON. */
  readonly properties: readonly string[];
}

export function textBatch(entries: readonly TextEntry[]): TextBatch {
  const rows = lastOfEach(entries, (row) => `${row.kind}\n${row.item}\n${row.generation}\n${row.id}`);
  return {
    ...originColumns(rows),
    kinds: rows.map(({ kind }) => kind),
    ids: rows.map(({ id }) => id),
    ordinals: rows.map(({ ordinal }) => ordinal),
    tokens: rows.map(({ tokens }) => tokens),
    payloads: rows.map(({ payload }) => JSON.stringify(payload)),
  };
}

/** Throws `EmbeddingDimensionMismatchError` when a vector does not fit the space. */
export function vectorBatch(space: VectorSpace, entries: readonly VectorEntry[]): VectorBatch {
  const rows = lastOfEach(entries, (row) => `${row.kind}\n${row.item}\n${row.generation}\n${row.id}`);
  const components = new Float32Array(rows.length * space.dimensions);
  rows.forEach(({ vector }, index) => {
    assertSameSpace(space, { model: space.model, dimensions: vector.length });
    components.set(vector, index * space.dimensions);
  });
  const { model, dimensions } = space;
  return {
    ...originColumns(rows),
    space: { model, dimensions },
    kinds: rows.map(({ kind }) => kind),
    ids: rows.map(({ id }) => id),
    components,
  };
}

export function nodeBatch(nodes: readonly NodeEvidence[]): NodeBatch {
  const rows = lastOfEach(nodes, (row) => `${row.item}\n${row.generation}\n${row.id}`);
  return {
    ...originColumns(rows),
    ids: rows.map(({ id }) => id),
    types: rows.map(({ type }) => type),
    names: rows.map(({ name }) => name),
    mentions: rows.map(({ mentions }) => mentions),
    properties: rows.map(({ properties }) => JSON.stringify(properties)),
  };
}

export function edgeBatch(edges: readonly EdgeEvidence[]): EdgeBatch {
  const rows = lastOfEach(edges, (row) =>
    JSON.stringify([row.item, row.generation, row.source, row.relation, row.target]),
  );
  return {
    ...originColumns(rows.map(({ item, generation }) => ({ item, generation, nodeSets: [] }))),
    sources: rows.map(({ source }) => source),
    relations: rows.map(({ relation }) => relation),
    targets: rows.map(({ target }) => target),
    weights: rows.map(({ weight }) => weight),
    properties: rows.map(({ properties }) => JSON.stringify(properties)),
  };
}

function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) byKey.set(keyOf(row), row);
  return byKey.size === rows.length ? rows : [...byKey.values()];
}

function originColumns(rows: readonly (Omit<StoredOrigin, 'nodeSets'> & { readonly nodeSets: readonly string[] })[]) {
  const origins: StoredOrigin[] = [];
  const places = new Map<string, number>();
  const originOf = rows.map(({ item, generation, nodeSets }) => {
    const names = JSON.stringify(nodeSets);
    const key = `${item}\n${generation}\n${names}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, origins.length);
    return origins.push({ item, generation, nodeSets: names }) - 1;
  });
  return { origins, originOf };
}

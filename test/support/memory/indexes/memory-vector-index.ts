import {
  assertQueryDimensions,
  assertSameSpace,
  normaliseInto,
} from '../../../../services/common/storage/indexes/wasm-vectors/vector-space.ts';
import { asRead, type EntryKey, type IndexKind } from '../../../../services/common/storage/ports/index-entry.ts';
import type { VectorIndex, VectorSpace } from '../../../../services/common/storage/ports/vector-index.ts';
import { compareText, createScopedState, entryKey, passes, removeSelected } from './scoped-state.ts';

interface StoredVector extends EntryKey {
  readonly kind: IndexKind;
  readonly nodeSets: readonly string[];
  readonly vector: Float32Array;
  readonly isZero: boolean;
}

/** Brute force: the measure that other adapters are compared with. */
export function createMemoryVectorIndex(): VectorIndex {
  const datasets = createScopedState(() => ({
    space: null as VectorSpace | null,
    rows: new Map<string, StoredVector>(),
  }));
  return {
    async space(scope) {
      return datasets.existing(scope)?.space ?? null;
    },
    async upsert(scope, space, entries) {
      assertSameSpace(datasets.existing(scope)?.space ?? null, space);
      const stored = entries.map(({ kind, id, item, generation, nodeSets, vector }) => {
        assertSameSpace(space, { model: space.model, dimensions: vector.length });
        const unit = new Float32Array(vector.length);
        normaliseInto(vector, unit, id);
        const isZero = unit.every((component) => component === 0);
        return { kind, id, item, generation, nodeSets: [...nodeSets], vector: unit, isZero };
      });
      if (stored.length === 0) return;
      const dataset = datasets.obtain(scope);
      dataset.space = { ...space };
      for (const row of stored) dataset.rows.set(entryKey(row.kind, row), row);
    },
    async nearest(scope, query, signal) {
      signal?.throwIfAborted();
      const dataset = datasets.existing(scope);
      if (!dataset?.space) return [];
      assertQueryDimensions(dataset.space, query.vector.length);
      const unit = new Float32Array(query.vector.length);
      normaliseInto(query.vector, unit, 'the query');
      if (unit.every((component) => component === 0)) return [];
      return [...dataset.rows.values()]
        .filter((row) => !row.isZero && passes(asRead(scope, query), row))
        .map(({ id, item, generation, vector }) => ({ id, item, generation, similarity: dot(unit, vector) }))
        .sort((a, b) => b.similarity - a.similarity || compareText(a.id, b.id) || compareText(a.item, b.item))
        .slice(0, query.limit);
    },
    async fetch(scope, kind, ids, provenance) {
      const wanted = new Set(ids);
      return [...(datasets.existing(scope)?.rows.values() ?? [])]
        .filter((row) => row.kind === kind && wanted.has(row.id))
        .filter((row) => !provenance || (row.item === provenance.item && row.generation === provenance.generation))
        .map(({ id, item, generation, vector }) => ({ id, item, generation, vector: vector.slice() }));
    },
    async remove(scope, selection) {
      const dataset = datasets.existing(scope);
      return dataset ? removeSelected(dataset.rows, selection) : 0;
    },
    async drop(scope) {
      datasets.discard(scope);
    },
    async count(scope, filter) {
      return [...(datasets.existing(scope)?.rows.values() ?? [])].filter((row) => passes(filter, row)).length;
    },
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return Math.max(-1, Math.min(1, sum));
}

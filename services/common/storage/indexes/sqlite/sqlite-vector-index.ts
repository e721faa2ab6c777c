import type { DatasetScope } from '../../../kernel/scope.ts';
import type { VectorIndex } from '../../ports/vector-index.ts';
import { assertSameSpace } from '../wasm-vectors/vector-space.ts';
import { vectorBatch } from './batches.ts';
import { kindOfRow } from './schema.ts';
import type { DatasetWorkers } from './worker-client.ts';

export function createSqliteVectorIndex({ writer, reader, scanner, pathOf, forget }: DatasetWorkers): VectorIndex {
  const announce = (path: string, removed: readonly number[]) =>
    scanner.notify({
      notice: 'vectors-changed',
      path,
      removed: removed.map((row) => ({ kind: kindOfRow(row), row })),
    });
  const spaceOf = (scope: DatasetScope) => reader.call('space', pathOf(scope), null);
  return {
    capabilities: { exact: true },
    space: spaceOf,
    async upsert(scope, space, entries) {
      if (entries.length === 0) return assertSameSpace(await spaceOf(scope), space);
      const batch = vectorBatch(space, entries);
      const path = pathOf(scope);
      announce(path, await writer.call('upsertVectors', path, batch, { transfer: [batch.components.buffer] }));
    },
    nearest: (scope, query, signal) => scanner.call('nearest', pathOf(scope), query, { signal }),
    async fetch(scope, kind, ids, provenance) {
      const query = { kind, ids, ...(provenance === undefined ? {} : { provenance }) };
      return ids.length === 0 ? [] : ((await reader.call('fetchVectors', pathOf(scope), query)) ?? []);
    },
    async remove(scope, selection) {
      const path = pathOf(scope);
      const removed = await writer.call('removeVectors', path, selection);
      announce(path, removed);
      return removed.length;
    },
    async drop(scope) {
      await writer.call('dropVectors', pathOf(scope), null);
      forget(scope);
    },
    async count(scope, filter) {
      return (await reader.call('countVectors', pathOf(scope), filter)) ?? 0;
    },
  };
}

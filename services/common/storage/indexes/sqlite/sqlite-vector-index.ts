import type { DatasetScope } from '../../../kernel/scope.ts';
import { asRead } from '../../ports/index-entry.ts';
import type { VectorIndex, VectorSpace } from '../../ports/vector-index.ts';
import { assertSameSpace } from '../wasm-vectors/vector-space.ts';
import { vectorBatch } from './batches.ts';
import { kindOfRow } from './schema.ts';
import type { DatasetWorkers } from './worker-client.ts';

export function createSqliteVectorIndex(
  { writer, reader, scanner, pathOf, forget }: DatasetWorkers,
  spaces: VectorSpaces,
): VectorIndex {
  const announce = (path: string, removed: readonly number[]) =>
    scanner.notify({
      notice: 'vectors-changed',
      path,
      removed: removed.map((row) => ({ kind: kindOfRow(row), row })),
    });
  const spaceOf = (scope: DatasetScope) => {
    const path = pathOf(scope);
    return spaces.of(path, () => reader.call('space', path, null));
  };
  return {
    space: spaceOf,
    async upsert(scope, space, entries) {
      if (entries.length === 0) return assertSameSpace(await spaceOf(scope), space);
      const batch = vectorBatch(space, entries);
      const path = pathOf(scope);
      announce(path, await writer.call('upsertVectors', path, batch, { transfer: [batch.components.buffer] }));
    },
    nearest: (scope, query, signal) => scanner.call('nearest', pathOf(scope), asRead(scope, query), { signal }),
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
      const path = pathOf(scope);
      await writer.call('dropVectors', path, null);
      spaces.forget(path);
      forget(scope);
    },
    async count(scope, filter) {
      return (await reader.call('countVectors', pathOf(scope), filter)) ?? 0;
    },
  };
}

const MAX_SPACES = 10_000;

/** Vector spaces by file. A space is settled once: it is known until the vectors are dropped or the file is another one. */
type VectorSpaces = ReturnType<typeof createVectorSpaces>;

export function createVectorSpaces() {
  const known = new Map<string, VectorSpace>();
  let changes = 0;
  return {
    async of(path: string, read: () => Promise<VectorSpace | null>): Promise<VectorSpace | null> {
      const space = known.get(path);
      if (space !== undefined) return space;
      const before = changes;
      const found = await read();
      if (found !== null && changes === before) {
        if (known.size >= MAX_SPACES) known.clear();
        known.set(path, found);
      }
      return found;
    },
    forget(path: string): void {
      changes += 1;
      known.delete(path);
    },
  };
}

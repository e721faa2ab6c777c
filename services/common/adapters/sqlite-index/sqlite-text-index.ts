import type { DataItemId } from '../../domain/brand.ts';
import type { EntryPayload, IndexKind } from '../../ports/index-entry.ts';
import type { TextIndex, TextRow } from '../../ports/text-index.ts';
import { textBatch } from './batches.ts';
import type { DatasetWorkers } from './dataset-workers.ts';
import type { PackedTextRow } from './text-reader.ts';

export function createSqliteTextIndex({ writer, reader, pathOf, forget }: DatasetWorkers): TextIndex {
  return {
    async upsert(scope, entries) {
      if (entries.length > 0) await writer.call('upsertText', pathOf(scope), textBatch(entries));
    },
    async candidates(scope, query, signal) {
      const found = await reader.call('candidates', pathOf(scope), query, { signal });
      const rowFrequencies = found?.rowFrequencies ?? query.terms.map(() => 0);
      if (found === null || found.rowCount === 0) {
        return { candidates: [], statistics: { rowCount: 0, averageLength: 0, rowFrequencies } };
      }
      const candidates = found.rows.map((row, index) => ({
        ...unpack(query.kind, row),
        length: found.lengths[index] ?? 0,
        frequencies: found.frequencies[index] ?? [],
      }));
      const { rowCount, tokenCount } = found;
      return { candidates, statistics: { rowCount, averageLength: tokenCount / rowCount, rowFrequencies } };
    },
    async fetch(scope, kind, ids) {
      if (ids.length === 0) return [];
      const rows = (await reader.call('fetchText', pathOf(scope), { kind, ids })) ?? [];
      return rows.map((row) => unpack(kind, row));
    },
    async list(scope, query) {
      const rows = (await reader.call('listText', pathOf(scope), query)) ?? [];
      return rows.map((row) => unpack(query.kind, row));
    },
    remove: (scope, selection) => writer.call('removeText', pathOf(scope), selection),
    async drop(scope) {
      await writer.call('dropText', pathOf(scope), null);
      forget(scope);
    },
    async count(scope, filter) {
      return (await reader.call('countText', pathOf(scope), filter)) ?? 0;
    },
  };
}

function unpack(kind: IndexKind, row: PackedTextRow): TextRow {
  const { id, item, generation, ordinal, nodeSets, payload } = row;
  return {
    kind,
    id,
    item: item as DataItemId,
    generation,
    ordinal,
    nodeSets: JSON.parse(nodeSets) as readonly string[],
    payload: JSON.parse(payload) as EntryPayload,
  };
}

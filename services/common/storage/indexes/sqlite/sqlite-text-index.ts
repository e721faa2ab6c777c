import type { DataItemId } from '../../../kernel/brand.ts';
import { keptByText } from '../../../kernel/recently-used.ts';
import { asRead, type EntryPayload, type IndexKind } from '../../ports/index-entry.ts';
import { readSeen } from '../../ports/read-seen.ts';
import type { TextCandidate, TextIndex, TextRow } from '../../ports/text-index.ts';
import { textBatch } from './batches.ts';
import type { PackedCandidates, PackedOrigin, PackedTextRows } from './text-reader.ts';
import type { DatasetWorkers } from './worker-client.ts';

export function createSqliteTextIndex({ writer, reader, pathOf, forget }: DatasetWorkers): TextIndex {
  return {
    async upsert(scope, entries) {
      if (entries.length > 0) await writer.call('upsertText', pathOf(scope), textBatch(entries));
    },
    async candidates(scope, query, signal) {
      const found = await reader.call('candidates', pathOf(scope), asRead(scope, query), { signal });
      const rowFrequencies = found?.rowFrequencies ?? query.terms.map(() => 0);
      if (found === null || found.rowCount === 0) {
        return { candidates: [], statistics: { rowCount: 0, averageLength: 0, rowFrequencies } };
      }
      const candidates = unpackCandidates(query.kind, found);
      const { rowCount, tokenCount } = found;
      return { candidates, statistics: { rowCount, averageLength: tokenCount / rowCount, rowFrequencies } };
    },
    async fetch(scope, kind, ids, { perId: most } = {}) {
      if (ids.length === 0) return [];
      const read = async (some: readonly string[], perId?: number) =>
        unpack(kind, await reader.call('fetchText', pathOf(scope), { kind, ids: some, perId }));
      return most === undefined
        ? read(ids)
        : readSeen(scope, { keys: ids, limit: most, read, keysOf: ({ id }) => [id] });
    },
    async fetchCandidates(scope, query) {
      if (query.ids.length === 0) return [];
      return unpackCandidates(query.kind, await reader.call('fetchCandidates', pathOf(scope), query));
    },
    async list(scope, query) {
      return unpack(query.kind, await reader.call('listText', pathOf(scope), query));
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

function unpack(kind: IndexKind, packed: PackedTextRows | null): readonly TextRow[] {
  if (packed === null) return [];
  const { tokens } = packed;
  return packed.ids.map((_, at) => lazyRow(kind, packed, at, tokens ? { tokens: tokens[at] ?? '' } : {}));
}

function unpackCandidates(kind: IndexKind, packed: PackedCandidates | null): readonly TextCandidate[] {
  if (packed === null) return [];
  return packed.ids.map((_, at) =>
    lazyRow(kind, packed, at, { length: packed.lengths[at] ?? 0, frequencies: packed.frequencies[at] ?? [] }),
  );
}

const NO_PAYLOAD: EntryPayload = Object.freeze({});

/** Payloads of the rows that answer many questions: at most about 8 MB. */
const payloadOf = keptByText<EntryPayload>(1000, JSON.parse, 8000);

/** Few of the hundreds of candidate rows are ever read: the payload is parsed on demand. */
function lazyRow<Measures>(kind: IndexKind, packed: PackedTextRows, at: number, measures: Measures) {
  const origin = packed.origins[packed.originOf[at] as number] as PackedOrigin;
  const text = packed.payloads[at] as string;
  const row = {
    kind,
    id: packed.ids[at] as string,
    item: origin.item as DataItemId,
    generation: origin.generation,
    ordinal: packed.ordinals[at] as number,
    nodeSets: origin.nodeSets === '[]' ? [] : (JSON.parse(origin.nodeSets) as readonly string[]),
    payload: NO_PAYLOAD,
    ...measures,
  };
  if (text === '{}') return row;
  let payload: EntryPayload | undefined;
  const get = () => {
    payload ??= payloadOf(text);
    return payload;
  };
  return Object.defineProperty(row, 'payload', { get, enumerable: true });
}

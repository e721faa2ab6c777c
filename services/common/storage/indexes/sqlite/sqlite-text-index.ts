import { keptByLength } from '../../../kernel/recently-used.ts';
import { asRead, type EntryPayload, type IndexKind } from '../../ports/index-entry.ts';
import { readSeen } from '../../ports/read-seen.ts';
import type { TextCandidate, TextIndex, TextRow } from '../../ports/text-index.ts';
import { textBatch } from './batches.ts';
import type { ReadRow } from './schema.ts';
import { type PackedTextRows, unpackRows } from './text-reader.ts';
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
      const candidates = candidatesOf(query.kind, found);
      const { rowCount, tokenCount } = found;
      return { candidates, statistics: { rowCount, averageLength: tokenCount / rowCount, rowFrequencies } };
    },
    async fetch(scope, kind, ids, { perId: most } = {}) {
      if (ids.length === 0) return [];
      const read = async (some: readonly string[], perId?: number) =>
        textRows(kind, await reader.call('fetchText', pathOf(scope), { kind, ids: some, perId }));
      return most === undefined
        ? read(ids)
        : readSeen(scope, { keys: ids, limit: most, read, keysOf: ({ id }) => [id] });
    },
    async fetchCandidates(scope, query) {
      if (query.ids.length === 0) return [];
      const found = await reader.call('fetchCandidates', pathOf(scope), query);
      return found === null ? [] : candidatesOf(query.kind, found);
    },
    async list(scope, query) {
      return textRows(query.kind, await reader.call('listText', pathOf(scope), query));
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

type TextRows = PackedTextRows | readonly ReadRow[];

function rowsOf(found: TextRows): readonly ReadRow[] {
  return 'ids' in found ? unpackRows(found) : found;
}

/** Rows that are asked for by themselves are read. */
function textRows(kind: IndexKind, found: TextRows | null): readonly TextRow[] {
  if (found === null) return [];
  return rowsOf(found).map((row) => {
    const read = rowWith(kind, row, row.payload === '{}' ? NO_PAYLOAD : payloadOf(row.payload));
    return row.tokens === undefined ? read : { ...read, tokens: row.tokens };
  });
}

interface FoundCandidates {
  readonly rows: TextRows;
  readonly lengths: readonly number[];
  readonly frequencies: readonly (readonly number[])[];
}

function candidatesOf(kind: IndexKind, found: FoundCandidates): readonly TextCandidate[] {
  return rowsOf(found.rows).map((row, at) => {
    const length = found.lengths[at] ?? 0;
    const frequencies = found.frequencies[at] ?? [];
    return withPayload({ ...rowWith(kind, row, NO_PAYLOAD), length, frequencies }, row.payload);
  });
}

const NO_PAYLOAD: EntryPayload = Object.freeze({});

/** Payloads of the rows that answer many questions, of together at most so many characters. */
const KEPT_CHARACTERS = 3_000_000;
const payloadOf = keptByLength<EntryPayload>(KEPT_CHARACTERS, JSON.parse, 8000);

const NO_SETS: readonly string[] = [];

function rowWith(kind: IndexKind, { id, origin, ordinal }: ReadRow, payload: EntryPayload): TextRow {
  const { item, generation, nodeSets } = origin;
  return {
    kind,
    id,
    item,
    generation,
    ordinal,
    nodeSets: nodeSets === '[]' ? NO_SETS : (JSON.parse(nodeSets) as readonly string[]),
    payload,
  };
}

/** Few of the hundreds of candidate rows are ever read: the payload is parsed on demand. */
function withPayload<Row extends TextRow>(row: Row, text: string): Row {
  if (text === '{}') return row;
  let payload: EntryPayload | undefined;
  const get = () => {
    payload ??= payloadOf(text);
    return payload;
  };
  return Object.defineProperty(row, 'payload', { get, enumerable: true });
}

import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { inverseRowFrequency, scoreBm25 } from '../../../ranking/bm25.ts';
import { type CopyOptions, changedItems, type IndexCopy, type IndexKind } from '../../ports/index-entry.ts';
import { COPIED_KINDS, type CopiedTextReads, type TextCandidates, type TextIndex } from '../../ports/text-index.ts';
import { letsNothingThrough, passing } from './filters.ts';
import { MAX_ROWS_PER_ID } from './index-layout.ts';
import { storedToken } from './row-words.ts';
import { candidateOf, type createTextReader, ROWS_AT_ONCE, type StoredRow, textRow } from './text-reader.ts';

/** `place`: the sequence number of the row, which gives the order of writing. */
type CopiedRow = Omit<StoredRow, 'counts'> & { readonly place: number };

/** Memory of a row beside its payload, of a word that is new, and of a word in a row. */
const BYTES_PER_ROW = 400;
/** A payload is kept as JSON and as it was read from it; of a passage, searches also remember the words of each sentence. */
const PAYLOAD_COPIES = 2;
const BYTES_OF_WORDS = 5;
const BYTES_PER_WORD = 120;
const BYTES_PER_POSTING = 8;

interface Copied {
  readonly committed: CopyOptions['committed'];
  readonly kinds: ReadonlyMap<IndexKind, CopiedKind>;
}

/** Copies the committed rows of a dataset; its reads answer as the index does, the order of rows included. */
export async function copyRows(
  reader: Pick<ReturnType<typeof createTextReader>, 'everyRow'>,
  index: CopiedTextReads,
  scope: DatasetScope,
  { committed, maxBytes, signal }: CopyOptions,
  before: Copied | null = null,
): Promise<IndexCopy<CopiedTextReads> | null> {
  const items = before && changedItems(before.committed, committed);
  const changed = new Set<string>(items);
  const kinds = new Map<IndexKind, CopiedKind>();
  let bytes = 0;
  for (const kind of COPIED_KINDS) {
    const known = before?.kinds.get(kind);
    const copied = createCopiedKind(
      known,
      ({ item, generation }) => committed.get(item) === generation && !changed.has(item),
    );
    for await (const page of reader.everyRow(scope, kind, items, signal)) {
      for (const { row, place } of page) if (committed.get(row.item) === row.generation) copied.add(row, place);
      if (bytes + copied.bytes() > maxBytes) return null;
    }
    bytes += copied.bytes();
    kinds.set(kind, copied.end());
  }
  const copied = { committed, kinds };
  return {
    bytes,
    reads: readsOf(kinds, index),
    updated: (options) => copyRows(reader, index, scope, options, copied),
  };
}

/** The rows of a kind, in order of their keys, and where each word stands. */
interface CopiedKind {
  readonly rows: readonly CopiedRow[];
  /** Where the rows of an id are. */
  readonly byId: ReadonlyMap<string, readonly number[]>;
  readonly averageLength: number;
  /** Places of rows, each followed by the number of times that the row holds the word. */
  postings(term: string): Int32Array;
  /** The postings of each word as it is stored. */
  words(): Iterable<readonly [string, Int32Array]>;
}

const NOWHERE = new Int32Array();

/** A row and the words in it; of a row of a former copy they are known there. */
interface NewRow {
  readonly row: CopiedRow;
  readonly counts: StoredRow['counts'] | null;
}

/** Collects rows in the order of their keys, among those of a former copy that stay. */
function createCopiedKind(before: CopiedKind | undefined, stays: (row: CopiedRow) => boolean) {
  const kept = before?.rows ?? [];
  /** Places of rows of the former copy. */
  const places = new Int32Array(kept.length).fill(-1);
  const rows: NewRow[] = [];
  const knownWords = new Set<string>();
  let next = 0;
  let bytes = 0;
  const push = (row: CopiedRow, counts: NewRow['counts']) => {
    const times = PAYLOAD_COPIES + (row.kind === 'chunk' ? BYTES_OF_WORDS : 0);
    bytes += BYTES_PER_ROW + times * row.payload.length;
    rows.push({ row, counts });
  };
  /** The rows of the former copy that are before a key; null: all. */
  const pushKept = (key: CopiedRow | null) => {
    for (let row = kept[next]; row !== undefined && (key === null || isBefore(row, key)); row = kept[next]) {
      if (stays(row)) {
        places[next] = rows.length;
        push(row, null);
      }
      next += 1;
    }
  };
  if (before !== undefined)
    for (const [token, postings] of before.words()) {
      knownWords.add(token);
      bytes += BYTES_PER_WORD + (BYTES_PER_POSTING * postings.length) / 2;
    }
  return {
    /** Memory that it takes. */
    bytes: () => bytes,
    /** Rows come in the order of their keys. */
    add({ counts, ...row }: StoredRow, place: number): void {
      const copied = { ...row, place };
      pushKept(copied);
      push(copied, counts);
      for (const token of counts.keys()) {
        if (knownWords.has(token)) continue;
        knownWords.add(token);
        bytes += BYTES_PER_WORD;
      }
      bytes += BYTES_PER_POSTING * counts.size;
    },
    end(): CopiedKind {
      pushKept(null);
      return copiedKind(rows, postingsOf(rows, before, places));
    },
  };
}

/** Keys in the order of the server: of their bytes. */
function isBefore(left: CopiedRow, right: CopiedRow): boolean {
  const byBytes = (a: string, b: string) => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const order = byBytes(left.id, right.id) || byBytes(left.item, right.item) || left.generation - right.generation;
  return order < 0;
}

/** The postings of each word, those of the former copy at their new places. */
function postingsOf(
  rows: readonly NewRow[],
  before: CopiedKind | undefined,
  places: Int32Array,
): ReadonlyMap<string, readonly number[]> {
  const words = new Map<string, number[]>();
  const add = (token: string, at: number, count: number) => {
    const postings = words.get(token);
    if (postings === undefined) words.set(token, [at, count]);
    else postings.push(at, count);
  };
  for (const [token, postings] of before?.words() ?? []) {
    for (let next = 0; next < postings.length; next += 2) {
      const at = places[postings[next] as number] as number;
      if (at >= 0) add(token, at, postings[next + 1] as number);
    }
  }
  const changed = new Set<string>();
  for (const [at, { counts }] of rows.entries()) {
    for (const [token, count] of counts ?? []) {
      add(token, at, count);
      changed.add(token);
    }
  }
  if (before === undefined) return words;
  for (const token of changed) {
    const pairs = [...slices(words.get(token) ?? [], 2)].sort(([a = 0], [b = 0]) => a - b);
    words.set(token, pairs.flat());
  }
  return words;
}

function copiedKind(found: readonly NewRow[], words: ReadonlyMap<string, readonly number[]>): CopiedKind {
  const rows = found.map(({ row }) => row);
  const byId = new Map<string, number[]>();
  for (const [at, { id }] of rows.entries()) {
    const known = byId.get(id);
    if (known === undefined) byId.set(id, [at]);
    else known.push(at);
  }
  const numbers = new Map([...words.keys()].map((token, number) => [token, number]));
  const all = Int32Array.from([...words.values()].flat());
  const ends = new Int32Array(words.size);
  let end = 0;
  for (const [number, postings] of [...words.values()].entries()) {
    end += postings.length;
    ends[number] = end;
  }
  const at = (number: number) => all.subarray(ends[number - 1] ?? 0, ends[number]);
  return {
    rows,
    byId,
    averageLength: rows.length === 0 ? 0 : rows.reduce((sum, { length }) => sum + length, 0) / rows.length,
    postings(term) {
      const number = term === '' ? undefined : numbers.get(storedToken(term));
      return number === undefined ? NOWHERE : at(number);
    },
    *words() {
      for (const [token, number] of numbers) yield [token, at(number)];
    },
  };
}

function readsOf(kinds: ReadonlyMap<IndexKind, CopiedKind>, index: CopiedTextReads): CopiedTextReads {
  return {
    async candidates(scope, query, signal) {
      const copied = kinds.get(query.kind);
      if (copied === undefined) return index.candidates(scope, query, signal);
      signal?.throwIfAborted();
      const postings = query.terms.map(copied.postings);
      const { rows, averageLength } = copied;
      const rowFrequencies = postings.map((one) => one.length / 2);
      const statistics = { rowCount: rows.length, averageLength, rowFrequencies };
      if (letsNothingThrough(query)) return { candidates: [], statistics };
      const best = bestPlaces(copied, postings, statistics, { limit: query.limit, passes: passing(scope, query) });
      const candidates = best.map((at) => candidateOf(rows[at] as CopiedRow, frequenciesAt(postings, at)));
      return {
        candidates: scoreBm25({ candidates, statistics })
          .slice(0, query.limit)
          .map(({ row }) => row),
        statistics,
      };
    },
    async fetch(scope, kind, ids, options = {}) {
      const copied = kinds.get(kind);
      if (copied === undefined) return index.fetch(scope, kind, ids, options);
      const { perId } = options;
      if (perId === undefined) return placesOf(copied, ids).map((at) => textRow(copied.rows[at] as CopiedRow));
      return latestRows(copied, ids, Math.min(perId, MAX_ROWS_PER_ID), passing(scope, { kind })).map(textRow);
    },
    async fetchCandidates(scope, query) {
      const copied = kinds.get(query.kind);
      if (copied === undefined) return index.fetchCandidates(scope, query);
      const postings = query.terms.map(copied.postings);
      return placesOf(copied, query.ids).map((at) =>
        candidateOf(copied.rows[at] as CopiedRow, frequenciesAt(postings, at)),
      );
    },
    async list(scope, query) {
      const copied = kinds.get(query.kind);
      if (copied === undefined || query.withTokens) return index.list(scope, query);
      return listed(copied, query).map(textRow);
    },
  };
}

/** The rows with the best scores, and those that are as good as the last of them, in no order. Adds up as `scoreBm25` does. */
function bestPlaces(
  { rows }: CopiedKind,
  postings: readonly Int32Array[],
  { rowCount, averageLength, rowFrequencies }: TextCandidates['statistics'],
  wanted: { readonly limit: number; readonly passes: (row: CopiedRow) => boolean },
): readonly number[] {
  const scores = new Float64Array(rowCount);
  const found: number[] = [];
  for (const [term, places] of postings.entries()) {
    const weight = inverseRowFrequency(rowCount, rowFrequencies[term] ?? 0) * (K1 + 1);
    for (let next = 0; next < places.length; next += 2) {
      const at = places[next] as number;
      const frequency = places[next + 1] as number;
      const score = scores[at] as number;
      if (score === 0) found.push(at);
      const { length } = rows[at] as CopiedRow;
      const damping = K1 * (1 - B + (averageLength > 0 ? (B * length) / averageLength : 0));
      scores[at] = score + (weight * frequency) / (frequency + damping);
    }
  }
  const passed = found.filter((at) => wanted.passes(rows[at] as CopiedRow));
  if (passed.length <= wanted.limit) return passed;
  const ranked = Float64Array.from(passed, (at) => scores[at] as number).sort();
  const least = ranked[passed.length - wanted.limit] as number;
  return passed.filter((at) => (scores[at] as number) >= least);
}

/** The parameters that `scoreBm25` starts with. */
const K1 = 1.2;
const B = 0.75;

function frequenciesAt(postings: readonly Int32Array[], at: number): readonly number[] {
  return postings.map((places) => {
    let [low, high] = [0, places.length / 2];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[2 * middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return places[2 * low] === at ? (places[2 * low + 1] as number) : 0;
  });
}

/** Every row of the ids, in the order of keys within each part that the index is asked for at once. */
function placesOf({ byId }: CopiedKind, ids: readonly string[]): readonly number[] {
  return [...slices([...new Set(ids)], ROWS_AT_ONCE)].flatMap((some) =>
    some.flatMap((id) => byId.get(id) ?? []).sort((a, b) => a - b),
  );
}

/** In the order of the server's buckets: ids of many rows first. */
function latestRows(
  { rows, byId }: CopiedKind,
  ids: readonly string[],
  perId: number,
  passes: (row: CopiedRow) => boolean,
): readonly CopiedRow[] {
  const atOnce = Math.max(1, Math.floor(ROWS_AT_ONCE / perId));
  return [...slices([...new Set(ids)], atOnce)].flatMap((some) =>
    some
      .map((id) => ({ id, found: (byId.get(id) ?? []).map((at) => rows[at] as CopiedRow).filter(passes) }))
      .sort((a, b) => b.found.length - a.found.length || (a.id < b.id ? -1 : 1))
      .flatMap(({ found }) => found.sort((a, b) => b.place - a.place).slice(0, perId)),
  );
}

function listed(
  { rows }: CopiedKind,
  { provenance, after = Number.NEGATIVE_INFINITY, limit }: Parameters<TextIndex['list']>[1],
): readonly CopiedRow[] {
  const size = Math.min(limit, ROWS_AT_ONCE);
  const found = rows
    .filter(({ ordinal }) => ordinal > after)
    .filter((row) => !provenance || (row.item === provenance.item && row.generation === provenance.generation))
    // Rows of one ordinal stay in the order of keys.
    .sort((a, b) => a.ordinal - b.ordinal);
  const last = found[size - 1]?.ordinal;
  return last === undefined || found[size]?.ordinal !== last
    ? found.slice(0, size)
    : found.filter(({ ordinal }) => ordinal <= last);
}

import type { IndexKind } from '../../ports/index-entry.ts';
import type { OpenFile } from './open-files.ts';
import { applyChanges, asBytes, asIntegers, BUCKET_ROWS, bucketOf, offsetOf, packEntry } from './postings.ts';
import { kindRange } from './schema.ts';

/** Collects what a transaction changes in the inverted index, so that each blob is read and written once. */
export interface PostingChanges {
  add(
    kind: IndexKind,
    row: { readonly sequence: number; readonly origin: number; readonly length: number; readonly counts: TermCounts },
  ): void;
  remove(
    kind: IndexKind,
    row: { readonly sequence: number; readonly length: number; readonly counts: TermCounts },
  ): void;
  flush(): void;
}

type TermCounts = ReadonlyMap<string, number>;

interface KindChanges {
  /** By term: bucket and packed entry, alternating. */
  readonly terms: Map<string, number[]>;
  /** By bucket: offset, length + 1, origin. */
  readonly slots: Map<number, number[]>;
  rows: number;
  tokens: number;
}

export function createPostingChanges(file: OpenFile): PostingChanges {
  const kinds = new Map<IndexKind, KindChanges>();
  const changesOf = (kind: IndexKind): KindChanges => {
    const known = kinds.get(kind);
    if (known) return known;
    const made = { terms: new Map<string, number[]>(), slots: new Map<number, number[]>(), rows: 0, tokens: 0 };
    kinds.set(kind, made);
    return made;
  };
  const note = (changes: KindChanges, sequence: number, counts: TermCounts, isRemoval: boolean) => {
    const bucket = bucketOf(sequence);
    const offset = offsetOf(sequence);
    for (const [term, count] of counts) {
      const list = changes.terms.get(term);
      const entry = packEntry(offset, isRemoval ? 0 : count);
      if (list) list.push(bucket, entry);
      else changes.terms.set(term, [bucket, entry]);
    }
  };
  const noteSlot = (changes: KindChanges, sequence: number, length: number, origin: number) => {
    const bucket = bucketOf(sequence);
    const list = changes.slots.get(bucket) ?? [];
    list.push(offsetOf(sequence), length, origin);
    changes.slots.set(bucket, list);
  };
  return {
    add(kind, { sequence, origin, length, counts }) {
      const changes = changesOf(kind);
      changes.rows++;
      changes.tokens += length;
      note(changes, sequence, counts, false);
      noteSlot(changes, sequence, length + 1, origin);
    },
    remove(kind, { sequence, length, counts }) {
      const changes = changesOf(kind);
      changes.rows--;
      changes.tokens -= length;
      note(changes, sequence, counts, true);
      noteSlot(changes, sequence, 0, 0);
    },
    flush() {
      for (const [kind, changes] of kinds) flushKind(file, kindRange(kind).code, changes);
      kinds.clear();
    },
  };
}

function flushKind(file: OpenFile, kind: number, changes: KindChanges): void {
  const stored = storedBuckets(file, kind, changes.slots.keys());
  // In key order: neighbouring keys lie on one page.
  for (const term of [...changes.terms.keys()].sort()) {
    flushTerm(file, [kind, term], changes.terms.get(term) ?? [], stored);
  }
  for (const [bucket, slots] of changes.slots) flushSlots(file, [kind, bucket], slots);
  file.run(
    `INSERT INTO text_statistics (kind, rows, tokens) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET rows = rows + excluded.rows, tokens = tokens + excluded.tokens`,
    [kind, changes.rows, changes.tokens],
  );
}

/** Buckets that have rows already; what is written to others needs no reading first. */
function storedBuckets(file: OpenFile, kind: number, buckets: Iterable<number>): ReadonlySet<number> {
  const sql = 'SELECT 1 FROM text_bucket WHERE kind = ? AND bucket = ?';
  return new Set([...buckets].filter((bucket) => file.get(sql, [kind, bucket]) !== undefined));
}

/** `list` holds buckets and packed entries, alternating. */
function flushTerm(
  file: OpenFile,
  key: readonly [number, string],
  list: readonly number[],
  stored: ReadonlySet<number>,
): void {
  let rest = list;
  while (rest.length > 0) {
    const bucket = rest[0] as number;
    const entries: number[] = [];
    const others: number[] = [];
    for (let index = 0; index < rest.length; index += 2) {
      if (rest[index] === bucket) entries.push(rest[index + 1] as number);
      else others.push(rest[index] as number, rest[index + 1] as number);
    }
    flushEntries(file, [...key, bucket], entries, stored.has(bucket));
    rest = others;
  }
}

function flushEntries(
  file: OpenFile,
  key: readonly [number, string, number],
  changes: readonly number[],
  isStored: boolean,
): void {
  const stored = isStored
    ? file.get('SELECT entries FROM text_posting WHERE kind = ? AND term = ? AND bucket = ?', key)?.[0]
    : undefined;
  const entries = applyChanges(stored === undefined ? null : asIntegers(stored), changes);
  if (entries.length > 0) {
    file.run('INSERT OR REPLACE INTO text_posting (kind, term, bucket, entries) VALUES (?, ?, ?, ?)', [
      ...key,
      asBytes(entries),
    ]);
  } else if (stored !== undefined) {
    file.run('DELETE FROM text_posting WHERE kind = ? AND term = ? AND bucket = ?', key);
  }
}

function flushSlots(file: OpenFile, key: readonly [number, number], changes: readonly number[]): void {
  const stored = file.get('SELECT slots FROM text_bucket WHERE kind = ? AND bucket = ?', key)?.[0];
  const slots = stored === undefined ? new Uint32Array(2 * BUCKET_ROWS) : asIntegers(stored);
  for (let index = 0; index < changes.length; index += 3) {
    const offset = changes[index] as number;
    slots[offset] = changes[index + 1] as number;
    slots[BUCKET_ROWS + offset] = changes[index + 2] as number;
  }
  if (slots.subarray(0, BUCKET_ROWS).every((length) => length === 0)) {
    file.run('DELETE FROM text_bucket WHERE kind = ? AND bucket = ?', key);
    return;
  }
  file.run('INSERT OR REPLACE INTO text_bucket (kind, bucket, slots) VALUES (?, ?, ?)', [...key, asBytes(slots)]);
}

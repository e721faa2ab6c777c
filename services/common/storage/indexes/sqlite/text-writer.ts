import type { IndexKind } from '../../ports/index-entry.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import type { TextBatch } from './batches.ts';
import { type OpenFile, writing } from './open-files.ts';
import { allOrigins, originsOf, removeUnusedOrigins, resolveOrigins } from './origins.ts';
import { applyChanges, asBytes, asIntegers, BUCKET_ROWS, bucketOf, offsetOf, packEntry, termKey } from './postings.ts';
import { kindOfRow, kindRange } from './schema.ts';

export function upsertText(file: OpenFile, batch: TextBatch): void {
  writing(file, () => {
    const changes = createPostingChanges(file);
    const origins = resolveOrigins(file, 'text_row', batch.origins);
    const sequences = new Map<IndexKind, number>();
    const insert = file.writer(
      'INSERT INTO text_row (row, kind, origin, id, ordinal, length, payload, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    for (let index = 0; index < batch.ids.length; index++) {
      const kind = batch.kinds[index] as IndexKind;
      const id = batch.ids[index] as string;
      const { origin, rivals } = origins[batch.originOf[index] as number] as (typeof origins)[number];
      for (const rival of rivals) removeRow(file, changes, kind, id, rival);
      const sequence = sequences.get(kind) ?? nextSequence(file, kind);
      sequences.set(kind, sequence + 1);
      const { code, start } = kindRange(kind);
      const tokens = batch.tokens[index] as string;
      const length = changes.add(kind, { sequence, origin, tokens });
      const payload = batch.payloads[index] as string;
      insert(start + sequence, code, origin, id, batch.ordinals[index] as number, length, payload, tokens);
    }
    changes.flush();
  });
}

/** Returns how many rows went. */
export function removeText(file: OpenFile, selection: RowSelection): number {
  return writing(file, () => {
    const changes = createPostingChanges(file);
    const origins = originsOf(file, selection);
    let removed = 0;
    for (const origin of origins) {
      const rows = file.all('SELECT row, tokens FROM text_row WHERE origin = ?', [origin]);
      for (const [row, tokens] of rows) takeOut(changes, Number(row), String(tokens));
      removed += file.run('DELETE FROM text_row WHERE origin = ?', [origin]).changes;
    }
    changes.flush();
    removeUnusedOrigins(file, origins);
    return removed;
  });
}

export function dropText(file: OpenFile): void {
  writing(file, () => {
    for (const table of ['text_row', 'text_posting', 'text_bucket', 'text_statistics'])
      file.exec(`DELETE FROM ${table}`);
    removeUnusedOrigins(file, allOrigins(file));
  });
}

function nextSequence(file: OpenFile, kind: IndexKind): number {
  const { start, end } = kindRange(kind);
  const last = file.get('SELECT max(row) FROM text_row WHERE row >= ? AND row < ?', [start, end])?.[0];
  return last === null || last === undefined ? 0 : Number(last) - start + 1;
}

function removeRow(file: OpenFile, changes: PostingChanges, kind: IndexKind, id: string, origin: number): void {
  const { code } = kindRange(kind);
  const found = file.get('SELECT row, tokens FROM text_row WHERE kind = ? AND id = ? AND origin = ?', [
    code,
    id,
    origin,
  ]);
  if (found === undefined) return;
  takeOut(changes, Number(found[0]), String(found[1]));
  file.run('DELETE FROM text_row WHERE row = ?', [Number(found[0])]);
}

function takeOut(changes: PostingChanges, row: number, tokens: string): void {
  const kind = kindOfRow(row);
  changes.remove(kind, { sequence: row - kindRange(kind).start, tokens });
}

/** Collects what a transaction changes in the inverted index, so that each blob is read and written once. */
type PostingChanges = ReturnType<typeof createPostingChanges>;

interface KindChanges {
  /** By token: sequence and frequency, alternating; frequency 0 takes the row out. */
  readonly terms: Map<string, number[]>;
  /** By bucket: offset, length + 1, origin. */
  readonly slots: Map<number, number[]>;
  rows: number;
  tokens: number;
}

function createPostingChanges(file: OpenFile) {
  const kinds = new Map<IndexKind, KindChanges>();
  const changesOf = (kind: IndexKind): KindChanges => {
    const known = kinds.get(kind);
    if (known) return known;
    const made = { terms: new Map<string, number[]>(), slots: new Map<number, number[]>(), rows: 0, tokens: 0 };
    kinds.set(kind, made);
    return made;
  };
  return {
    /** `tokens` are joined by blanks. Returns how many there are. */
    add(
      kind: IndexKind,
      { sequence, origin, tokens }: { readonly sequence: number; readonly origin: number; readonly tokens: string },
    ) {
      const changes = changesOf(kind);
      const length = noteTokens(changes, sequence, tokens, 1);
      changes.rows++;
      changes.tokens += length;
      noteSlot(changes, sequence, length + 1, origin);
      return length;
    },
    remove(kind: IndexKind, { sequence, tokens }: { readonly sequence: number; readonly tokens: string }) {
      const changes = changesOf(kind);
      changes.rows--;
      changes.tokens -= noteTokens(changes, sequence, tokens, 0);
      noteSlot(changes, sequence, 0, 0);
    },
    flush() {
      for (const [kind, changes] of kinds) flushKind(file, kindRange(kind).code, changes);
      kinds.clear();
    },
  };
}

/** Adds `step` to the frequency of each token's occurrence in the row; returns the number of tokens. */
function noteTokens(changes: KindChanges, sequence: number, tokens: string, step: 0 | 1): number {
  let length = 0;
  for (const token of tokens.split(' ')) {
    if (token === '') continue;
    length++;
    const list = changes.terms.get(token);
    if (list === undefined) changes.terms.set(token, [sequence, step]);
    else if (list[list.length - 2] === sequence) list[list.length - 1] = (list[list.length - 1] as number) + step;
    else list.push(sequence, step);
  }
  return length;
}

function noteSlot(changes: KindChanges, sequence: number, length: number, origin: number): void {
  const bucket = bucketOf(sequence);
  const list = changes.slots.get(bucket);
  if (list) list.push(offsetOf(sequence), length, origin);
  else changes.slots.set(bucket, [offsetOf(sequence), length, origin]);
}

function flushKind(file: OpenFile, kind: number, changes: KindChanges): void {
  const writeTerm = createTermWriter(file, kind, storedBuckets(file, kind, changes.slots.keys()));
  // In key order: neighbouring keys lie on one page.
  for (const term of [...changes.terms.keys()].sort()) writeTerm(termKey(term), changes.terms.get(term) ?? []);
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

/** Writes the changes of one term: sequences and frequencies, alternating. */
function createTermWriter(
  file: OpenFile,
  kind: number,
  stored: ReadonlySet<number>,
): (key: string, list: readonly number[]) => void {
  const put = file.writer('INSERT OR REPLACE INTO text_posting (kind, term, bucket, entries) VALUES (?, ?, ?, ?)');
  const remove = file.writer('DELETE FROM text_posting WHERE kind = ? AND term = ? AND bucket = ?');
  const read = 'SELECT entries FROM text_posting WHERE kind = ? AND term = ? AND bucket = ?';
  return (key, list) => {
    for (const { bucket, entries } of entriesByBucket(list)) {
      const before = stored.has(bucket) ? file.get(read, [kind, key, bucket])?.[0] : undefined;
      const after = applyChanges(before === undefined ? null : asIntegers(before), entries);
      if (after.length > 0) put(kind, key, bucket, asBytes(after));
      else if (before !== undefined) remove(kind, key, bucket);
    }
  };
}

interface BucketEntries {
  readonly bucket: number;
  /** Packed. */
  readonly entries: readonly number[];
}

function entriesByBucket(list: readonly number[]): readonly BucketEntries[] {
  const buckets: { readonly bucket: number; readonly entries: number[] }[] = [];
  for (let index = 0; index < list.length; index += 2) {
    const sequence = list[index] as number;
    const bucket = bucketOf(sequence);
    const entry = packEntry(offsetOf(sequence), list[index + 1] as number);
    const last = buckets.at(-1);
    const place = last?.bucket === bucket ? last : buckets.find((other) => other.bucket === bucket);
    if (place) place.entries.push(entry);
    else buckets.push({ bucket, entries: [entry] });
  }
  return buckets;
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

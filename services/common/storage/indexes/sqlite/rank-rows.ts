import { inverseRowFrequency } from '../../../ranking/bm25.ts';
import type { OpenFile } from './open-files.ts';
import { asIntegers, BUCKET_ROWS, bucketOf, entryFrequency, entryOffset, offsetOf } from './postings.ts';

interface RankQuery {
  readonly kind: number;
  /** Posting keys of the query's terms. */
  readonly keys: readonly string[];
  readonly limit: number;
  /** Origins that may answer; null for all. */
  readonly accepted: Pick<ReadonlySet<number>, 'has'> | null;
  readonly rowCount: number;
  readonly averageLength: number;
}

interface RankedRows {
  /** Sequence numbers of the best rows. */
  readonly sequences: readonly number[];
  readonly lengths: readonly number[];
  /** Frequencies of each row, by term. */
  readonly frequencies: readonly (readonly number[])[];
  /** By term: rows of the kind that hold it. */
  readonly rowFrequencies: readonly number[];
}

interface Best {
  readonly sequence: number;
  readonly score: number;
}

/** The parameters that `domain/ranking/bm25.ts` starts with. */
const K1 = 1.2;
const B = 0.75;

/** Of the rows of one bucket, for the query that is being ranked. */
const scores = new Float64Array(BUCKET_ROWS);

/** The rows with the highest BM25, found by adding up the postings of all terms, bucket by bucket. */
export function rankRows(file: OpenFile, query: RankQuery): RankedRows {
  const terms = query.keys.map((key) => readPostings(file, query.kind, key));
  const rowFrequencies = terms.map((postings) => {
    let count = 0;
    for (const entries of postings.values()) count += entries.length;
    return count;
  });
  scores.fill(0);
  let best: Best[] = [];
  let floor = 0;
  for (const [bucket, postings] of byBucket(terms, rowFrequencies, query.rowCount)) {
    const slots = readSlots(file, query.kind, bucket);
    const end = addScores(postings, slots, query.averageLength);
    for (let offset = 0; offset < end; offset++) {
      const score = scores[offset] as number;
      if (score <= floor) continue;
      if (query.accepted !== null && !query.accepted.has(slots[BUCKET_ROWS + offset] as number)) continue;
      best.push({ sequence: bucket * BUCKET_ROWS + offset, score });
    }
    scores.fill(0, 0, end);
    if (best.length > query.limit) {
      best = keepBest(best, query.limit);
      floor = best.at(-1)?.score ?? 0;
    }
  }
  const sequences = keepBest(best, query.limit).map(({ sequence }) => sequence);
  return { sequences, ...measureRows(file, { kind: query.kind, terms, sequences }), rowFrequencies };
}

/** Lengths of rows, and what they hold of each term. */
export function measureRows(
  file: OpenFile,
  {
    kind,
    terms,
    sequences,
  }: { readonly kind: number; readonly terms: readonly TermPostings[]; readonly sequences: readonly number[] },
): Pick<RankedRows, 'lengths' | 'frequencies'> {
  /** Most terms of like meaning are in no row. */
  const held = terms.flatMap((postings, at) => (postings.size === 0 ? [] : [{ postings, at }]));
  const lengths: number[] = [];
  const frequencies = sequences.map((sequence) => {
    const [bucket, offset] = [bucketOf(sequence), offsetOf(sequence)];
    lengths.push((readSlots(file, kind, bucket)[offset] as number) - 1);
    const ofRow = new Array<number>(terms.length).fill(0);
    for (const { postings, at } of held) ofRow[at] = frequencyAt(postings.get(bucket), offset);
    return ofRow;
  });
  return { lengths, frequencies };
}

/** Entries of a term in a bucket, and its weight. */
interface WeightedPostings {
  readonly entries: Uint32Array;
  readonly weight: number;
}

/** Entries of all terms by bucket, in the order of the terms. */
function byBucket(terms: readonly TermPostings[], rowFrequencies: readonly number[], rowCount: number) {
  const buckets = new Map<number, WeightedPostings[]>();
  for (const [term, postings] of terms.entries()) {
    if (postings.size === 0) continue;
    const weight = inverseRowFrequency(rowCount, rowFrequencies[term] as number) * (K1 + 1);
    for (const [bucket, entries] of postings) {
      const together = buckets.get(bucket);
      if (together === undefined) buckets.set(bucket, [{ entries, weight }]);
      else together.push({ entries, weight });
    }
  }
  return buckets;
}

/** Returns the place behind the last row that has one of the terms. */
function addScores(postings: readonly WeightedPostings[], slots: Uint32Array, averageLength: number): number {
  const perToken = averageLength > 0 ? (K1 * B) / averageLength : 0;
  let end = 0;
  for (const { entries, weight } of postings) {
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index] as number;
      const offset = entryOffset(entry);
      const frequency = entryFrequency(entry);
      const damping = K1 * (1 - B) + perToken * ((slots[offset] as number) - 1);
      scores[offset] = (scores[offset] as number) + (weight * frequency) / (frequency + damping);
    }
    const last = entries.at(-1);
    if (last !== undefined) end = Math.max(end, entryOffset(last) + 1);
  }
  return end;
}

function keepBest(best: Best[], limit: number): Best[] {
  return best.sort((a, b) => b.score - a.score || a.sequence - b.sequence).slice(0, limit);
}

function frequencyAt(entries: Uint32Array | undefined, offset: number): number {
  if (entries === undefined) return 0;
  let low = 0;
  let high = entries.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle] as number;
    if (entryOffset(entry) === offset) return entryFrequency(entry);
    if (entryOffset(entry) < offset) low = middle + 1;
    else high = middle - 1;
  }
  return 0;
}

/** A term's entries by bucket, ascending. */
type TermPostings = ReadonlyMap<number, Uint32Array>;

/** About what a map entry and a typed array weigh beside their numbers. */
const BYTES_PER_BLOB = 200;

/** Postings of a term; remembered until the file changes, since the steps of one query ask for the same terms. */
export function readPostings(file: OpenFile, kind: number, key: string): TermPostings {
  const recent = file.recentPostings(kind);
  const known = recent.get(key);
  if (known !== undefined) return known;
  const buckets = new Map<number, Uint32Array>();
  let bytes = BYTES_PER_BLOB;
  const sql = 'SELECT bucket, entries FROM text_posting WHERE kind = ? AND term = ?';
  for (const [bucket, blob] of file.all(sql, [kind, key])) {
    const entries = asIntegers(blob);
    buckets.set(Number(bucket), entries);
    bytes += entries.byteLength + BYTES_PER_BLOB;
  }
  recent.keep(key, buckets, bytes);
  return buckets;
}

/** More than there are. */
const KINDS = 64;

/** Length + 1 of each row of a bucket, then the origin of each. */
function readSlots(file: OpenFile, kind: number, bucket: number): Uint32Array {
  const name = bucket * KINDS + kind;
  const known = file.recentSlots.get(name);
  if (known !== undefined) return known;
  const sql = 'SELECT slots FROM text_bucket WHERE kind = ? AND bucket = ?';
  const slots = asIntegers(file.get(sql, [kind, bucket])?.[0]);
  file.recentSlots.keep(name, slots, slots.byteLength + BYTES_PER_BLOB);
  return slots;
}

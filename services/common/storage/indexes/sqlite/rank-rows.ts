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

/** Entries of each term in one bucket; undefined where the bucket has none. */
type BucketPostings = (Uint32Array | undefined)[];

interface Best {
  readonly sequence: number;
  readonly score: number;
}

/** The parameters that `domain/ranking/bm25.ts` starts with. */
const K1 = 1.2;
const B = 0.75;

/** The rows with the highest BM25, found by adding up the postings of all terms, bucket by bucket. */
export function rankRows(file: OpenFile, query: RankQuery): RankedRows {
  const terms = query.keys.map((key) => readPostings(file, query.kind, key));
  const buckets = byBucket(terms);
  const rowFrequencies = terms.map((postings) => {
    let count = 0;
    for (const entries of postings.values()) count += entries.length;
    return count;
  });
  const weights = rowFrequencies.map((count) => inverseRowFrequency(query.rowCount, count) * (K1 + 1));
  const scores = new Float64Array(BUCKET_ROWS);
  let best: Best[] = [];
  let floor = 0;
  for (const [bucket, postings] of buckets) {
    const slots = readSlots(file, query.kind, bucket);
    addScores(scores, postings, slots, weights, query.averageLength);
    for (let offset = 0; offset < BUCKET_ROWS; offset++) {
      const score = scores[offset] as number;
      if (score <= floor) continue;
      if (query.accepted !== null && !query.accepted.has(slots[BUCKET_ROWS + offset] as number)) continue;
      best.push({ sequence: bucket * BUCKET_ROWS + offset, score });
    }
    scores.fill(0);
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
  const located = sequences.map((sequence) => ({ bucket: bucketOf(sequence), offset: offsetOf(sequence) }));
  return {
    lengths: located.map(({ bucket, offset }) => (readSlots(file, kind, bucket)[offset] as number) - 1),
    frequencies: located.map(({ bucket, offset }) =>
      terms.map((postings) => (postings.size === 0 ? 0 : frequencyAt(postings.get(bucket), offset))),
    ),
  };
}

/** Entries of all terms by bucket, the term at its place. */
function byBucket(terms: readonly TermPostings[]): ReadonlyMap<number, BucketPostings> {
  const buckets = new Map<number, BucketPostings>();
  terms.forEach((postings, term) => {
    for (const [bucket, entries] of postings) {
      const together = buckets.get(bucket) ?? [];
      together[term] = entries;
      buckets.set(bucket, together);
    }
  });
  return buckets;
}

function addScores(
  scores: Float64Array,
  postings: BucketPostings,
  slots: Uint32Array,
  weights: readonly number[],
  averageLength: number,
): void {
  const perToken = averageLength > 0 ? (K1 * B) / averageLength : 0;
  postings.forEach((entries, term) => {
    const weight = weights[term] as number;
    for (let index = 0; index < (entries as Uint32Array).length; index++) {
      const entry = (entries as Uint32Array)[index] as number;
      const offset = entryOffset(entry);
      const frequency = entryFrequency(entry);
      const damping = K1 * (1 - B) + perToken * ((slots[offset] as number) - 1);
      scores[offset] = (scores[offset] as number) + (weight * frequency) / (frequency + damping);
    }
  });
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

/** Length + 1 of each row of a bucket, then the origin of each. */
function readSlots(file: OpenFile, kind: number, bucket: number): Uint32Array {
  const name = `${kind}#${bucket}`;
  const known = file.recentSlots.get(name);
  if (known !== undefined) return known;
  const sql = 'SELECT slots FROM text_bucket WHERE kind = ? AND bucket = ?';
  const slots = asIntegers(file.get(sql, [kind, bucket])?.[0]);
  file.recentSlots.keep(name, slots, slots.byteLength + BYTES_PER_BLOB);
  return slots;
}

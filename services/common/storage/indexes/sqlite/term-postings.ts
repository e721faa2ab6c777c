import type { OpenFile } from './open-files.ts';
import { asIntegers } from './postings.ts';

/** A term's entries by bucket, ascending. */
export type TermPostings = ReadonlyMap<number, Uint32Array>;

/** About what a map entry and a typed array weigh beside their numbers. */
const BYTES_PER_BLOB = 200;

/** Postings of a term; remembered until the file changes, since the steps of one query ask for the same terms. */
export function readPostings(file: OpenFile, kind: number, key: string): TermPostings {
  const name = `${kind} ${key}`;
  const known = file.recentPostings.get(name);
  if (known !== undefined) return known;
  const buckets = new Map<number, Uint32Array>();
  let bytes = BYTES_PER_BLOB;
  const sql = 'SELECT bucket, entries FROM text_posting WHERE kind = ? AND term = ?';
  for (const [bucket, blob] of file.all(sql, [kind, key])) {
    const entries = asIntegers(blob);
    buckets.set(Number(bucket), entries);
    bytes += entries.byteLength + BYTES_PER_BLOB;
  }
  file.recentPostings.keep(name, buckets, bytes);
  return buckets;
}

/** Length + 1 of each row of a bucket, then the origin of each. */
export function readSlots(file: OpenFile, kind: number, bucket: number): Uint32Array {
  const name = `${kind}#${bucket}`;
  const known = file.recentSlots.get(name);
  if (known !== undefined) return known;
  const sql = 'SELECT slots FROM text_bucket WHERE kind = ? AND bucket = ?';
  const slots = asIntegers(file.get(sql, [kind, bucket])?.[0]);
  file.recentSlots.keep(name, slots, slots.byteLength + BYTES_PER_BLOB);
  return slots;
}

import { createRecentReads, type RecentReads } from '../../../kernel/recent-reads.ts';

/** Number of commits by collection, shared by the threads of a store. Collections may share a number: their commits add up. */
export type CollectionRevisions = Int32Array<SharedArrayBuffer>;

const REVISIONS = 256;

export function createRevisions(): CollectionRevisions {
  return new Int32Array(new SharedArrayBuffer(REVISIONS * Int32Array.BYTES_PER_ELEMENT));
}

/** Called behind each commit and before it is acknowledged. */
export function countCommit(revisions: CollectionRevisions, collections: ReadonlySet<string>): void {
  for (const collection of collections) Atomics.add(revisions, placeOf(collection), 1);
}

function placeOf(collection: string): number {
  let hash = 0;
  for (let at = 0; at < collection.length; at++) hash = Math.imul(31, hash) + collection.charCodeAt(at);
  return hash & (REVISIONS - 1);
}

/** Of each collection. */
const MAX_BYTES = 512 * 1024;
/** Objects around a result. */
const BYTES_PER_READ = 200;

/** Results of reads that stay true until their collection is written. `revisions`: null keeps nothing. `bytesRead`: how much was read since the start. */
export function createUnchangedReads(revisions: CollectionRevisions | null, bytesRead: () => number) {
  interface Known {
    revision: number;
    readonly place: number;
    readonly reads: RecentReads<unknown>;
  }
  const collections = new Map<string, Known>();
  /** The reads of the collection since its last commit. */
  const readsOf = (collection: string): RecentReads<unknown> | null => {
    if (revisions === null) return null;
    let known = collections.get(collection);
    if (known === undefined) {
      known = { revision: 0, place: placeOf(collection), reads: createRecentReads(MAX_BYTES) };
      collections.set(collection, known);
    }
    // Looked at before the data: what is committed meanwhile has another number.
    const revision = Atomics.load(revisions, known.place);
    if (revision !== known.revision) known.reads.clear();
    known.revision = revision;
    return known.reads;
  };
  return {
    /** Returns the result that is known under the key; undefined when there is none. */
    get: <Result>(collection: string, key: string) => readsOf(collection)?.get(key) as Result | undefined,
    /** Returns the result that is known under the key, or reads it. */
    of<Result>(collection: string, key: string, read: () => Result): Result {
      const reads = readsOf(collection);
      const known = reads?.get(key);
      if (known !== undefined) return known as Result;
      const before = bytesRead();
      const result = read();
      reads?.keep(key, result, BYTES_PER_READ + key.length + bytesRead() - before);
      return result;
    },
    /** Returns the results of several ids, in order; those that are not known are read together. `keyOf` gives their keys. */
    ofEach<Result>(
      collection: string,
      ids: readonly string[],
      keyOf: (id: string) => string,
      read: (missing: readonly string[]) => (id: string) => Result,
    ): readonly Result[] {
      const reads = readsOf(collection);
      const known = ids.map((id) => reads?.get(keyOf(id)));
      const missing = ids.filter((_, at) => known[at] === undefined);
      if (missing.length === 0) return known as readonly Result[];
      const before = bytesRead();
      const resultOf = read(missing);
      const bytes = BYTES_PER_READ + (bytesRead() - before) / missing.length;
      return ids.map((id, at) => {
        if (known[at] !== undefined) return known[at] as Result;
        const result = resultOf(id);
        reads?.keep(keyOf(id), result, bytes);
        return result;
      });
    },
  };
}

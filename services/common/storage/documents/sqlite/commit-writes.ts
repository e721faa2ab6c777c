import { setImmediate } from 'node:timers/promises';
import type { Write, WriteResult } from '../../ports/document-store.ts';
import { decodeResult } from './encode-writes.ts';
import type { StorageThread } from './storage-thread.ts';
import type { EncodedResult, EncodedWrite } from './write-protocol.ts';

/** Writes after which a large commit lets others have the thread: about 2 ms of work. */
const SLICE_WRITES = 200;
/** The same bound for few but long documents. */
const SLICE_CHARACTERS = 500_000;

/**
 * Commits through the storage worker. A small commit is one message; a large one is encoded and sent in slices,
 * so that requests are served in between. It is one transaction all the same.
 */
export async function commitWrites(
  thread: StorageThread,
  writes: readonly Write[],
  encode: (write: Write) => EncodedWrite,
): Promise<readonly WriteResult[]> {
  const encoded: EncodedWrite[] = [];
  const decodeAll = (results: readonly EncodedResult[]) =>
    encoded.map((write, index) => decodeResult(write, results[index] ?? 0));
  const slices = sliced(writes, (write) => {
    const each = encode(write);
    encoded.push(each);
    return 'body' in each ? each.body.length : 0;
  });
  const first = slices.next();
  if (first.done || encoded.length === writes.length) {
    return decodeAll(await thread.commit(encoded));
  }
  const large = thread.beginLarge();
  let sent = 0;
  try {
    for (let slice: IteratorResult<void> = first; !slice.done; slice = slices.next()) {
      large.add(encoded.slice(sent));
      sent = encoded.length;
      await setImmediate();
    }
  } catch (error) {
    large.abandon();
    throw error;
  }
  return decodeAll(await large.commit());
}

/** Works through a list and stops after each slice; `work` answers how many characters it handled. */
function* sliced<T>(list: readonly T[], work: (item: T) => number): Generator<void, void> {
  let count = 0;
  let characters = 0;
  for (const item of list) {
    characters += work(item);
    count += 1;
    if (count < SLICE_WRITES && characters < SLICE_CHARACTERS) continue;
    yield;
    count = 0;
    characters = 0;
  }
  if (count > 0) yield;
}

import { Readable } from 'node:stream';
import { unreadable } from '../../common/domain/snapshot.ts';
import type { BlobHead } from './item-parts.ts';

interface SplitBlob {
  readonly key: string;
  readonly size: number;
  /** Must be read to its end before the next one is asked for. */
  readonly content: Readable;
}

/** Keys have 400 characters. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Yields the blobs of a part, one after the other. */
export async function* splitBlobs(bytes: AsyncIterable<Buffer>): AsyncGenerator<SplitBlob> {
  const source = createSource(bytes);
  try {
    for (;;) {
      const length = await source.take(4);
      if (length === null) return;
      const headBytes = length.readUInt32BE();
      if (headBytes > MAX_HEAD_BYTES) throw damaged();
      const text = await source.take(headBytes);
      if (text === null) throw cutOff();
      const { key, size } = parseHead(text);
      yield { key, size, content: Readable.from(source.pieces(size), { objectMode: false }) };
    }
  } finally {
    await source.end();
  }
}

/** Checks the size of a blob in an uploaded file, which is untrusted: an invalid one would never end. */
function parseHead(text: Buffer): BlobHead {
  const { key, size } = parseObject(text);
  if (typeof key !== 'string' || !Number.isSafeInteger(size) || Number(size) < 0) throw damaged();
  return { key, size: Number(size) };
}

function parseObject(text: Buffer): { readonly key?: unknown; readonly size?: unknown } {
  try {
    return (JSON.parse(text.toString()) as object | null) ?? {};
  } catch {
    throw damaged();
  }
}

function createSource(bytes: AsyncIterable<Buffer>) {
  const iterator = bytes[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const { value, done } = await iterator.next();
    if (done === true) return false;
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    return true;
  };
  return {
    /** Null at the end. */
    async take(size: number): Promise<Buffer | null> {
      while (rest.length < size) {
        if (await more()) continue;
        if (rest.length === 0) return null;
        throw cutOff();
      }
      const taken = rest.subarray(0, size);
      rest = rest.subarray(size);
      return taken;
    },
    async *pieces(size: number): AsyncGenerator<Buffer> {
      for (let left = size; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw cutOff();
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
    end: async () => void (await iterator.return?.()),
  };
}

function damaged() {
  return unreadable('its blobs are damaged');
}

function cutOff() {
  return unreadable('a part of it is cut off');
}

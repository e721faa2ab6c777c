import { Readable } from 'node:stream';

/** Waits for the first piece, so that what fails at once is answered with its status and not by a broken connection. */
export async function beginStream(pieces: AsyncGenerator<string>): Promise<Readable> {
  const first = await pieces.next();
  return Readable.from(withFirst(first, pieces), { objectMode: false });
}

async function* withFirst(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

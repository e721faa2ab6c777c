import { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput, HeadObjectCommand } from '@aws-sdk/client-s3';
import { engramError } from '../../../kernel/errors.ts';
import { nullIf } from '../../../platform/async/null-if.ts';
import type { S3Connection } from './connection.ts';
import { isBrokenConnection, isMissing, isReplaced } from './s3-errors.ts';

/**
 * The bytes of an object; null when it is not there. A connection that breaks on the way, or that the server closes because
 * the reader is slow, is opened again where it broke off, as long as the object is the same.
 */
export async function readObject(connection: S3Connection, name: string): Promise<Readable | null> {
  const opened = await nullIf(isMissing, open(connection, name));
  return opened === null ? null : streamOf(connection, name, opened);
}

/** In bytes; null when it is not there. */
export async function sizeOfObject({ client, bucket }: S3Connection, name: string): Promise<number | null> {
  const found = await nullIf(isMissing, client.send(new HeadObjectCommand({ Bucket: bucket, Key: name })));
  return found === null ? null : (found.ContentLength ?? 0);
}

async function open(
  { client, bucket }: S3Connection,
  name: string,
  rest: { readonly Range?: string; readonly IfMatch?: string } = {},
): Promise<GetObjectCommandOutput> {
  return client.send(new GetObjectCommand({ Bucket: bucket, Key: name, ...rest }));
}

/** Consecutive openings without data. A reader that has not started yet loses the first one to the time limit. */
const FRUITLESS_OPENINGS = 3;

function streamOf(connection: S3Connection, name: string, first: GetObjectCommandOutput): Readable {
  const reading = { body: bodyOf(first) };
  const size = first.ContentLength ?? 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let at = 0;
    for (let fruitless = 1; ; fruitless += 1) {
      let fault: unknown = Object.assign(new Error('the body ended early'), { code: 'ECONNRESET' });
      try {
        for await (const piece of reading.body) {
          at += piece.byteLength;
          fruitless = 0;
          yield piece;
        }
      } catch (error) {
        fault = error;
      }
      if (at >= size) return;
      if (fruitless >= FRUITLESS_OPENINGS || !isBrokenConnection(fault)) throw connection.errorOf(fault);
      reading.body = await reopen(connection, name, at, first.ETag);
    }
  }
  const stream = Readable.from(pieces(), { objectMode: false });
  // Also before the first read: an open body keeps its connection.
  stream.once('close', () => reading.body.destroy());
  return stream;
}

async function reopen(connection: S3Connection, name: string, at: number, tag: string | undefined): Promise<Readable> {
  try {
    const rest = { Range: `bytes=${at}-`, ...(tag === undefined ? {} : { IfMatch: tag }) };
    return bodyOf(await open(connection, name, rest));
  } catch (error) {
    if (!isMissing(error) && !isReplaced(error)) throw connection.errorOf(error);
    throw engramError('CorruptStoreError', 'The blob was replaced or removed while it was read', { cause: error });
  }
}

/** A stream that fails before it is read must not end the process; the error is thrown when it is read. */
function bodyOf({ Body }: GetObjectCommandOutput): Readable {
  const body = Body instanceof Readable ? Body : Readable.from([]);
  return body.on('error', () => {});
}

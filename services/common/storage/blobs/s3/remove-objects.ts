import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { engramError } from '../../../kernel/errors.ts';
import { slices } from '../../../kernel/slices.ts';
import { compareCodePoints } from '../../documents/rules/ordering.ts';
import type { S3Connection } from './connection.ts';
import { listObjects, OBJECTS_PER_REQUEST } from './list-objects.ts';
import { justBefore } from './object-names.ts';

/** In as few requests as S3 has. What is not there is no error. */
export async function removeObjects({ client, bucket }: S3Connection, names: readonly string[]): Promise<void> {
  for (const slice of slices(names, OBJECTS_PER_REQUEST)) {
    const Objects = slice.map((Key) => ({ Key }));
    const { Errors = [] } = await client.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
    );
    const [fault] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
    if (fault !== undefined) {
      const text = `S3 did not remove ${Errors.length} of ${Objects.length} blobs: ${fault.Code ?? 'unknown error'}`;
      throw engramError('ServiceUnavailableError', text, { retryable: true });
    }
  }
}

/**
 * Those of the names that there are. S3 does not say what a removal removed; a listing that begins at the lowest name tells
 * it for up to 1000 neighbours at once, so names of one folder cost one request.
 */
export async function existingObjects(connection: S3Connection, names: readonly string[]): Promise<readonly string[]> {
  const wanted = [...new Set(names)].sort(compareCodePoints);
  const prefix = commonPrefix(wanted);
  const found: string[] = [];
  for (let at = 0; at < wanted.length; ) {
    const after = justBefore(wanted[at] ?? '');
    const { objects, isLast } = await listObjects(connection, { prefix, after, limit: OBJECTS_PER_REQUEST });
    const there = new Set(objects.map(({ name }) => name));
    const end = isLast ? null : (objects.at(-1)?.name ?? null);
    for (; at < wanted.length; at += 1) {
      const name = wanted[at] ?? '';
      if (end !== null && compareCodePoints(name, end) > 0) break;
      if (there.has(name)) found.push(name);
    }
  }
  return found;
}

function commonPrefix(sorted: readonly string[]): string {
  const [first = '', last = ''] = [sorted[0], sorted.at(-1)];
  let length = 0;
  while (length < first.length && first[length] === last[length]) length += 1;
  return first.slice(0, length).toWellFormed() === first.slice(0, length)
    ? first.slice(0, length)
    : first.slice(0, length - 1);
}

import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { S3Connection } from './connection.ts';
import { NotS3Error } from './s3-errors.ts';

interface FoundObject {
  readonly name: string;
  readonly sizeBytes: number;
}

export interface ObjectPage {
  readonly objects: readonly FoundObject[];
  readonly isLast: boolean;
}

/** Limit of objects that one request lists or removes. */
export const OBJECTS_PER_REQUEST = 1000;

/** Objects whose names begin with `prefix` and come after `after`, in byte order of the name. `limit` up to 1000. */
export async function listObjects(
  { client, bucket }: S3Connection,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string | null; readonly limit: number },
): Promise<ObjectPage> {
  const { Contents, IsTruncated } = await client.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: limit,
      ...(after === null ? {} : { StartAfter: after }),
    }),
  );
  if (IsTruncated === undefined) throw new NotS3Error();
  const objects = (Contents ?? []).map(({ Key, Size }) => ({ name: Key ?? '', sizeBytes: Size ?? 0 }));
  return { objects, isLast: !IsTruncated };
}

/** All of them, a page at a time. */
export async function* objectPages(connection: S3Connection, prefix: string): AsyncGenerator<readonly FoundObject[]> {
  for (let after: string | null = null; ; ) {
    const page: ObjectPage = await listObjects(connection, { prefix, after, limit: OBJECTS_PER_REQUEST });
    yield page.objects;
    after = page.objects.at(-1)?.name ?? null;
    if (page.isLast || after === null) return;
  }
}

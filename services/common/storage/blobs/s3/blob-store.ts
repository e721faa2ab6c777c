import { DeleteObjectsCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { engramError } from '../../../kernel/errors.ts';
import type { Scope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { nullIf } from '../../../platform/async/null-if.ts';
import { compareCodePoints } from '../../documents/rules/ordering.ts';
import type { BlobStore, FoundBlob } from '../../ports/blob-store.ts';
import { requireOwn } from '../../rules/installation.ts';
import { isBlobKey, requireBlobKey } from '../rules/blob-key.ts';
import { connectS3, type S3Connection, type S3Options } from './connection.ts';
import { justBefore, keyOf, nameOf, namePrefixOf, ownedNames, placeOf } from './object-names.ts';
import { readObject, sizeOfObject } from './read-object.ts';
import { isMissing, isNotOffered, isReplaced, NotS3Error } from './s3-errors.ts';
import { removeUnfinishedUploads, writeObject } from './write-object.ts';

export interface S3BlobStore extends BlobStore {
  /** Rejects when the bucket cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** An upload that was not finished for so long belongs to a process that died. */
const LEFT_BEHIND_MS = 24 * 3_600_000;

/**
 * Blobs in a bucket of S3 or of a server that speaks like it. Reaches the bucket first, so that wrong credentials, region or
 * bucket are an error here (`ServiceUnavailableError`, never with a key); then removes what processes left behind.
 */
export async function openS3BlobStore({
  installation,
  ...options
}: S3Options & {
  /** Installation that owns the blobs; processes of another one are refused. Absent: not checked. */
  readonly installation?: string;
}): Promise<S3BlobStore> {
  const connection = connectS3(options);
  const { prefix, guarded } = connection;
  const check = () =>
    guarded(async () => {
      await listObjects(connection, { prefix, after: null, limit: 1 });
    });
  try {
    await check();
    if (installation !== undefined) await guarded(() => claimPrefix(connection, installation));
    await guarded(() => removeUnfinishedUploads(connection, prefix, LEFT_BEHIND_MS));
  } catch (error) {
    connection.close();
    throw error;
  }
  return { ...createS3BlobStore(connection), check, close: async () => connection.close() };
}

/** For a connection of the caller's; nothing is checked or swept. */
export function createS3BlobStore(connection: S3Connection): BlobStore {
  const { prefix, guarded } = connection;
  const nameIn = (scope: Scope, key: string) => nameOf(prefix, scope, key);
  return {
    async put(scope, key, content, signal) {
      requireBlobKey(key);
      return { key, ...(await writeObject(connection, nameIn(scope, key), content, signal)) };
    },
    async get(scope, key) {
      if (!isBlobKey(key)) return null;
      return guarded(() => readObject(connection, nameIn(scope, key)));
    },
    async stat(scope, key) {
      if (!isBlobKey(key)) return null;
      const sizeBytes = await guarded(() => sizeOfObject(connection, nameIn(scope, key)));
      return sizeBytes === null ? null : { sizeBytes };
    },
    remove: (scope, keys) =>
      guarded(async () => {
        const names = keys.filter(isBlobKey).map((key) => nameIn(scope, key));
        const there = await existingObjects(connection, names);
        await removeObjects(connection, there);
        return there.length;
      }),
    removeAll: (scope, keyPrefix = '') =>
      guarded(async () => {
        const isAll = keyPrefix === '';
        const below = isAll ? ownedNames(prefix, scope) : namePrefixOf(prefix, scope, keyPrefix);
        if (isAll) await removeUnfinishedUploads(connection, below, 0);
        let removed = 0;
        for await (const objects of objectPages(connection, below)) {
          await removeObjects(
            connection,
            objects.map(({ name }) => name),
          );
          removed += objects.length;
        }
        return removed;
      }),
    list: (scope, { prefix: keyPrefix = '', limit }) =>
      guarded(async () => {
        const place = placeOf(prefix, scope);
        const found: FoundBlob[] = [];
        for await (const objects of objectPages(connection, namePrefixOf(prefix, scope, keyPrefix), limit)) {
          for (const { name, sizeBytes } of objects) {
            const key = keyOf(place, name);
            if (key !== null) found.push({ key, sizeBytes });
          }
          if (found.length >= limit) break;
        }
        return found.slice(0, limit);
      }),
  };
}

/** Not in the place of a tenant, and no name of a blob: see `object-names.ts`. */
const NAME = 'installation';

/** Notes the installation as the owner of the bucket or folder unless there is one; rejects when that is another. */
async function claimPrefix(connection: S3Connection, installation: string): Promise<void> {
  const owner = (await readOwner(connection)) ?? (await noteOwner(connection, installation));
  const { bucket, prefix } = connection;
  const what = prefix === '' ? `The bucket ${bucket}` : `The folder ${prefix} of the bucket ${bucket}`;
  requireOwn({ what, setting: 'ENGRAM_S3_PREFIX (or ENGRAM_S3_BUCKET)' }, installation, owner);
}

async function noteOwner(connection: S3Connection, installation: string): Promise<string> {
  const { client, bucket, prefix } = connection;
  const request = { Bucket: bucket, Key: prefix + NAME, Body: installation };
  try {
    // Of two installations that begin at the same moment the first one has it, where the server knows conditions.
    await client.send(new PutObjectCommand({ ...request, IfNoneMatch: '*' }));
  } catch (error) {
    if (isNotOffered(error)) await client.send(new PutObjectCommand(request));
    else if (!isReplaced(error)) throw error;
  }
  return (await readOwner(connection)) ?? installation;
}

async function readOwner({ client, bucket, prefix }: S3Connection): Promise<string | null> {
  const found = await nullIf(isMissing, client.send(new GetObjectCommand({ Bucket: bucket, Key: prefix + NAME })));
  return (await found?.Body?.transformToString()) ?? null;
}

/** In as few requests as S3 has. What is not there is no error. */
async function removeObjects({ client, bucket }: S3Connection, names: readonly string[]): Promise<void> {
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
async function existingObjects(connection: S3Connection, names: readonly string[]): Promise<readonly string[]> {
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

interface FoundObject {
  readonly name: string;
  readonly sizeBytes: number;
}

interface ObjectPage {
  readonly objects: readonly FoundObject[];
  readonly isLast: boolean;
}

/** Limit of objects that one request lists or removes. */
const OBJECTS_PER_REQUEST = 1000;

/** Objects whose names begin with `prefix` and come after `after`, in byte order of the name. `limit` up to 1000. */
async function listObjects(
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

/** All of them, a page of at most `pageSize` at a time. */
async function* objectPages(connection: S3Connection, prefix: string, pageSize = OBJECTS_PER_REQUEST) {
  const limit = Math.min(pageSize, OBJECTS_PER_REQUEST);
  for (let after: string | null = null; ; ) {
    const page: ObjectPage = await listObjects(connection, { prefix, after, limit });
    yield page.objects;
    after = page.objects.at(-1)?.name ?? null;
    if (page.isLast || after === null) return;
  }
}

import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { requireOwn } from '../../rules/installation.ts';
import type { S3Connection } from './connection.ts';
import { isMissing, isNotOffered, isReplaced } from './s3-errors.ts';

/** Not in the place of a tenant, and no name of a blob: see `object-names.ts`. */
const NAME = 'installation';

/** Notes the installation as the owner of the bucket or folder unless there is one; rejects when that is another. */
export async function claimPrefix(connection: S3Connection, installation: string): Promise<void> {
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
  try {
    const { Body: body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: prefix + NAME }));
    return (await body?.transformToString()) ?? null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

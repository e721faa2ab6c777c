import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { parseJson } from '../../../services/common/kernel/json.ts';
import { nullIf } from '../../../services/common/platform/async/null-if.ts';
import { openS3Client, type S3Server } from '../../../services/common/storage/blobs/s3/s3-client.ts';
import { ownedByAnother, requireOwner, translatingErrors } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import type { Provision, StoreAdministrator } from '../store-administrator.ts';
import {
  abortUploads,
  administratorError,
  countObjects,
  isConflict,
  isGone,
  type ObjectPlace,
  removeObjects,
} from './bucket-contents.ts';

/** The services of all realms get the keys of the administrator: S3 creates no users. */
interface S3AdministratorOptions extends S3Server {
  /** Bucket with a folder for each realm; null: each realm has a bucket. */
  readonly bucket: string | null;
  /** Prefix of the folders in that bucket. */
  readonly prefix: string;
}

/** Object with the mark, beside the folders of tenants; no blob has such a name. */
const MARK = 'engram-realm.json';
const LIMITS = { connectMs: 5_000, silenceMs: 10_000, maxAttempts: 2 };

/** Gives each realm a bucket of its own or a folder. */
export function createS3Administrator(options: S3AdministratorOptions): StoreAdministrator {
  const { bucket, prefix, endpoint, region, accessKey, secretKey } = options;
  const store = `S3 at ${endpoint === undefined ? `AWS ${region}` : (URL.parse(endpoint)?.host ?? 'no address')}`;
  let client: S3Client | null = null;
  const placeOf = (realm: Realm): ObjectPlace => {
    const names = namesOf(realm);
    client ??= openS3Client(options, LIMITS);
    return bucket === null
      ? { client, bucket: names.dashed, prefix: '' }
      : { client, bucket, prefix: `${prefix}${names.folder}` };
  };
  const translated = (error: unknown) => administratorError(error, store);
  const guarded = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    translatingErrors(signal, translated, work);
  return {
    driver: 's3',
    roles: ['Blobs'],
    makesUsers: false,
    ensure: (realm, _credentials, signal) =>
      guarded(signal, async () => {
        const place = placeOf(realm);
        if (bucket === null) await makeBucket(place, store, signal);
        if (!(await requireOurs(place, realm, store, signal))) await mark(place, realm, store, signal);
        return provisionOf(place);
      }),
    remove: (realm, signal) =>
      guarded(signal, async () => {
        const place = placeOf(realm);
        if (bucket === null && !(await hasBucket(place, signal))) return;
        const isOurs = await requireOurs(place, realm, store, signal);
        // A bucket that was just created has no mark and no objects: it is removed, too.
        if (isOurs) {
          await abortUploads(place, signal);
          // The mark goes last, so that the rest of an interrupted removal is known to be ours.
          await removeObjects(place, (name) => name !== place.prefix + MARK, signal);
          await removeObjects(place, () => true, signal);
        }
        if (bucket === null) await removeBucket(place, signal);
      }),
    residue: (realm, signal) =>
      guarded(signal, async () => {
        const place = placeOf(realm);
        if (bucket !== null) return countObjects(place, signal);
        return (await hasBucket(place, signal)) ? 1 + (await countObjects(place, signal)) : 0;
      }),
    async close() {
      client?.destroy();
    },
  };

  function provisionOf(place: ObjectPlace): Provision {
    return {
      settings: {
        ENGRAM_S3_BUCKET: place.bucket,
        ENGRAM_S3_PREFIX: place.prefix,
        ENGRAM_S3_REGION: region,
        ...(endpoint === undefined ? {} : { ENGRAM_S3_URL: endpoint }),
        ...(accessKey === undefined ? {} : { ENGRAM_S3_ACCESS_KEY: accessKey }),
      },
      secrets: secretKey === undefined ? {} : { ENGRAM_S3_SECRET_KEY: secretKey },
      files: {},
      stores: [
        {
          role: 'Blobs',
          driver: 's3',
          name: bucket === null ? place.bucket : place.prefix,
          isolation: bucket === null ? 'Database' : 'Label',
          ownCredentials: false,
        },
      ],
    };
  }
}

async function hasBucket({ client, bucket }: ObjectPlace, abortSignal: AbortSignal): Promise<boolean> {
  const asked = client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal });
  return (await nullIf(isGone, asked)) !== null;
}

async function makeBucket(place: ObjectPlace, store: string, abortSignal: AbortSignal): Promise<void> {
  if (await hasBucket(place, abortSignal)) return;
  try {
    await place.client.send(new CreateBucketCommand({ Bucket: place.bucket }), { abortSignal });
  } catch (error) {
    if (!isConflict(error)) throw error;
    // Another process or another account created it: names of buckets are global.
    if (!(await hasBucket(place, abortSignal))) throw ownedByAnother(store, `The bucket ${place.bucket}`, null);
  }
}

async function removeBucket({ client, bucket }: ObjectPlace, abortSignal: AbortSignal): Promise<void> {
  await nullIf(isGone, client.send(new DeleteBucketCommand({ Bucket: bucket }), { abortSignal }));
}

async function mark(place: ObjectPlace, realm: Realm, store: string, abortSignal: AbortSignal): Promise<void> {
  const { client, bucket, prefix } = place;
  const Body = JSON.stringify({ ownerUid: realm.ownerUid });
  try {
    // Only if it does not exist yet. Servers that ignore this condition write anyway, which is no problem when both
    // marks have the same owner.
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: prefix + MARK, Body, IfNoneMatch: '*' }), {
      abortSignal,
    });
  } catch (error) {
    if (!isConflict(error)) throw error;
    await requireOurs(place, realm, store, abortSignal);
  }
}

/** Whether the mark exists; throws when it is another owner's, or when there are objects without a mark. */
async function requireOurs(place: ObjectPlace, realm: Realm, store: string, abortSignal: AbortSignal) {
  const { client, bucket, prefix } = place;
  const what = `What is in ${bucket}/${prefix}`;
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: prefix + MARK }), { abortSignal });
    requireOwner(realm, ownerIn((await Body?.transformToString()) ?? ''), store, what);
    return true;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  if ((await countObjects(place, abortSignal)) > 0) throw ownedByAnother(store, what, null);
  return false;
}

function ownerIn(text: string): unknown {
  return (parseJson(text) as { ownerUid?: unknown } | null | undefined)?.ownerUid ?? null;
}

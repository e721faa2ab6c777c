import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  S3Client,
} from '@aws-sdk/client-s3';
import { engramError } from '../../../kernel/errors.ts';
import { isMissing, isMissingBucket, isNotOffered } from './s3-errors.ts';

export interface S3Server {
  /** `http://` or `https://` of an S3-compatible server, addressed by path. Unset: AWS. */
  readonly endpoint?: string;
  readonly region: string;
  /** Both or none; none: the usual sources of AWS's libraries (environment, files, the machine's role). */
  readonly accessKey?: string;
  readonly secretKey?: string;
}

/** The driver warns on the console of what the errors say too. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Time limits of connecting and of silence on a connection, and the number of times that a request is sent. */
interface ClientLimits {
  readonly connectMs: number;
  /** Silence, not duration: a large part may take long on a slow line. */
  readonly silenceMs: number;
  readonly maxAttempts: number;
  readonly maxSockets?: number;
}

export function openS3Client({ endpoint, region, accessKey, secretKey }: S3Server, limits: ClientLimits): S3Client {
  if ((accessKey === undefined) !== (secretKey === undefined)) {
    const text = 'S3 credentials are incomplete: set both ENGRAM_S3_ACCESS_KEY and ENGRAM_S3_SECRET_KEY';
    throw engramError('ServiceUnavailableError', text);
  }
  const { connectMs, silenceMs, maxAttempts, maxSockets } = limits;
  const agent = { keepAlive: true, ...(maxSockets === undefined ? {} : { maxSockets }) };
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKey === undefined || secretKey === undefined
      ? {}
      : { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } }),
    maxAttempts,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
  });
}

interface Uploads {
  readonly client: S3Client;
  readonly bucket: string;
  /** Prefix of the names of objects. */
  readonly prefix: string;
}

/** Lists unfinished uploads; empty on servers without that list. */
export async function* unfinishedUploads(
  { client, bucket, prefix }: Uploads,
  abortSignal?: AbortSignal,
): AsyncGenerator<readonly MultipartUpload[]> {
  let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | null = {};
  try {
    while (marker !== null) {
      const page: ListPage = await client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...marker }),
        { ...(abortSignal === undefined ? {} : { abortSignal }) },
      );
      yield page.Uploads ?? [];
      marker = nextOf(page);
    }
  } catch (error) {
    if (!isNotOffered(error)) throw error;
  }
}

interface ListPage {
  readonly Uploads?: readonly MultipartUpload[] | undefined;
  readonly IsTruncated?: boolean | undefined;
  readonly NextKeyMarker?: string | undefined;
  readonly NextUploadIdMarker?: string | undefined;
}

function nextOf({ IsTruncated, NextKeyMarker, NextUploadIdMarker }: ListPage) {
  if (IsTruncated !== true || NextKeyMarker === undefined) return null;
  return {
    KeyMarker: NextKeyMarker,
    ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
  };
}

export async function abortUpload(
  { client, bucket }: Omit<Uploads, 'prefix'>,
  { Key, UploadId }: MultipartUpload,
  abortSignal?: AbortSignal,
): Promise<void> {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }), {
      ...(abortSignal === undefined ? {} : { abortSignal }),
    });
  } catch (error) {
    if (!isMissing(error) && !isMissingBucket(error)) throw error; // ended meanwhile
  }
}

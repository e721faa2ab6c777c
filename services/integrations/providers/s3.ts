import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { engramError } from '../../common/kernel/errors.ts';
import { once } from '../../common/platform/async/once.ts';
import { type Connector, SourceBusyError } from './connector.ts';
import { slug } from './folder.ts';

export interface S3SourceOptions {
  /** `s3://bucket/prefix`: what people may connect, everything below included. */
  readonly roots: readonly string[];
  /** `http://` or `https://` of an S3-compatible server, addressed by path. Unset: AWS. */
  readonly endpoint?: string;
  readonly region: string;
  /** Both or none; none: the usual sources of AWS's libraries. */
  readonly accessKey?: string;
  readonly secretKey?: string;
  readonly maxBytes: number;
}

const PAGE = 1000;
/** The objects that lie at the address itself. */
const TOP = '.';
const RETRY_AFTER_MS = 30_000;
const BUSY: ReadonlySet<string> = new Set(['SlowDown', 'ServiceUnavailable', 'RequestLimitExceeded', 'InternalError']);

/**
 * A bucket of S3 or a part of one, among those that the server's operator lists, with the folders in it as resources. The server
 * has the credentials; an object's version is its ETag. A list is given in pages as S3 gives it, so that it may have any length.
 */
export function createS3Connector(options: S3SourceOptions): Connector {
  const client = once(() => openClient(options));
  const send = async <Answer>(signal: AbortSignal, work: (open: Opened) => Promise<Answer>): Promise<Answer> => {
    signal.throwIfAborted();
    try {
      return await work(await client());
    } catch (error) {
      if (BUSY.has((error as Error).name)) throw new SourceBusyError(RETRY_AFTER_MS, { cause: error });
      throw error;
    }
  };
  async function* pagesOf(
    address: string,
    { resource, signal }: { readonly resource: string; readonly signal: AbortSignal },
  ) {
    const { bucket, prefix } = placeOf(allowed(options.roots, address));
    const isTop = resource === TOP;
    const [start, delimiter] = [isTop ? prefix : `${prefix}${resource}/`, isTop ? { Delimiter: '/' } : {}];
    for (let after: string | undefined; ; ) {
      const token = after === undefined ? {} : { ContinuationToken: after };
      const page = await send(signal, ({ s3, ListObjectsV2Command }) =>
        s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: start, MaxKeys: PAGE, ...delimiter, ...token }), {
          abortSignal: signal,
        }),
      );
      after = page.NextContinuationToken;
      yield { page, prefix, isLast: page.IsTruncated !== true || after === undefined };
      if (page.IsTruncated !== true || after === undefined) return;
    }
  }
  return {
    provider: 's3',
    capabilities: {
      ...{ title: 'S3 bucket', feeds: ['objects'], selection: 'optional', accounts: 'of each user', everyMs: 900_000 },
    },
    datasetName: ({ accountLabel }) => `s3_${slug(accountLabel)}`,
    async connect(address) {
      const place = allowed(options.roots, address);
      const signal = AbortSignal.timeout(30_000);
      // Credentials that are refused, and a bucket that is missing, are said at once.
      for await (const _ of pagesOf(place, { resource: TOP, signal })) break;
      const label = place.slice('s3://'.length).replace(/\/$/, '');
      return { accountId: place, label, authType: 'none', scopes: [], metadata: {} };
    },
    async list({ connection, signal }) {
      const folders: string[] = [];
      for await (const { page, prefix } of pagesOf(connection.accountId, { resource: TOP, signal }))
        for (const { Prefix = '' } of page.CommonPrefixes ?? []) folders.push(Prefix.slice(prefix.length, -1));
      return [TOP, ...folders.filter((name) => name !== '')].map((id) => ({
        ...{ id, name: id === TOP ? 'Objects outside of folders' : id, description: null, attributes: {} },
      }));
    },
    async *changesSince({ connection, signal }, { resource }) {
      for await (const { page, prefix, isLast } of pagesOf(connection.accountId, { resource, signal })) {
        const present = (page.Contents ?? []).flatMap(({ Key = '', ETag = '', Size = 0 }) =>
          // What ends in a slash stands for a folder.
          Size === 0 || Key.endsWith('/') ? [] : [{ key: Key.slice(prefix.length), version: ETag }],
        );
        yield { present, gone: [], cursor: null, ...(isLast ? { isWhole: true } : {}) };
      }
    },
    async fetch({ connection, signal }, { key }) {
      const { bucket, prefix } = placeOf(allowed(options.roots, connection.accountId));
      const name = `${prefix}${key}`;
      try {
        const found = await send(signal, ({ s3, GetObjectCommand }) =>
          s3.send(new GetObjectCommand({ Bucket: bucket, Key: name }), { abortSignal: signal }),
        );
        const content = found.Body as Readable | undefined;
        if ((found.ContentLength ?? 0) > options.maxBytes) {
          content?.destroy();
          throw engramError('PayloadTooLargeError', `it is larger than ${options.maxBytes} bytes`);
        }
        if (content === undefined) return null;
        const uri = `s3://${bucket}/${name.split('/').map(encodeURIComponent).join('/')}`;
        return { fileName: basename(key), mimeType: null, content, version: found.ETag ?? '', uri };
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return null;
        throw error;
      }
    },
  };
}

type Opened = Awaited<ReturnType<typeof openClient>>;

/** Loaded with the first bucket that is connected. */
async function openClient({ endpoint, region, accessKey, secretKey }: S3SourceOptions) {
  const { GetObjectCommand, ListObjectsV2Command, S3Client: Client } = await import('@aws-sdk/client-s3');
  const isGiven = accessKey !== undefined && secretKey !== undefined;
  const s3: S3Client = new Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(isGiven ? { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } } : {}),
  });
  return { s3, GetObjectCommand, ListObjectsV2Command };
}

/** The address in its normal form, `s3://bucket/` or `s3://bucket/folder/`. Errors: `PermissionDeniedError`. */
function allowed(roots: readonly string[], address: string): string {
  const normal = `${address.trim().replace(/\/+$/, '')}/`;
  const isPlain = /^s3:\/\/[a-z0-9][a-z0-9.-]+\//.test(normal) && !/\/\.{1,2}\//.test(normal);
  if (isPlain && roots.some((root) => normal.startsWith(`${root.replace(/\/+$/, '')}/`))) return normal;
  throw engramError(
    'PermissionDeniedError',
    'The address is not among the buckets that this server may read: s3://bucket or s3://bucket/folder (ENGRAM_SOURCE_S3_ROOTS).',
  );
}

function placeOf(address: string): { readonly bucket: string; readonly prefix: string } {
  const rest = address.slice('s3://'.length);
  const at = rest.indexOf('/');
  return { bucket: rest.slice(0, at), prefix: rest.slice(at + 1) };
}

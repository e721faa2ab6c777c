import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { engramError } from '../../common/kernel/errors.ts';
import { once } from '../../common/platform/async/once.ts';
import { type Connector, type SourceAccess, SourceBusyError, SourceRevokedError } from './connector.ts';
import { folderResources, slug, TOP } from './folder.ts';

interface S3SourceOptions {
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
const RETRY_AFTER_MS = 30_000;
const CONNECT_MS = 30_000;
const REFUSED: ReadonlySet<string> = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch']);
const BUSY: ReadonlySet<string> = new Set(['SlowDown', 'ServiceUnavailable', 'RequestLimitExceeded', 'InternalError']);

/**
 * A bucket of S3 or a part of one, with the folders in it as resources: with the server's credentials among those that its operator
 * lists, any with credentials of the connection. An object's version is its ETag. A list is given in pages as S3 gives it, so that it
 * may have any length.
 */
export function createS3Connector(options: S3SourceOptions): Connector {
  const { placeFor, send, pagesOf, tryOut } = createBuckets(options);
  return {
    provider: 's3',
    capabilities: {
      title: 'S3 bucket',
      feeds: ['objects'],
      selection: 'optional',
      accounts: 'of each user',
      everyMs: 900_000,
    },
    datasetName: ({ accountLabel }) => `s3_${slug(accountLabel)}`,
    async connect(address) {
      const place = allowed(options.roots, address);
      await tryOut(place, { authType: 'none', token: async () => '', signal: AbortSignal.timeout(CONNECT_MS) });
      return { ...accountAt(place), authType: 'none' };
    },
    bySecret: {
      keys: ['accessKey', 'secretKey'],
      async connect({ address, secret, signal }) {
        const place = normalised(address ?? '');
        const keys: Keys = { accessKey: secret('accessKey'), secretKey: secret('secretKey') };
        const tokens = { accessToken: JSON.stringify(keys), refreshToken: null, expiresAt: null };
        await tryOut(place, { authType: 'api_key', token: async () => tokens.accessToken, signal });
        return { ...accountAt(place), authType: 'api_key', tokens };
      },
    },
    async list(access) {
      const folders: string[] = [];
      for await (const { page, prefix } of pagesOf(access, TOP))
        for (const { Prefix = '' } of page.CommonPrefixes ?? []) folders.push(Prefix.slice(prefix.length, -1));
      const named = folders.filter((name) => name !== '');
      return folderResources('Objects outside of folders', named);
    },
    async *changesSince(access, { resource }) {
      for await (const { page, prefix, isLast } of pagesOf(access, resource)) {
        const present = (page.Contents ?? []).flatMap(({ Key = '', ETag = '', Size = 0 }) =>
          // What ends in a slash stands for a folder.
          Size === 0 || Key.endsWith('/') ? [] : [{ key: Key.slice(prefix.length), version: ETag }],
        );
        yield { present, gone: [], cursor: null, ...(isLast ? { isWhole: true } : {}) };
      }
    },
    async fetch(access, { key }) {
      const { signal } = access;
      const { bucket, prefix } = placeFor(access.connection);
      const name = `${prefix}${key}`;
      try {
        const found = await send(access, ({ s3, GetObjectCommand }) =>
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

/** Requests to S3, with the credentials of each connection. */
function createBuckets(options: S3SourceOptions) {
  const client = once(() => openClient(options));
  const own = new Map<string, Promise<Opened>>();
  /** With the credentials of the connection, else those of the server. */
  const clientOf = async ({ connection: { authType }, token }: Reading): Promise<Opened> => {
    if (authType !== 'api_key') return client();
    const keys = await token();
    const opened = own.get(keys) ?? openClient({ ...options, ...(JSON.parse(keys) as Keys) });
    own.set(keys, opened);
    return opened;
  };
  const placeFor = ({ accountId, authType }: Reading['connection']) =>
    placeOf(authType === 'api_key' ? normalised(accountId) : allowed(options.roots, accountId));
  const send = async <Answer>(access: Reading, work: (open: Opened) => Promise<Answer>): Promise<Answer> => {
    access.signal.throwIfAborted();
    try {
      return await work(await clientOf(access));
    } catch (error) {
      const { name } = error as Error;
      if (BUSY.has(name)) throw new SourceBusyError(RETRY_AFTER_MS, { cause: error });
      if (access.connection.authType === 'api_key' && REFUSED.has(name)) {
        throw new SourceRevokedError('S3 does not accept the keys any more: put new ones into the Secret.', {
          cause: error,
        });
      }
      throw error;
    }
  };
  async function* pagesOf(access: Reading, resource: string) {
    const { signal } = access;
    const { bucket, prefix } = placeFor(access.connection);
    const isTop = resource === TOP;
    const [start, delimiter] = [isTop ? prefix : `${prefix}${resource}/`, isTop ? { Delimiter: '/' } : {}];
    for (let after: string | undefined; ; ) {
      const token = after === undefined ? {} : { ContinuationToken: after };
      const page = await send(access, ({ s3, ListObjectsV2Command }) =>
        s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: start, MaxKeys: PAGE, ...delimiter, ...token }), {
          abortSignal: signal,
        }),
      );
      after = page.NextContinuationToken;
      yield { page, prefix, isLast: page.IsTruncated !== true || after === undefined };
      if (page.IsTruncated !== true || after === undefined) return;
    }
  }
  /** Credentials that are refused, and a bucket that is missing, are said at once. */
  const tryOut = async (
    accountId: string,
    { authType, ...rest }: Omit<Reading, 'connection'> & { authType: string },
  ) => {
    for await (const _ of pagesOf({ connection: { accountId, authType }, ...rest }, TOP)) break;
  };
  return { placeFor, send, pagesOf, tryOut };
}

/** The part of a connection's access that is used. */
type Reading = Pick<SourceAccess, 'signal' | 'token'> & {
  readonly connection: Pick<SourceAccess['connection'], 'accountId' | 'authType'>;
};

type Keys = { readonly accessKey: string; readonly secretKey: string };

function accountAt(place: string) {
  return { accountId: place, label: place.slice('s3://'.length).replace(/\/$/, ''), scopes: [], metadata: {} };
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

/** The address in its normal form, `s3://bucket/` or `s3://bucket/folder/`. Errors: `InvalidRequestError`. */
function normalised(address: string): string {
  const normal = `${address.trim().replace(/\/+$/, '')}/`;
  if (/^s3:\/\/[a-z0-9][a-z0-9.-]+\//.test(normal) && !/\/\.{1,2}\//.test(normal)) return normal;
  throw engramError('InvalidRequestError', 'The address is not s3://bucket or s3://bucket/folder.');
}

/** The same for an address that is read with the server's own credentials. Errors: `PermissionDeniedError`. */
function allowed(roots: readonly string[], address: string): string {
  const refusal = engramError(
    'PermissionDeniedError',
    'The address is not among the buckets that this server may read: s3://bucket or s3://bucket/folder (ENGRAM_SOURCE_S3_ROOTS).',
  );
  try {
    const normal = normalised(address);
    if (roots.some((root) => normal.startsWith(`${root.replace(/\/+$/, '')}/`))) return normal;
  } catch {
    // What is no address is not among them either.
  }
  throw refusal;
}

function placeOf(address: string): { readonly bucket: string; readonly prefix: string } {
  const rest = address.slice('s3://'.length);
  const at = rest.indexOf('/');
  return { bucket: rest.slice(0, at), prefix: rest.slice(at + 1) };
}

import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { engramError } from '../../../kernel/errors.ts';
import { translated } from '../../rules/store-faults.ts';
import { type S3Place, s3Error } from './s3-errors.ts';

export interface S3Options {
  /** Must be there. */
  readonly bucket: string;
  /** Start of the names of all objects, as it is: a folder ends in `/`. Default: none. */
  readonly prefix?: string;
  /** `http://` or `https://` of an S3-compatible server, addressed by path. Unset: AWS. */
  readonly endpoint?: string;
  readonly region: string;
  /** Both or none; none: the usual sources of AWS's libraries (environment, files, the machine's role). */
  readonly accessKey?: string;
  readonly secretKey?: string;
  /** Time limit of connecting, and of silence on a connection; default 5000. Each is repeated twice. */
  readonly requestTimeoutMs?: number;
  /** Default 100. */
  readonly maxConnections?: number;
}

export interface S3Connection {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;
  /** Makes errors of the driver what callers know: `ServiceUnavailableError`, `DeadlineExceededError` and so on. */
  guarded<T>(work: () => Promise<T>): Promise<T>;
  errorOf(error: unknown): unknown;
  close(): void;
}

type Settings = S3Options & Required<Pick<S3Options, keyof typeof DEFAULTS>>;
const DEFAULTS = { prefix: '', requestTimeoutMs: 5_000, maxConnections: 100 } as const;
/** The driver warns on the console of what the errors say too. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Sends nothing yet. */
export function connectS3(options: S3Options): S3Connection {
  const settings: Settings = { ...DEFAULTS, ...options };
  const place: S3Place = { bucket: settings.bucket, address: addressOf(settings), region: settings.region };
  const errorOf = (error: unknown) => s3Error(error, place);
  const client = new S3Client(clientConfig(settings));
  return {
    client,
    bucket: settings.bucket,
    prefix: settings.prefix,
    errorOf,
    guarded: (work) => translated(errorOf, work),
    close: () => client.destroy(),
  };
}

function clientConfig(settings: Settings): S3ClientConfig {
  const { endpoint, region, accessKey, secretKey, requestTimeoutMs, maxConnections } = settings;
  if ((accessKey === undefined) !== (secretKey === undefined)) {
    throw engramError(
      'CogneeSystemError',
      'S3 credentials are incomplete: set both ENGRAM_S3_ACCESS_KEY and ENGRAM_S3_SECRET_KEY',
    );
  }
  const agent = { maxSockets: maxConnections, keepAlive: true };
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKey === undefined || secretKey === undefined
      ? {}
      : { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } }),
    maxAttempts: 3,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: requestTimeoutMs,
      // Silence, not duration: a large part may take long on a slow line.
      socketTimeout: requestTimeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
  };
}

/** User and password of an endpoint are not for messages. */
function addressOf({ endpoint, region }: S3Options): string {
  if (endpoint === undefined) return `AWS ${region}`;
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw engramError('CogneeSystemError', 'The S3 endpoint is not an http:// or https:// address');
  }
  return url.host;
}

import type { S3Client } from '@aws-sdk/client-s3';
import { engramError } from '../../../kernel/errors.ts';
import { translated } from '../../rules/store-faults.ts';
import { openS3Client, type S3Server } from './s3-client.ts';
import { type S3Place, s3Error } from './s3-errors.ts';

export interface S3Options extends S3Server {
  /** Must be there. */
  readonly bucket: string;
  /** Start of the names of all objects, as it is: a folder ends in `/`. Default: none. */
  readonly prefix?: string;
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

/** Sends nothing yet. */
export function connectS3(options: S3Options): S3Connection {
  const settings: Settings = { ...DEFAULTS, ...options };
  const place: S3Place = { bucket: settings.bucket, address: addressOf(settings), region: settings.region };
  const errorOf = (error: unknown) => s3Error(error, place);
  const { requestTimeoutMs, maxConnections } = settings;
  const client = openS3Client(settings, {
    connectMs: requestTimeoutMs,
    silenceMs: requestTimeoutMs,
    maxAttempts: 3,
    maxSockets: maxConnections,
  });
  return {
    client,
    bucket: settings.bucket,
    prefix: settings.prefix,
    errorOf,
    guarded: (work) => translated(errorOf, work),
    close: () => client.destroy(),
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

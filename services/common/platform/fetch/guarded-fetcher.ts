import type { IncomingMessage } from 'node:http';
import { engramError, isEngramError } from '../../kernel/errors.ts';
import { decodedPath } from '../../kernel/paths.ts';
import type { FetchedResource, Fetcher, PageFetcher, PageValidators } from '../../ports/documents.ts';
import { abortable } from '../async/abortable.ts';
import { sendChecked } from './checked-request.ts';
import { limitedBody } from './limited-body.ts';
import { isPublicAddress } from './public-address.ts';
import { type CheckedTarget, checkTarget, type ResolveHost, resolveBySystem } from './target-guard.ts';

const MAX_REDIRECTS = 5;
const USER_AGENT = "Engram/1 (knowledge memory; fetches documents on a user's request)";

export interface GuardedFetcherOptions {
  /** `ALLOW_HTTP_REQUESTS`; false refuses every URL. */
  readonly allowHttpRequests: boolean;
  /** Limit of one body, unpacked. */
  readonly maxBytes: number;
  /** Time limit from the call until the last byte; default 30 000. */
  readonly timeoutMs?: number;
  /** All, or those listed. For tests that fetch from this machine; never set by configuration. */
  readonly allowPrivateAddresses?: boolean | readonly string[];
  /** Replaces the system's name resolution, for tests. */
  readonly resolve?: ResolveHost;
}

interface Settings {
  readonly allowHttpRequests: boolean;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly isAllowed: (address: string) => boolean;
  readonly resolve: ResolveHost;
}

/**
 * `Fetcher` over `node:http`: every hop is checked by name and address, and the connection goes to the address that was checked, so a
 * name that changes its answer in between gains nothing. No cookies, no proxies, no credentials, a fresh connection each time.
 */
export function createGuardedFetcher(options: GuardedFetcherOptions): Fetcher & PageFetcher {
  const settings: Settings = {
    allowHttpRequests: options.allowHttpRequests,
    maxBytes: options.maxBytes,
    timeoutMs: options.timeoutMs ?? 30_000,
    isAllowed: allowance(options.allowPrivateAddresses ?? false),
    resolve: options.resolve ?? resolveBySystem,
  };
  return {
    async fetch(url, signal) {
      const { response, target, ...reading } = await request(url, settings, { signal });
      return toResource(response, target.url, reading);
    },
    async fetchChanged(url, known, signal) {
      const { response, target, ...reading } = await request(url, settings, { signal, known });
      const status = response.statusCode ?? 0;
      if (status !== 304 && status !== 404 && status !== 410) {
        const { etag = null, 'last-modified': lastModified = null } = response.headers;
        return { ...toResource(response, target.url, reading), etag, lastModified };
      }
      response.destroy();
      return status === 304 ? 'unchanged' : 'gone';
    },
  };
}

function allowance(privateAddresses: boolean | readonly string[]): (address: string) => boolean {
  if (typeof privateAddresses === 'boolean') return (address) => privateAddresses || isPublicAddress(address);
  return (address) => privateAddresses.includes(address) || isPublicAddress(address);
}

interface Asked {
  readonly signal: AbortSignal | undefined;
  readonly known?: PageValidators;
}

/** Returns the last answer, after redirects. */
async function request(url: string, settings: Settings, { signal, known }: Asked) {
  if (!settings.allowHttpRequests) {
    throw engramError('SSRFProtectionError', 'Fetching URLs is switched off on this server (ALLOW_HTTP_REQUESTS).');
  }
  const deadline = AbortSignal.timeout(settings.timeoutMs);
  const combined = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    const answer = await followRedirects(url, settings, { signal: combined, known });
    return { ...answer, settings, signal: combined };
  } catch (error) {
    signal?.throwIfAborted();
    throw asFetchError(error, url, { isTimeout: deadline.aborted, timeoutMs: settings.timeoutMs });
  }
}

interface Hop {
  readonly signal: AbortSignal;
  readonly known: PageValidators | undefined;
}

async function followRedirects(start: string, settings: Settings, hop: Hop) {
  let next: string | URL = start;
  for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
    const target: CheckedTarget = await abortable(checkTarget(next, settings), hop.signal);
    const response = await send(target, settings, hop);
    const location = redirectOf(response);
    if (location === null) return { response, target };
    response.destroy();
    const following: URL | null = URL.parse(location, target.url.href);
    if (following === null)
      throw engramError('IngestionError', `${shown(target.url)} redirects to an address that is not valid`);
    next = following;
  }
  throw engramError('IngestionError', `${shown(start)} redirects more than ${MAX_REDIRECTS} times`);
}

function redirectOf(response: IncomingMessage): string | null {
  const status = response.statusCode ?? 0;
  const isRedirect = status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
  return isRedirect ? (response.headers.location ?? null) : null;
}

function send(target: CheckedTarget, settings: Settings, { signal, known }: Hop): Promise<IncomingMessage> {
  const headers = {
    ...(known?.etag ? { 'if-none-match': known.etag } : {}),
    ...(known?.lastModified ? { 'if-modified-since': known.lastModified } : {}),
    'user-agent': USER_AGENT,
    accept: 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
  };
  return sendChecked(target, { method: 'GET', headers, signal }, settings);
}

function toResource(
  response: IncomingMessage,
  url: URL,
  { settings, signal }: { readonly settings: Settings; readonly signal: AbortSignal },
): FetchedResource {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) {
    response.destroy();
    const seconds = Number(response.headers['retry-after']);
    const isBusy = status === 429 || status === 503;
    throw engramError('IngestionError', `${shown(url)} answered with status ${status}`, {
      retryable: status >= 500 || status === 429,
      ...(isBusy ? { retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : 60 } : {}),
    });
  }
  const mimeType = mimeTypeOf(response.headers['content-type']);
  return {
    url: url.href,
    mimeType: response.headers['content-type'] ?? mimeType,
    fileName: fileNameOf(url, { disposition: response.headers['content-disposition'], mimeType }),
    body: limitedBody(response, {
      maxBytes: settings.maxBytes,
      signal,
      name: shown(url),
      timeoutMs: settings.timeoutMs,
    }),
  };
}

function asFetchError(
  error: unknown,
  url: string,
  { isTimeout, timeoutMs }: { readonly isTimeout: boolean; readonly timeoutMs: number },
): Error {
  if (isEngramError(error)) return error;
  if (isTimeout) {
    return engramError('IngestionError', `${shown(url)} did not answer within ${timeoutMs / 1_000} seconds`, {
      cause: error,
      retryable: true,
    });
  }
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : 'unknown';
  return engramError('IngestionError', `${shown(url)} could not be fetched (${code})`, {
    cause: error,
    retryable: true,
  });
}

/** Returns the address without query and fragment, which may hold secrets. */
function shown(url: string | URL): string {
  const parsed = URL.parse(String(url));
  return parsed === null ? 'The URL' : `${parsed.origin}${parsed.pathname}`.slice(0, 300);
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    'text/html': 'html',
    'application/xhtml+xml': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
    'text/csv': 'csv',
    'application/json': 'json',
    'application/xml': 'xml',
    'text/xml': 'xml',
    'application/pdf': 'pdf',
    'application/epub+zip': 'epub',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    'application/vnd.oasis.opendocument.text': 'odt',
  }),
);

/** Returns the bare media type in lower case; bytes without one. */
function mimeTypeOf(contentType: string | undefined): string {
  const bare = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(bare) ? bare : 'application/octet-stream';
}

/**
 * The name the server gives (`Content-Disposition`), else the last segment of the path, else the host. Folders and control characters
 * go, an extension is added where the type has one and the name has none; at most 200 characters.
 */
function fileNameOf(
  url: URL,
  { disposition, mimeType }: { readonly disposition: string | undefined; readonly mimeType: string },
): string {
  const segment = decodedPath(url.pathname.split('/').findLast((part) => part !== '') ?? '');
  const base =
    cleanName(dispositionName(disposition) ?? '') || cleanName(segment) || url.hostname.replaceAll(/[[\]:]/g, '_');
  const extension = EXTENSIONS.get(mimeType);
  // A page named `index.php` or `report.2024` is still a page: the type decides when the name says nothing that is known.
  const hasExtension =
    /\.[a-z0-9]{1,8}$/i.test(base) && base !== url.hostname && !(extension === 'html' && !/\.x?html?$/i.test(base));
  return extension === undefined || hasExtension ? base : `${base.slice(0, 190)}.${extension}`;
}

function dispositionName(disposition: string | undefined): string | null {
  if (disposition === undefined) return null;
  const extended = /filename\*\s*=\s*[\w-]*'[^']*'([^;]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) return decodedPath(extended.trim());
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  const name = plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2];
  // Header bytes arrive as latin1; most servers that send more than ASCII mean UTF-8.
  return name === undefined ? null : Buffer.from(name, 'latin1').toString('utf8');
}

function cleanName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  const clean = [...last]
    .filter((character) => character >= ' ' && character !== '\u007f')
    .join('')
    .trim()
    .slice(0, 200);
  return clean === '.' || clean === '../../storage' ? '' : clean.toWellFormed();
}

import { ApiError, createEngram, NoAnswer, TimedOut } from '../client/index.ts';
import { CliFailure, exitCodes } from './terminal.ts';

/** The whole configuration of the client: a flag, else the environment, else the default. */
export interface ClientSettings {
  /** Address of the server, without trailing slash and without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly timeoutMs: number;
}

/** Error for an answer of the server that is not a success. */
export class ApiFailure extends CliFailure {
  readonly status: number;
  readonly retryAfterMs: number | null;

  constructor(status: number, message: string, retryAfterMs: number | null) {
    super(message, exitCodes.failed);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

interface RequestOptions {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON, or as it is when it is a form. */
  readonly body?: unknown;
  /** How often a request is sent again that may be. */
  readonly retries?: number;
}

/** The HTTP API of a server: one method per kind of answer. Errors: `ApiFailure`, `CliFailure` when nothing answers. */
export interface ApiClient {
  readonly baseUrl: string;
  json<T>(method: string, path: string, options?: RequestOptions): Promise<T>;
  text(method: string, path: string, options?: RequestOptions): Promise<string>;
  /** Returns the body as it comes in; the time limit is for the whole of it. */
  stream(method: string, path: string, options?: RequestOptions): Promise<ReadableStream<Uint8Array>>;
}

/** A server that is not started is an error within a second. */
const RETRIES = 2;

export function createApiClient(settings: ClientSettings): ApiClient {
  const { baseUrl, apiKey, timeoutMs } = settings;
  const headers = { accept: 'application/json, text/html;q=0.9, */*;q=0.5', 'user-agent': 'engram-cli' };
  const engram = createEngram({ baseUrl, timeoutMs, ...(apiKey === null ? {} : { apiKey }) });
  const send = async (method: string, path: string, options: RequestOptions): Promise<Response> => {
    try {
      return await engram.send(method, path, { retries: RETRIES, ...options, headers });
    } catch (error) {
      throw failureOf(error, settings);
    }
  };
  return {
    baseUrl,
    json: async <T>(method: string, path: string, options: RequestOptions = {}) => {
      const text = await (await send(method, path, options)).text();
      try {
        // Nothing is the answer of what returns nothing.
        return (text === '' ? null : JSON.parse(text)) as T;
      } catch (error) {
        const message = `${baseUrl}${path} answered, but not in JSON. Is it an Engram server?`;
        throw new CliFailure(message, exitCodes.failed, { cause: error });
      }
    },
    text: async (method, path, options = {}) => (await send(method, path, options)).text(),
    stream: async (method, path, options = {}) => (await send(method, path, options)).body ?? new Blob([]).stream(),
  };
}

function failureOf(error: unknown, settings: ClientSettings): unknown {
  const { baseUrl, timeoutMs } = settings;
  if (error instanceof ApiError) return refusalOf(error, settings);
  if (error instanceof TimedOut) {
    const message = `${baseUrl} did not answer within ${timeoutMs / 1_000} seconds (--timeout).`;
    return new CliFailure(message, exitCodes.unreachable, { cause: error });
  }
  if (!(error instanceof NoAnswer)) return error;
  const hint =
    error.reason === 'ECONNREFUSED'
      ? 'Start one with "engram serve" (in the repository: npm start), or name another with --url.'
      : 'Check --url and the network.';
  const message = `No Engram server answers at ${baseUrl} (${error.reason}). ${hint}`;
  return new CliFailure(message, exitCodes.unreachable, { cause: error });
}

function refusalOf({ status, detail, retryAfterMs }: ApiError, settings: ClientSettings): ApiFailure {
  // A server without authentication says itself that it needs no key.
  const hint = status === 401 && !detail.includes('This server needs none') ? keyHint(settings) : '';
  const notApi = status === 404 && detail === 'Not Found' ? ` Is ${settings.baseUrl} an Engram server?` : '';
  return new ApiFailure(status, `The server refused (${status}): ${detail}${hint}${notApi}`, retryAfterMs);
}

function keyHint({ apiKey, baseUrl }: ClientSettings): string {
  if (apiKey === null) return ' Sign in with "engram login", or give a key with --api-key or ENGRAM_API_KEY.';
  return ` The key that was sent, ${apiKey.slice(0, 4)}…, is not one of ${baseUrl}: "engram login" gets a new one.`;
}

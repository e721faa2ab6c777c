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

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON, or as it is when it is a form. */
  readonly body?: unknown;
}

/** The HTTP API of a server: one method per kind of answer. Errors: `ApiFailure`, `CliFailure` when nothing answers. */
export interface ApiClient {
  readonly baseUrl: string;
  json<T>(method: string, path: string, options?: RequestOptions): Promise<T>;
  text(method: string, path: string, options?: RequestOptions): Promise<string>;
  /** Returns the body as it comes in; the time limit is for the whole of it. */
  stream(method: string, path: string, options?: RequestOptions): Promise<ReadableStream<Uint8Array>>;
}

export function createApiClient(settings: ClientSettings): ApiClient {
  const send = async (method: string, path: string, options: RequestOptions): Promise<Response> => {
    const response = await reach(settings, path, requestOf(method, settings, options), options);
    if (!response.ok) throw await failureOf(response, settings);
    return response;
  };
  return {
    baseUrl: settings.baseUrl,
    json: async <T>(method: string, path: string, options: RequestOptions = {}) => {
      const text = await (await send(method, path, options)).text();
      try {
        // Nothing is the answer of what returns nothing.
        return (text === '' ? null : JSON.parse(text)) as T;
      } catch (error) {
        const message = `${settings.baseUrl}${path} answered, but not in JSON. Is it an Engram server?`;
        throw new CliFailure(message, exitCodes.failed, { cause: error });
      }
    },
    text: async (method, path, options = {}) => (await send(method, path, options)).text(),
    stream: async (method, path, options = {}) => (await send(method, path, options)).body ?? new Blob([]).stream(),
  };
}

function requestOf(method: string, settings: ClientSettings, { body }: RequestOptions): RequestInit {
  const headers: Record<string, string> = {
    accept: 'application/json, text/html;q=0.9, */*;q=0.5',
    'user-agent': 'engram-cli',
  };
  if (settings.apiKey !== null) headers['x-api-key'] = settings.apiKey;
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers['content-type'] = 'application/json';
  return {
    method,
    headers,
    signal: AbortSignal.timeout(settings.timeoutMs),
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  };
}

async function reach(
  settings: ClientSettings,
  path: string,
  request: RequestInit,
  { query }: RequestOptions,
): Promise<Response> {
  const url = new URL(`${settings.baseUrl}${path}`);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const entry of typeof value === 'string' ? [value] : value) url.searchParams.append(name, entry);
  }
  try {
    return await fetch(url, request);
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw new CliFailure(
        `${settings.baseUrl} did not answer within ${settings.timeoutMs / 1_000} seconds (--timeout).`,
        exitCodes.unreachable,
        { cause: error },
      );
    }
    const code = causeCode(error);
    const hint =
      code === 'ECONNREFUSED'
        ? 'Start one with "engram serve" (in the repository: npm start), or name another with --url.'
        : 'Check --url and the network.';
    throw new CliFailure(`No Engram server answers at ${settings.baseUrl} (${code}). ${hint}`, exitCodes.unreachable, {
      cause: error,
    });
  }
}

function causeCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError) return causeCode(new Error('', { cause: cause.errors[0] }));
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : error instanceof Error ? error.message : 'unknown';
}

async function failureOf(response: Response, settings: ClientSettings): Promise<ApiFailure> {
  const reason = messageOf(await response.text().catch(() => ''));
  const hint = response.status === 401 ? keyHint(settings) : '';
  const notApi = response.status === 404 && reason === 'Not Found' ? ` Is ${settings.baseUrl} an Engram server?` : '';
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const message = `The server refused (${response.status}): ${reason === '' ? response.statusText : reason}${hint}${notApi}`;
  return new ApiFailure(response.status, message, Number.isFinite(seconds) ? seconds * 1_000 : null);
}

function keyHint({ apiKey, baseUrl }: ClientSettings): string {
  if (apiKey === null) return ' Sign in with "engram login", or give a key with --api-key or ENGRAM_API_KEY.';
  return ` The key that was sent, ${apiKey.slice(0, 4)}…, is not one of ${baseUrl}: "engram login" gets a new one.`;
}

/** The three error bodies of the contract: a detail text, a list of validation errors, error with detail. */
export function messageOf(body: string): string {
  try {
    const { detail, error } = JSON.parse(body) as { detail?: unknown; error?: unknown };
    if (Array.isArray(detail)) return detail.map(validationText).join('; ');
    return [error, detail].filter((part) => typeof part === 'string' && part !== '').join(': ');
  } catch {
    return body.slice(0, 300);
  }
}

function validationText(entry: unknown): string {
  const { loc, msg } = entry as { loc?: unknown; msg?: unknown };
  return `${Array.isArray(loc) ? loc.join('.') : 'request'}: ${String(msg)}`;
}

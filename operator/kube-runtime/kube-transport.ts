import { request as httpRequest, type IncomingMessage, Agent as PlainAgent } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { KubeError } from './kube-client.ts';
import type { KubeConnection, KubeCredentials } from './kube-connection.ts';
import { pause, type RuntimeClock } from './runtime-clock.ts';

interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path from the root of the API: `/api/v1/namespaces/x/secrets`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests to the API server over keep-alive connections. */
export type KubeTransport = ReturnType<typeof createKubeTransport>;

const CALL_TIMEOUT_MS = 10_000;
/** Wait after 429 or 503 without Retry-After. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** Minimum wait, also for `Retry-After: 0`: the server has just reported overload. */
const LEAST_RETRY_AFTER_MS = 100;
const MAX_CONNECTIONS = 32;
/** As client-go does: shorter than the idle limit of usual load balancers. */
const KEEP_ALIVE = { keepAlive: true, keepAliveMsecs: 30_000, maxSockets: MAX_CONNECTIONS } as const;

export function createKubeTransport({
  clock,
  ...options
}: {
  readonly connection: KubeConnection;
  readonly clock: RuntimeClock;
  readonly userAgent: string;
}) {
  const parts = { ...options, agents: createAgents() };

  async function attempt(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    const response = await openRequest(parts, request, signal, false);
    const text = await textOf(response);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw refusal(response, text);
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw unreachable('The answer of the API server is not JSON', cause);
    }
  }

  return {
    /** Returns the JSON of the answer. Throws `KubeError` for any status other than 2xx and after 10 s. */
    async call(request: KubeRequest) {
      const deadline = clock.monotonicMs() + CALL_TIMEOUT_MS;
      const limit = limited(clock, CALL_TIMEOUT_MS, request.signal);
      try {
        for (;;) {
          try {
            return await attempt(request, limit.signal);
          } catch (error) {
            const failure = asKubeError(error, request, limit.timedOut());
            const waitMs = failure.retryAfterMs;
            if (waitMs === undefined || clock.monotonicMs() + waitMs >= deadline) throw failure;
            await pause(clock, waitMs, limit.signal);
            if (limit.signal.aborted) throw failure;
          }
        }
      } finally {
        limit.end();
      }
    },
    /** Yields the lines of the answer as they arrive; only the time until the answer begins is limited. */
    async *stream(request: KubeRequest): AsyncIterable<string> {
      const head = limited(clock, CALL_TIMEOUT_MS, request.signal);
      try {
        const response = await openRequest(parts, request, head.signal, true);
        head.disarm();
        if (response.statusCode !== 200) throw refusal(response, await textOf(response));
        yield* linesOf(response);
      } catch (error) {
        throw asKubeError(error, request, head.timedOut());
      } finally {
        head.end();
      }
    },
    /** Closes the keep-alive connections. */
    close: () => parts.agents.close(),
  };
}

interface TransportParts {
  readonly connection: KubeConnection;
  readonly userAgent: string;
  readonly agents: ReturnType<typeof createAgents>;
}

/** Resolves with the head of the answer. */
async function openRequest(
  { connection, agents, userAgent }: TransportParts,
  request: KubeRequest,
  signal: AbortSignal,
  isStream: boolean,
): Promise<IncomingMessage> {
  const credentials = await connection.credentials();
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const url = addressOf(connection.server, request);
  const secure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(url, {
      method: request.method,
      agent: secure ? agents.secure(credentials, isStream) : agents.plain(isStream),
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...credentials.headers,
        ...(body === undefined
          ? {}
          : { 'content-type': request.contentType ?? 'application/json', 'content-length': body.length }),
      },
    });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/**
 * HTTP agents for one set of certificates; a renewed certificate gets new ones. Streams have connections of their own: they
 * are long-lived, and any number of them must not use up the connections for calls.
 */
function createAgents() {
  const plain = { call: new PlainAgent(KEEP_ALIVE), stream: new PlainAgent() };
  let held: { readonly identity: string; readonly call: Agent; readonly stream: Agent } | undefined;
  return {
    plain: (isStream: boolean): PlainAgent => (isStream ? plain.stream : plain.call),
    secure({ tls, agent }: KubeCredentials, isStream: boolean): Agent {
      if (agent !== undefined) return agent;
      const identity = JSON.stringify([tls.ca, tls.cert, tls.key, tls.rejectUnauthorized, tls.servername].map(String));
      if (held?.identity !== identity) {
        // Requests on the old connections finish by themselves.
        held = { identity, call: new Agent({ ...KEEP_ALIVE, ...tls }), stream: new Agent(tls) };
      }
      return isStream ? held.stream : held.call;
    },
    close() {
      for (const agent of [plain.call, plain.stream, held?.call, held?.stream]) agent?.destroy();
    },
  };
}

function addressOf(server: URL, { path, query = {} }: KubeRequest): URL {
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding('utf8');
  let rest = '';
  for await (const chunk of response) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
};

function refusal(response: IncomingMessage, text: string): KubeError {
  const code = response.statusCode ?? 0;
  const status = parsedStatus(text);
  const seconds = Number(response.headers['retry-after']);
  const asked = Number.isFinite(seconds) && response.headers['retry-after'] !== undefined;
  const later = code === 429 || (code === 503 && asked);
  return new KubeError({
    code,
    reason: status.reason ?? REASONS[code] ?? 'InternalError',
    message: status.message ?? `The API server answered ${code}`,
    retryAfterMs: later ? Math.max(LEAST_RETRY_AFTER_MS, asked ? seconds * 1000 : DEFAULT_RETRY_AFTER_MS) : undefined,
  });
}

function parsedStatus(text: string): { readonly reason?: string; readonly message?: string } {
  try {
    const { reason, message } = JSON.parse(text) as { reason?: unknown; message?: unknown };
    return {
      ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    };
  } catch {
    return {};
  }
}

function unreachable(message: string, cause: unknown): KubeError {
  return new KubeError({ code: 0, reason: 'Unreachable', message, cause });
}

function asKubeError(error: unknown, request: KubeRequest, timedOut: boolean): KubeError {
  if (error instanceof KubeError) return error;
  const what = `${request.method} ${request.path}`;
  if (timedOut) return new KubeError({ code: 0, reason: 'Timeout', message: `${what} took too long`, cause: error });
  return unreachable(`${what} was cut off`, error);
}

const ENDED = new Error('the call has ended');

/** A signal that also fires after a timeout; `disarm` removes the timeout, `end` the timeout and the signal. */
function limited(clock: RuntimeClock, limitMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let timedOut = false;
  const disarm = clock.after(limitMs, () => {
    timedOut = true;
    controller.abort();
  });
  const follow = () => controller.abort();
  if (outer?.aborted) controller.abort();
  outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    disarm,
    end() {
      disarm();
      outer?.removeEventListener('abort', follow);
      // A stream without a reader must not keep its connection. Without a reason, Node would make an error for each call.
      controller.abort(ENDED);
    },
  };
}

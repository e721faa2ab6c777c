import type { IncomingMessage } from 'node:http';
import { engramError, isEngramError } from '../../kernel/errors.ts';
import { abortable } from '../async/abortable.ts';
import { sendChecked } from './checked-request.ts';
import { isPublicAddress } from './public-address.ts';
import { checkTarget, type ResolveHost, resolveBySystem } from './target-guard.ts';

export interface ModelFetchOptions {
  /** `ENGRAM_TENANT_MODEL_HOSTS`: hosts, or hosts with a port (`vllm.models.svc:8000`), that may be on private networks. */
  readonly privateHosts: readonly string[];
  /** Limit of one answer; default 32 MiB. */
  readonly maxBytes?: number;
  /** Replaces the system's name resolution, for tests. */
  readonly resolve?: ResolveHost;
}

const DEFAULT_MAX_BYTES = 32 * 2 ** 20;
/** Answers that `Response` takes no body for. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * `fetch` to models whose address a tenant chose: only to public addresses and to the hosts that are named, and to the address that
 * was checked; redirects are answers. Its errors disclose no addresses or hosts of a private network. Errors:
 * `SSRFProtectionError`, and what `fetch` throws.
 */
export function createModelFetch(options: ModelFetchOptions): typeof fetch {
  const { privateHosts, maxBytes = DEFAULT_MAX_BYTES, resolve = resolveBySystem } = options;
  const isNamed = (url: URL) => privateHosts.includes(url.hostname) || privateHosts.includes(hostAndPort(url));
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isAllowed = isNamed(url) ? () => true : isPublicAddress;
    const rules = { isAllowed, resolve, refusal: unnamedHost };
    const signal = init.signal ?? undefined;
    try {
      const target = await checked(url, rules, signal);
      const response = await sendChecked(target, await requestOf(init, signal), rules);
      return asResponse(response, maxBytes, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw isEngramError(error) ? error : failed(error);
    }
  };
}

function checked(url: URL, rules: Parameters<typeof checkTarget>[1], signal: AbortSignal | undefined) {
  const checking = checkTarget(url, rules);
  return signal === undefined ? checking : abortable(checking, signal);
}

/** The same for hosts that there are not and for hosts that are private: else names in there could be tried out. */
function unnamedHost(url: URL, cause?: unknown): Error {
  // The name service did not answer: nothing is known about the name.
  if (cause instanceof Error && (cause as NodeJS.ErrnoException).code === 'EAI_AGAIN') return failed(cause);
  return engramError(
    'SSRFProtectionError',
    `ENGRAM_TENANT_MODEL_HOSTS of the services does not name ${hostAndPort(url)}, and it is no public host.`,
  );
}

/** Creates the error of `fetch`, which the providers' libraries know. */
function failed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause });
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

async function requestOf(init: RequestInit, signal: AbortSignal | undefined) {
  const body = init.body === undefined || init.body === null ? undefined : await bytesOf(init.body);
  return {
    method: init.method ?? 'GET',
    // Unpacked bytes alone are counted.
    headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  };
}

async function bytesOf(body: NonNullable<RequestInit['body']>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function asResponse(response: IncomingMessage, maxBytes: number, signal: AbortSignal | undefined): Response {
  try {
    const headers = new Headers();
    for (const [name, value = ''] of Object.entries(response.headers)) {
      headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    const status = response.statusCode ?? 0;
    const body = WITHOUT_BODY.has(status) ? null : ReadableStream.from(limited(response, maxBytes, signal));
    if (body === null) response.destroy();
    return new Response(body, { status, headers, statusText: response.statusMessage ?? '' });
  } catch (error) {
    response.destroy();
    throw error;
  }
}

async function* limited(response: IncomingMessage, maxBytes: number, signal: AbortSignal | undefined) {
  let bytes = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new TypeError(`the answer is longer than ${maxBytes} bytes`);
      yield piece;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

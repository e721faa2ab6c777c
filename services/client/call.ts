import { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch';
import { NoAnswer } from './errors.ts';
import { operationTraits, type Paths } from './generated/api.ts';
import type { RequestBody, Transport } from './transport.ts';
import type { UploadProgress } from './upload.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export type PathsWith<M extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends Record<M, unknown> ? Path : never;
}[keyof Paths];

type Operation<Path extends keyof Paths, M extends Method> = Paths[Path] extends Record<M, infer Found> ? Found : never;

type ContentOf<Part> = Part extends { content: infer Content } ? Content[keyof Content] : undefined;
/** A form may be given as an object, whose lists become repeated fields, or made by the caller. */
type BodyOf<Content> = Content extends { 'multipart/form-data': infer Fields }
  ? Fields | FormData
  : Content[keyof Content];

/** The answer of a call. */
export type Answer<Path extends keyof Paths, M extends Method> =
  Operation<Path, M> extends { responses: infer Responses }
    ? { [Status in keyof Responses]: ContentOf<Responses[Status]> }[keyof Responses]
    : never;

/** Parameters of a call: `path` and `query` parameters, `body`, and options of the client. */
export type Call<Path extends keyof Paths, M extends Method> = (Operation<Path, M> extends {
  parameters: infer Parameters;
}
  ? Parameters
  : unknown) &
  (Operation<Path, M> extends { requestBody: { content: infer Content } }
    ? { body: BodyOf<Content> }
    : Operation<Path, M> extends { requestBody?: { content: infer Content } }
      ? { body?: BodyOf<Content> }
      : unknown) &
  CallOptions;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onUploadProgress?: (progress: UploadProgress) => void;
}

/** The second argument: needed only when something in it is. */
export type CallArguments<Path extends keyof Paths, M extends Method> =
  Record<never, never> extends Call<Path, M> ? [call?: Call<Path, M>] : [call: Call<Path, M>];

export interface UntypedCall extends CallOptions {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const serializeQuery = createQuerySerializer<Record<string, unknown>>();

/**
 * Sends one request of an operation; `path` is that of the OpenAPI document, with its parameters in braces. An object as body
 * becomes a form where the operation takes one, unless `asJson`.
 */
export function sendCall(
  transport: Transport,
  method: string,
  path: string,
  { asJson, ...call }: UntypedCall & { readonly asJson?: boolean } = {},
): Promise<Response> {
  const upper = method.toUpperCase();
  const { idempotent, keyed = false, form } = operationTraits[`${upper} ${path}`] ?? {};
  const url = createFinalURL(path, {
    baseUrl: transport.baseUrl,
    params: { query: { ...call.query }, path: { ...call.path } },
    querySerializer: (query) => serializeQuery(withoutNull(query)),
    pathSerializer: defaultPathSerializer,
  });
  const body = bodyOf(call.body, asJson === true ? undefined : form);
  return transport.send({
    method: upper,
    url,
    headers: {
      accept: 'application/json, */*;q=0.5',
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      ...(keyed ? { 'idempotency-key': newKey() } : {}),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body }),
    isIdempotent: keyed || (idempotent ?? ['GET', 'PUT', 'DELETE'].includes(upper)),
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    retries: call.retries,
    onUploadProgress: call.onUploadProgress,
  });
}

/** `crypto.randomUUID` is missing in pages that came over plain HTTP. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads an answer by its content type: JSON, a text, or a blob; undefined when there is none. */
export async function readAnswer(method: string, response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  try {
    if (response.status === 204 || type === '') return undefined;
    if (/\bjson\b/.test(type)) return await response.json();
    return /^text\//.test(type) ? await response.text() : await response.blob();
  } catch (error) {
    throw new NoAnswer(method.toUpperCase(), response.url, 'the answer ended before it was whole', { cause: error });
  }
}

function withoutNull(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null && value !== undefined));
}

function bodyOf(body: unknown, form: string | undefined): RequestBody | undefined {
  if (body === undefined) return undefined;
  if (body instanceof FormData || body instanceof URLSearchParams || body instanceof Blob) return body;
  if (form === undefined || typeof body !== 'object' || body === null) return JSON.stringify(body);
  const target = form.startsWith('multipart/') ? new FormData() : new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    for (const entry of Array.isArray(value) ? value : [value]) append(target, name, entry);
  }
  return target;
}

function append(target: FormData | URLSearchParams, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  if (value instanceof Blob && target instanceof FormData) target.append(name, value);
  else target.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
}

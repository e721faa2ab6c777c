import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  type Answer,
  type Call,
  type CallArguments,
  type CallOptions,
  type Method,
  type PathsWith,
  readAnswer,
  sendCall,
  type UntypedCall,
} from './call.ts';
import { apiError, NoAnswer } from './errors.ts';
import type {
  BodyAddApiV1AddPost,
  CognifyPayloadDTO,
  DataDTO,
  DatasetDTO,
  ForgetPayloadDTO,
  PipelineRunInfo,
  RecallItem,
  RecallPayloadDTO,
  RememberResult,
  SearchPayloadDTO,
} from './generated/api.ts';
import { createTransport, type Transport, type TransportOptions } from './transport.ts';

export type { Answer, Call, CallOptions, Method, PathsWith } from './call.ts';
export * from './errors.ts';
export type * from './generated/api.ts';
export type { Retry, TransportOptions as EngramOptions } from './transport.ts';
export type { UploadProgress } from './upload.ts';

type Caller<M extends Method> = <Path extends PathsWith<M>>(
  path: Path,
  ...call: CallArguments<Path, M>
) => Promise<Answer<Path, M>>;

/** Input of a write: texts and addresses, files, or both. */
export type Input = string | Blob | readonly (string | Blob)[];
type AddOptions = Partial<Omit<BodyAddApiV1AddPost, 'data' | 'raw_data' | 'datasetName' | 'datasetId'>> & CallOptions;
type Options<Payload> = Partial<Omit<Payload, 'query'>> & { readonly call?: CallOptions };

/**
 * A client of one server. Every call returns what the operation answers and throws `ApiError` (with a subclass per status)
 * or `NoAnswer`. `get`, `post`, `put`, `patch` and `delete` take every path of the OpenAPI document with its types.
 */
export interface Engram {
  readonly baseUrl: string;
  readonly get: Caller<'get'>;
  readonly post: Caller<'post'>;
  readonly put: Caller<'put'>;
  readonly patch: Caller<'patch'>;
  readonly delete: Caller<'delete'>;
  /** The items of all pages of a list, one page after the other. */
  pages<Path extends PathsWith<'get'>>(
    path: Path,
    ...call: CallArguments<Path, 'get'>
  ): AsyncIterable<ItemOf<Answer<Path, 'get'>>>;
  /** Any request, without types; an object is sent as JSON, and the answer is a success. */
  send(method: string, path: string, call?: UntypedCall): Promise<Response>;

  /** Stores texts, addresses and files in a dataset, by its name or id. */
  add(input: Input, dataset: string, options?: AddOptions): Promise<PipelineRunInfo>;
  /** Builds the graph of datasets; returns when it is built, unless `run_in_background` is set. */
  cognify(
    datasets: string | readonly string[],
    options?: Options<CognifyPayloadDTO>,
  ): Promise<Readonly<Record<string, PipelineRunInfo>>>;
  /** Adds and builds in one call. */
  remember(input: Input, dataset: string, options?: AddOptions): Promise<RememberResult>;
  search(query: string, options?: Options<SearchPayloadDTO>): Promise<Answer<'/api/v1/search', 'post'>>;
  recall(query: string, options?: Options<RecallPayloadDTO>): Promise<readonly RecallItem[]>;
  /** The same as it comes about: stages, parts of the answer, and at the end the results. */
  recallStream(query: string, options?: Options<RecallPayloadDTO>): AsyncIterable<RecallEvent>;
  forget(what: ForgetPayloadDTO, options?: CallOptions): Promise<Answer<'/api/v1/forget', 'post'>>;
  datasets(options?: CallOptions): Promise<readonly DatasetDTO[]>;
  /** The items of a dataset, newest first. */
  items(datasetId: string, options?: CallOptions): AsyncIterable<DataDTO>;
}

export function createEngram(options: TransportOptions): Engram {
  const transport = createTransport(options);
  const call = async (method: string, path: string, given?: UntypedCall): Promise<unknown> =>
    readAnswer(method, await sendCall(transport, method, path, given));
  const caller = <M extends Method>(method: M) =>
    ((path: string, given?: UntypedCall) => call(method, path, given)) as Caller<M>;
  const post = caller('post');
  const get = caller('get');
  const pages = ((path: string, given: UntypedCall = {}) =>
    itemsOfPages((query) => call('get', path, { ...given, query }), given.query)) as Engram['pages'];
  return {
    baseUrl: transport.baseUrl,
    get,
    post,
    put: caller('put'),
    patch: caller('patch'),
    delete: caller('delete'),
    pages,
    send: (method, path, given) => sendCall(transport, method, path, { ...given, asJson: true }),
    add: (input, dataset, given = {}) => post('/api/v1/add', addCall(input, dataset, given)),
    cognify: (datasets, { call: given, ...body } = {}) =>
      post('/api/v1/cognify', { ...given, body: { ...body, ...datasetsOf([datasets].flat()) } }),
    remember: (input, dataset, given = {}) =>
      post<'/api/v1/remember'>('/api/v1/remember', addCall(input, dataset, given)),
    search: (query, { call: given, ...body } = {}) => post('/api/v1/search', { ...given, body: { ...body, query } }),
    recall: (query, { call: given, ...body } = {}) =>
      post('/api/v1/recall', { ...given, body: { ...body, query, stream: false } }),
    recallStream: (query, given = {}) => streamOf(transport, query, given),
    forget: (body, given = {}) => post('/api/v1/forget', { ...given, body }),
    datasets: (given = {}) => get('/api/v1/datasets', given),
    items: (datasetId, given = {}) =>
      pages('/api/v1/datasets/{dataset_id}/data', { ...given, path: { dataset_id: datasetId } }),
  };
}

async function* streamOf(transport: Transport, query: string, { call, ...body }: Options<RecallPayloadDTO>) {
  const response = await sendCall(transport, 'post', '/api/v1/recall', {
    ...call,
    body: { ...body, query, stream: true },
  });
  yield* recallEvents('POST', response);
}

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

function datasetsOf(datasets: readonly string[]): Pick<CognifyPayloadDTO, 'datasets' | 'dataset_ids'> {
  const byId = datasets.filter((dataset) => ID.test(dataset));
  const byName = datasets.filter((dataset) => !ID.test(dataset));
  return { ...(byName.length === 0 ? {} : { datasets: byName }), ...(byId.length === 0 ? {} : { dataset_ids: byId }) };
}

/** Both routes take these fields. */
type AddCall = Call<'/api/v1/add', 'post'> & Call<'/api/v1/remember', 'post'>;

function addCall(input: Input, dataset: string, options: AddOptions): AddCall {
  const { signal, timeoutMs, retries, headers, onUploadProgress, ...fields } = options;
  const inputs = [input].flat() as readonly (string | Blob)[];
  const given = { signal, timeoutMs, retries, headers, onUploadProgress };
  return {
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as CallOptions),
    body: {
      ...fields,
      data: inputs.filter((one) => one instanceof Blob),
      raw_data: inputs.filter((one) => typeof one === 'string'),
      ...(ID.test(dataset) ? { datasetId: dataset } : { datasetName: dataset }),
    },
  } as unknown as AddCall;
}

/** The list in an answer: the answer itself, or its one field that is a list. */
export type ItemOf<Answer> = Answer extends readonly (infer Item)[]
  ? Item
  : { [Field in keyof Answer]: Answer[Field] extends readonly (infer Item)[] ? Item : never }[keyof Answer];

const PAGE = 100;

type Page = Readonly<Record<string, unknown>> | readonly unknown[];

/**
 * Yields the items of all pages. Pages follow each other by the cursor that an answer names (`next`, sent as `after`), else
 * by `offset`, until one is not full.
 */
async function* itemsOfPages(
  read: (query: Readonly<Record<string, unknown>>) => Promise<unknown>,
  query: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<unknown, void, undefined> {
  const limit = Number(query['limit'] ?? PAGE);
  let position: Readonly<Record<string, unknown>> = {};
  for (let seen = Number(query['offset'] ?? 0); ; ) {
    const page = (await read({ ...query, limit, ...position })) as Page;
    const items = listOf(page);
    yield* items;
    seen += items.length;
    const next = nextOf(page, { isFull: items.length >= limit, seen });
    if (next === null) return;
    position = next;
  }
}

function listOf(page: Page): readonly unknown[] {
  if (Array.isArray(page)) return page;
  return (Object.values(page).find(Array.isArray) ?? []) as readonly unknown[];
}

function nextOf(
  page: Page,
  { isFull, seen }: { readonly isFull: boolean; readonly seen: number },
): Readonly<Record<string, unknown>> | null {
  const { next, has_more: hasMore } = page as { readonly next?: unknown; readonly has_more?: unknown };
  if (next !== undefined) return next === null ? null : { after: next };
  return (hasMore ?? isFull) === true ? { offset: seen } : null;
}

/** Events of a recall while it goes on. */
export type RecallEvent =
  | { readonly type: 'stage'; readonly stage: 'retrieving' | 'generating' }
  /** The next part of the answer. */
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'answer_done' }
  /** The parts so far do not count: the answer begins anew. */
  | { readonly type: 'reset' }
  /** The last event. */
  | { readonly type: 'final'; readonly results: readonly RecallItem[] };

/** Reads the events of a recall. Errors: `ApiError` for the event `error`; `NoAnswer` when the stream ends early. */
async function* recallEvents(method: string, response: Response): AsyncGenerator<RecallEvent, void, undefined> {
  const { url, headers } = response;
  const body = response.body ?? new Blob([]).stream();
  const events = body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const data = JSON.parse(value.data) as { readonly message?: string; readonly status?: number };
      if (value.event === 'error') {
        const { message = 'the recall failed', status = 500 } = data;
        throw apiError({ method, url, status, statusText: '', headers, body: { detail: message } });
      }
      yield { type: value.event, ...data } as RecallEvent;
      if (value.event === 'final') return;
    }
  } finally {
    // A caller that stops early also stops the server.
    await reader.cancel().catch(() => undefined);
  }
  throw new NoAnswer(method, url, 'the stream ended without a result', {});
}

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
import { type RecallEvent, recallEvents } from './events.ts';
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
import { type ItemOf, itemsOfPages } from './pages.ts';
import { createTransport, type Transport, type TransportOptions } from './transport.ts';

export type { Answer, Call, CallOptions, Method, PathsWith } from './call.ts';
export * from './errors.ts';
export type { RecallEvent } from './events.ts';
export type * from './generated/api.ts';
export type { ItemOf } from './pages.ts';
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

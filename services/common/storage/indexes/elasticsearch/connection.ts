import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { Client, type ClientOptions, errors, type estypes, type TransportRequestOptions } from '@elastic/elasticsearch';
import { engramError } from '../../../kernel/errors.ts';
import { slices } from '../../../kernel/slices.ts';
import { abortable } from '../../../platform/async/abortable.ts';
import { pause } from '../../../platform/async/pause.ts';
import { elasticsearchError, isBusy, isLostConnection } from './elasticsearch-errors.ts';

export interface ElasticsearchConnectionOptions {
  /** `http://` or `https://`; user and password may stand in it. */
  readonly url: string;
  /** Base64, as Elasticsearch gives it out. Goes before user and password. */
  readonly apiKey?: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM file of the authority that signed the server's certificate. */
  readonly caFile?: string;
  /** Time limit of one request. Default 10 s. */
  readonly requestTimeoutMs?: number;
}

/** A call of the client; `options` carries signal and time limit and must be handed on. */
type ElasticsearchCall<Answer> = (
  client: Client,
  options: TransportRequestOptions & { readonly signal: AbortSignal },
) => Promise<Answer>;

export type SearchBody = estypes.MsearchMultisearchBody;
export type SearchAnswer<Document = unknown> = estypes.MsearchMultiSearchItem<Document>;

export interface ElasticsearchConnection {
  /** The server, for messages: without user and password. */
  readonly address: string;
  /**
   * Calls must be harmless when repeated: a lost connection is tried once more, a busy server a few times with growing
   * pauses. Errors are ours; an abort rejects with the signal's reason.
   */
  request<Answer>(call: ElasticsearchCall<Answer>, signal?: AbortSignal): Promise<Answer>;
  /**
   * Finds rows through an alias, none when there is no such alias. Searches that are asked for in one turn of the event loop,
   * as the lanes of a question are, take one trip to the server.
   */
  search<Document>(alias: string, body: SearchBody, signal?: AbortSignal): Promise<SearchAnswer<Document>>;
  /** Ends what is running. */
  close(): Promise<void>;
}

/** Attempts while the server answers 429, with pauses of 50 ms, 100 ms …: 3 s in all. */
export const BUSY_ATTEMPTS = 7;

/** Major and minor version of the oldest server that has what the queries use. */
const OLDEST = [8, 12] as const;

/** Connects and makes sure that an Elasticsearch of a fitting version answers and takes the credentials. */
export async function connectElasticsearch(options: ElasticsearchConnectionOptions): Promise<ElasticsearchConnection> {
  const { client, address } = createClient(options);
  const closing = new AbortController();
  // Every request under way listens.
  setMaxListeners(0, closing.signal);
  const searchTogether = createSearchBatches(client);
  const connection: ElasticsearchConnection = {
    address,
    async request(call, signal) {
      const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      for (let attempt = 1; ; attempt++) {
        either.throwIfAborted();
        try {
          return await call(client, { signal: either });
        } catch (error) {
          either.throwIfAborted();
          const attempts = isBusy(error) ? BUSY_ATTEMPTS : isLostConnection(error) ? 2 : 1;
          if (attempt >= attempts) throw elasticsearchError(error, address);
          if (isBusy(error)) await backOff(attempt, either);
        }
      }
    },
    search: <Document>(alias: string, body: SearchBody, signal?: AbortSignal) => {
      const call = (_: Client, options: { readonly signal: AbortSignal }) =>
        searchTogether(alias, body, options.signal) as Promise<SearchAnswer<Document>>;
      return connection.request(call, signal);
    },
    async close() {
      closing.abort(engramError('ServiceUnavailableError', 'The indexes are closed.'));
      await client.close();
    },
  };
  try {
    await checkVersion(connection);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface WaitingSearch extends PromiseWithResolvers<SearchAnswer> {
  readonly alias: string;
  readonly body: SearchBody;
  readonly signal: AbortSignal;
}

/** Searches of one request; the answer of each is a page of rows at most. */
const SEARCHES_AT_ONCE = 16;

/** Sends the searches of one turn together. One that fails fails alone, with the status that it would have by itself. */
function createSearchBatches(client: Client) {
  const waiting: WaitingSearch[] = [];
  const send = async (batch: readonly WaitingSearch[]) => {
    const abandoned = new AbortController();
    const abandonIfAll = () => batch.every(({ signal }) => signal.aborted) && abandoned.abort();
    for (const { signal } of batch) signal.addEventListener('abort', abandonIfAll, { once: true });
    try {
      const searches = batch.flatMap(({ alias, body }) => [
        { index: alias, ignore_unavailable: true, allow_partial_search_results: false },
        { track_total_hits: false, ...body },
      ]);
      const { body, ...meta } = await client.msearch({ searches }, { signal: abandoned.signal, meta: true });
      for (const [at, { resolve, reject }] of batch.entries()) {
        const answer = body.responses[at] as SearchAnswer | estypes.ErrorResponseBase;
        if ('error' in answer) reject(new errors.ResponseError({ ...meta, body: answer, statusCode: answer.status }));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { signal } of batch) signal.removeEventListener('abort', abandonIfAll);
    }
  };
  const sendAll = () => {
    const wanted = waiting.splice(0).filter(({ signal }) => !signal.aborted);
    for (const batch of slices(wanted, SEARCHES_AT_ONCE)) void send(batch);
  };
  return (alias: string, body: SearchBody, signal: AbortSignal): Promise<SearchAnswer> => {
    // Once everything that is ready to run has run, and so has asked for its searches too.
    if (waiting.length === 0) setImmediate(sendAll);
    const search = { alias, body, signal, ...Promise.withResolvers<SearchAnswer>() };
    waiting.push(search);
    return abortable(search.promise, signal);
  };
}

/** Twice as long each time, up to 2 s, with a spread so that writers do not come back together. */
export async function backOff(attempt: number, signal?: AbortSignal): Promise<void> {
  await pause(Math.min(50 * 2 ** (attempt - 1), 2000) * (0.75 + Math.random() / 2), signal);
}

function createClient(options: ElasticsearchConnectionOptions): { readonly client: Client; readonly address: string } {
  if (!URL.canParse(options.url)) {
    throw engramError('CogneeValidationError', 'The address of Elasticsearch is not a URL such as https://host:9200.');
  }
  const url = new URL(options.url);
  const username = options.username ?? decodeURIComponent(url.username);
  const password = options.password ?? decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  const settings: ClientOptions = {
    node: url.href,
    requestTimeout: options.requestTimeoutMs ?? 10_000,
    // Repeating is ours: the client's back-off does not keep to the time limit.
    maxRetries: 0,
    enableMetaHeader: false,
  };
  if (options.apiKey !== undefined) settings.auth = { apiKey: options.apiKey };
  else if (username !== '') settings.auth = { username, password };
  if (options.caFile !== undefined) settings.tls = { ca: readFileSync(options.caFile) };
  return { client: new Client(settings), address: url.host };
}

async function checkVersion(connection: ElasticsearchConnection): Promise<void> {
  const version = await connection.request(async (client, options) => {
    try {
      return (await client.info({}, options)).version.number;
    } catch (error) {
      // A key that may only use indexes cannot ask for the version; whether it fits shows in use.
      if (error instanceof errors.ResponseError && error.statusCode === 403) return null;
      throw error;
    }
  });
  if (version === null) return;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw engramError(
    'ServiceUnavailableError',
    `Elasticsearch at ${connection.address} is version ${version}; ${OLDEST.join('.')} or newer is needed.`,
  );
}

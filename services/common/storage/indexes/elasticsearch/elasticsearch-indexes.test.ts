import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import { createScopes, textEntry } from '../../../../../test/support/dataset-rows.ts';
import { rejection } from '../../../../../test/support/refusal-of.ts';
import type { EngramError } from '../../../kernel/errors.ts';
import { type ElasticsearchIndexesOptions, openElasticsearchIndexes } from './elasticsearch-indexes.ts';

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  /** False: as another product would answer. */
  readonly isElasticsearch?: boolean;
}

/** A server that answers as `answer` says; closed after the test. */
function createFakeServers() {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
  return async (answer: (request: IncomingMessage, body: string) => Answer | null): Promise<string> => {
    const server = createServer(async (request, response) => {
      const found = answer(request, await readText(request));
      if (found === null) return; // never answers
      const { status = 200, body = {}, isElasticsearch = true } = found;
      const product = isElasticsearch ? { 'x-elastic-product': 'Elasticsearch' } : {};
      response.writeHead(status, { 'content-type': 'application/json', ...product }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://someone:secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
}

const INFO = { body: { version: { number: '8.19.2' } } };

describe('openElasticsearchIndexes', () => {
  const serve = createFakeServers();
  const failure = async (options: ElasticsearchIndexesOptions): Promise<EngramError> => {
    const error = await rejection(openElasticsearchIndexes(options));
    expect(error.message).not.to.include('secret');
    return error as EngramError;
  };

  it('says that a server is too old', async () => {
    const error = await failure({ url: await serve(() => ({ body: { version: { number: '8.11.4' } } })) });
    expect(error).to.include({ name: 'ServiceUnavailableError', retryable: false });
    expect(error.message).to.include('8.11.4').and.include('8.12').and.include('127.0.0.1:');
  });

  it('says that the credentials are refused', async () => {
    const error = await failure({ url: await serve(() => ({ status: 401 })) });
    expect(error).to.include({ name: 'ServiceUnavailableError', retryable: false });
    expect(error.message).to.include('credentials');
  });

  it('says that a server is another product', async () => {
    const error = await failure({ url: await serve(() => ({ ...INFO, isElasticsearch: false })) });
    expect(error).to.include({ name: 'ServiceUnavailableError', retryable: false });
    expect(error.message).to.include('not Elasticsearch');
  });

  it('names the address that does not answer, as a retryable error', async () => {
    const error = await failure({ url: 'http://someone:secret@127.0.0.1:1' });
    expect(error).to.include({ name: 'ServiceUnavailableError', retryable: true });
    expect(error.message).to.include('127.0.0.1:1');
  });

  it('gives up on a server that hangs', async () => {
    const error = await failure({ url: await serve(() => null), requestTimeoutMs: 100 });
    expect(error).to.include({ name: 'DeadlineExceededError', retryable: true });
  });

  it('takes a key that may not ask for the version', async () => {
    const headers: (string | undefined)[] = [];
    const url = await serve(({ headers: { authorization } }) => {
      headers.push(authorization);
      return { status: 403 };
    });
    await (await openElasticsearchIndexes({ url, apiKey: 'a2V5' })).close();
    expect(headers).to.deep.equal(['ApiKey a2V5']);
  });
});

describe('bulk writing to Elasticsearch', () => {
  const serve = createFakeServers();
  const scopes = createScopes();
  const entries = Array.from({ length: 10 }, (_, index) => textEntry(`row-${index}`, `word ${'x'.repeat(300)}`));
  /** A server whose bulk requests are answered by `answer`, given the ids of the rows. */
  const openOn = async (
    answer: (ids: readonly string[]) => Answer,
    options: Partial<ElasticsearchIndexesOptions> = {},
  ) => {
    const url = await serve(({ url: path = '' }, body) => {
      if (path === '/') return INFO;
      if (!path.includes('_bulk')) return {};
      return answer([...body.matchAll(/"_id":"([^"]+)"/g)].map(([, id = '']) => id));
    });
    return openElasticsearchIndexes({ url, ...options });
  };
  const items = (statuses: readonly number[]): Answer => ({
    body: {
      errors: statuses.some((status) => status >= 300),
      items: statuses.map((status) => ({
        index: status < 300 ? { status } : { status, error: { type: 'es_rejected_execution_exception' } },
      })),
    },
  });

  it('repeats only the rows that a busy server rejected', async () => {
    const sent: (readonly string[])[] = [];
    const indexes = await openOn((ids) => {
      sent.push(ids);
      if (sent.length === 1) return { status: 429 };
      return items(ids.map((_, at) => (sent.length < 4 && at % 2 === 0 ? 429 : 201)));
    });
    await indexes.text.upsert(scopes(), entries);
    expect(sent.map((ids) => ids.length)).to.deep.equal([10, 10, 5, 3]);
    expect(sent[2]).to.deep.equal(sent[1]?.filter((_, at) => at % 2 === 0));
    await indexes.close();
  });

  it('names a row that the server never takes, even alone', async () => {
    const indexes = await openOn((ids) => items(ids.map(() => 429)));
    const large = textEntry('large', 'x', { payload: { text: 'x'.repeat(2 * 1024 * 1024) } });
    const error = await rejection(indexes.text.upsert(scopes(), [large]));
    expect(error).to.include({ name: 'PayloadTooLargeError', retryable: false });
    expect(error.message).to.match(/A passage of 2\.0 MB is too large for Elasticsearch at 127\.0\.0\.1/);
    await indexes.close();
  });

  it('takes a small row that is refused for ever for a busy server', async () => {
    const indexes = await openOn((ids) => items(ids.map(() => 429)));
    const error = await rejection(indexes.text.upsert(scopes(), entries));
    expect(error).to.include({ name: 'ServiceUnavailableError', retryable: true });
    await indexes.close();
  });

  it('splits rows by size and has few requests under way', async () => {
    const sizes: number[] = [];
    const indexes = await openOn(
      (ids) => {
        sizes.push(ids.length);
        return items(ids.map(() => 201));
      },
      { bulkBytes: 2000 },
    );
    await indexes.text.upsert(scopes(), entries);
    expect(sizes.length).to.be.greaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(entries.length);
    await indexes.close();
  });

  it('does not repeat what can never succeed', async () => {
    let calls = 0;
    const indexes = await openOn((ids) => {
      calls += 1;
      return items(ids.map(() => 400));
    });
    const error = await rejection(indexes.text.upsert(scopes(), entries));
    expect(error).to.include({ name: 'CogneeSystemError' });
    expect(calls).to.equal(1);
    await indexes.close();
  });
});

describe('searches of Elasticsearch', () => {
  const serve = createFakeServers();
  const scopes = createScopes();
  const hit = (id: string) => ({
    _source: { kind: 'chunk', id, item: 'item', generation: 1, ordinal: 0, nodeSets: [], words: [], payload: '{}' },
  });
  const found = (id: string) => ({ status: 200, hits: { hits: [hit(id)] } });
  const busy = { status: 429, error: { type: 'es_rejected_execution_exception' } };
  /** A server that answers each search of a request by the id that it asks for; `requests`: the ids of each. */
  const openOn = async (answer: (id: string, request: number) => object) => {
    const requests: (readonly string[])[] = [];
    const url = await serve(({ url: path = '' }, body) => {
      if (path === '/') return INFO;
      const ids = [...body.matchAll(/"id":\["([^"]+)"/g)].map(([, id = '']) => id);
      requests.push(ids);
      return { body: { responses: ids.map((id) => answer(id, requests.length)) } };
    });
    const indexes = await openElasticsearchIndexes({ url });
    const fetch = async (id: string) => (await indexes.text.fetch(scopes(), 'chunk', [id])).map((row) => row.id);
    return { requests, fetch, close: indexes.close };
  };

  it('go together when they are asked for at once, and each gets its own answer', async () => {
    const { requests, fetch, close } = await openOn(found);
    expect(await Promise.all([fetch('a'), fetch('b'), fetch('c')])).to.deep.equal([['a'], ['b'], ['c']]);
    expect(await fetch('d')).to.deep.equal(['d']);
    expect(requests).to.deep.equal([['a', 'b', 'c'], ['d']]);
    await close();
  });

  it('are repeated alone when the server was too busy for one of them', async () => {
    const { requests, fetch, close } = await openOn((id, request) => (id === 'b' && request < 3 ? busy : found(id)));
    expect(await Promise.all([fetch('a'), fetch('b')])).to.deep.equal([['a'], ['b']]);
    expect(requests).to.deep.equal([['a', 'b'], ['b'], ['b']]);
    await close();
  });

  it('fail alone, with the error of their own', async () => {
    const bad = { status: 400, error: { type: 'search_phase_execution_exception' } };
    const { fetch, close } = await openOn((id) => (id === 'b' ? bad : found(id)));
    const [good, failed] = await Promise.allSettled([fetch('a'), fetch('b')]);
    expect(good).to.deep.equal({ status: 'fulfilled', value: ['a'] });
    expect((failed as PromiseRejectedResult).reason).to.include({ name: 'CogneeSystemError' });
    await close();
  });
});

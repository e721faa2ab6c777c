import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { completion, failure, type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire } from '../support/wire.ts';

type Json = Record<string, unknown>;
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

const QUICK = { 'retry-after-ms': '5' };

/** The whole service with a scripted model behind it. */
describe('the service with a model', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  /** A new dataset for each test. */
  let notes: string;
  let tests = 0;

  before(async () => {
    provider = await startModelProvider();
    app = await startApp(variables());
  });
  beforeEach(() => {
    tests += 1;
    notes = `notes-${tests}`;
    provider.requests.length = 0;
    provider.answer = () => undefined;
  });
  after(async () => {
    await app.stop();
    await provider.close();
  });

  /** The work with a server of its own: with other settings, or without what came before. */
  const withServer = async (more: Readonly<Record<string, string>>, work: () => Promise<void>) => {
    const shared = app;
    app = await startApp({ ...variables(), ...more });
    try {
      await work();
    } finally {
      await app.stop();
      app = shared;
    }
  };
  const variables = () => ({
    ...provider.variables,
    // A stop that waits for a hanging call takes as long.
    BACKGROUND_DRAIN_TIMEOUT_SECONDS: '40',
  });

  async function post(path: string, body: object): Promise<Answer> {
    const { status, headers, json } = await createWire(app.baseUrl).post(path, body);
    return { status, headers, body: json as Json };
  }
  const get = async (path: string) => (await (await fetch(`${app.baseUrl}${path}`)).json()) as unknown;
  const add = async (data: string, datasetName = notes) => {
    const { status, body } = await post('/add', { data, datasetName });
    expect(status).to.equal(200);
    return (body['data_ingestion_info'] as { data_id: string }[])[0]?.data_id ?? '';
  };
  const cognify = (more: object = {}) => post('/cognify', { datasets: [notes], ...more });
  const forget = (body: object) => post('/forget', { dataset: notes, ...body });
  const asked = (schema: string) => provider.requests.filter((request) => request.schema === schema).length;
  const graphCalls = () => asked('KnowledgeGraph');
  const runs = async () =>
    (await get(
      `/api/v1/activity/pipeline-runs?pipeline_name=cognify_pipeline&dataset_id=${await datasetId()}`,
    )) as Json[];
  const datasetId = async () =>
    ((await get('/api/v1/datasets')) as { id: string; name: string }[]).find(({ name }) => name === notes)?.id ?? '';
  const graph = async () =>
    (await get(`/api/v1/datasets/${await datasetId()}/graph`)) as { nodes: Json[]; edges: Json[] };

  describe('cognify', () => {
    it('uses the stored schema and prompt of the dataset where the request has none', async () => {
      await add('Alice met Bob.');
      const stored = { graph_schema: { title: 'Meeting', type: 'object' }, custom_prompt: 'Stored words.' };
      const url = `${app.baseUrl}/api/v1/datasets/${await datasetId()}/schema`;
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(url, { method: 'PUT', headers, body: JSON.stringify(stored) })).status).to.equal(200);
      await cognify();
      const asked = () => JSON.stringify(provider.requests.at(-1)?.body);
      expect(asked()).to.include('Stored words.').and.include('Meeting');
      await add('Carol met Dave.');
      await cognify({ customPrompt: 'Words of the run.' });
      expect(asked()).to.include('Words of the run.').and.include('Meeting').and.not.include('Stored words.');
      expect(await (await fetch(url)).json()).to.deep.equal(stored);
    });

    it('asks once per chunk, builds what the model said, and bills the run, the tenant and the metrics', () =>
      withServer({}, async () => {
        await add('Alice met Bob.');
        await add('Carol met Dave.');
        const { status, body } = await cognify();
        expect(status).to.equal(200);
        const [run] = Object.values(body) as { payload: Json }[];
        expect(run?.payload).to.include({ documents: 2, chunks: 2 });
        expect(provider.requests.map(({ schema }) => schema)).to.deep.equal(['KnowledgeGraph', 'KnowledgeGraph']);
        expect(provider.requests[0]?.headers).to.include({ authorization: 'Bearer sk-test' });
        const { nodes, edges } = await graph();
        expect(nodes.map(({ label }) => label)).to.include.members(['alice', 'bob', 'carol', 'dave']);
        expect(edges.filter(({ label }) => label === 'met')).to.have.length(2);
        const [ended, started] = await runs();
        expect(ended).to.include({ tokens_in: 20, tokens_out: 10, embedding_tokens: 0, outcome: 'succeeded' });
        expect(started).to.include({ tokens_in: null, tokens_out: null });
        const metrics = await (await fetch(`${app.baseUrl}/metrics`)).text();
        expect(metrics).to.match(/engram_model_tokens_total\{[^}]*model="custom\/scripted"[^}]*direction="input"\} 20/);
        expect(await get('/api/v1/activity/usage')).to.deep.include({
          models: [{ model: 'custom/scripted', calls: 2, inputTokens: 20, outputTokens: 10 }],
        });
      }));

    it('asks nothing again after the memory alone was forgotten, and costs no tokens then', async () => {
      const item = await add('Alice met Bob.');
      await cognify();
      for (const what of [{ memoryOnly: true }, { memoryOnly: true, dataId: item }]) {
        expect((await forget(what)).status).to.equal(200);
        expect((await graph()).nodes).to.deep.equal([]);
        expect((await cognify()).status).to.equal(200);
        expect((await graph()).nodes).to.have.length.above(2);
      }
      expect(graphCalls()).to.equal(1);
      expect((await runs())[0]).to.include({ tokens_in: 0, tokens_out: 0 });
    });

    it('asks nothing for the same text in a second item, but in another dataset', async () => {
      await add('Alice met Bob.');
      await cognify();
      const form = new FormData();
      form.append('data', new Blob(['Alice met Bob.\n']), 'another-name.txt');
      form.append('datasetName', notes);
      expect((await fetch(`${app.baseUrl}/api/v1/add`, { method: 'POST', body: form })).status).to.equal(200);
      const { body } = await cognify();
      expect(Object.values(body)[0]).to.have.nested.property('payload.documents', 1);
      expect(graphCalls()).to.equal(1);
      await add('Alice met Bob.', 'others');
      expect((await post('/cognify', { datasets: ['others'] })).status).to.equal(200);
      expect(graphCalls()).to.equal(2);
    });

    it('forgets the kept answers with the item that paid for them', async () => {
      const before = rowsOf(app.dataDir, 'c_model_cache');
      const item = await add('Alice met Bob.');
      await cognify();
      expect(rowsOf(app.dataDir, 'c_model_cache')).to.equal(before + 1);
      expect((await forget({ dataId: item })).status).to.equal(200);
      expect(rowsOf(app.dataDir, 'c_model_cache')).to.equal(before);
      await add('Alice met Bob.');
      await cognify();
      expect(graphCalls()).to.equal(2);
    });

    it('replaces the instruction by custom_prompt and asks again for another one', async () => {
      await add('Alice met Bob.');
      await cognify();
      for (const custom_prompt of ['Only rivers.', 'Only rivers.', 'Only cities.']) {
        await forget({ memoryOnly: true });
        await cognify({ custom_prompt });
      }
      expect(graphCalls()).to.equal(3);
      expect(provider.requests[1]?.system).to.equal('Only rivers.');
      expect(provider.requests[2]?.system).to.equal('Only cities.');
    });

    it('keeps the prompt that an item was built with when its content is updated, again and again', async () => {
      const item = await add('Alice met Bob.');
      await cognify({ custom_prompt: 'Only rivers.' });
      for (const text of ['Alice met Carol.', 'Alice met Dora.']) {
        const body = new FormData();
        body.append('data', new Blob([text]), 'notes.txt');
        const updated = await fetch(`${app.baseUrl}/api/v1/update?data_id=${item}`, { method: 'PATCH', body });
        expect(updated.status).to.equal(200);
        expect(provider.requests.at(-1)?.system).to.equal('Only rivers.');
      }
      expect(graphCalls()).to.equal(3);
    });

    it('leaves the model half of LLM_MAX_COMPLETION_TOKENS for its answer', () =>
      withServer({ LLM_MAX_COMPLETION_TOKENS: '80' }, async () => {
        await add(Array.from({ length: 40 }, (_, index) => `Alice met Bob ${index} times in the old town.`).join(' '));
        const { body } = await cognify();
        const { payload } = Object.values(body)[0] as { payload: { chunks: number } };
        expect(payload.chunks).to.be.above(8);
        expect(graphCalls()).to.equal(payload.chunks);
        expect((await runs())[0]).to.include({ tokens_in: 10 * payload.chunks });
      }));

    it('builds nodes and edges of a graph_model of the caller', async () => {
      const graph_model = {
        title: 'Company',
        type: 'object',
        properties: {
          name: { type: 'string' },
          employees: { type: 'array', items: { $ref: '#/$defs/Person' } },
        },
        required: ['name'],
        $defs: {
          Person: {
            title: 'Person',
            type: 'object',
            properties: { name: { type: 'string' }, role: { type: 'string' } },
          },
        },
      };
      const instance = { name: 'Acme', employees: [{ name: 'Alice', role: 'engineer' }] };
      provider.answer = ({ schema }) =>
        schema === 'Company' ? completion(JSON.stringify({ summary: 'Acme.', graph: instance })) : undefined;
      await add('Alice is an engineer at Acme.');
      await cognify();
      await forget({ memoryOnly: true });
      expect((await cognify({ graph_model })).status).to.equal(200);
      expect(asked('Company')).to.equal(1);
      const { nodes, edges } = await graph();
      const labels = new Map(nodes.map(({ id, label }) => [id, label]));
      expect(nodes.map(({ label }) => label)).to.include.members(['acme', 'alice', 'company', 'person']);
      const employs = edges.filter(({ label }) => label === 'employees');
      expect(employs.map(({ source, target }) => [labels.get(source), labels.get(target)])).to.deep.equal([
        ['acme', 'alice'],
      ]);
    });
  });

  describe('when the provider refuses', () => {
    const budget = failure(429, {
      message: 'Budget has been exceeded! Current cost: 2, Max budget: 1.0',
      type: 'budget_exceeded',
    });
    const paid = failure(402, { message: 'no credit for sk-abcdefgh12345' });

    for (const [what, answer, sentence] of [
      ['budget_exceeded', budget, 'Budget has been exceeded! Current cost: 2, Max budget: 1.0'],
      ['402', paid, 'no credit for <redacted>'],
    ] as const) {
      it(`answers 402 on every route after ${what}, and nothing half-built is seen`, async () => {
        await add('Alice met Bob.');
        await cognify();
        await add('Carol met Dave.');
        provider.answer = () => answer;
        const failed = await cognify();
        expect(failed.status).to.equal(402);
        expect(failed.body).to.deep.equal({
          error: 'Token budget exhausted',
          detail: `LLMPaymentRequiredError: LLM budget exhausted: ${sentence} (Status code: 402)`,
        });
        const detail = `LLM budget exhausted: ${sentence} [LLMPaymentRequiredError]`;
        const remembered = await post('/remember', { data: 'Eve met Frank.', datasetName: notes });
        expect(remembered).to.deep.include({ status: 402, body: { detail } });
        for (const [path, body] of [
          ['/search', { searchType: 'GRAPH_COMPLETION' }],
          ['/recall', { searchType: 'HYBRID_COMPLETION' }],
        ] as const) {
          const answered = await post(path, { query: 'Who met Alice?', datasets: [notes], ...body });
          expect(answered).to.deep.include({ status: 402, body: { detail } });
        }
        expect((await runs())[0]).to.include({ outcome: 'failed', error_class: 'LLMPaymentRequiredError' });
        const labels = (await graph()).nodes.map(({ label }) => label);
        expect(labels).to.include('alice').and.not.include('carol');
        const lexical = { query: 'Carol Dave', searchType: 'CHUNKS_LEXICAL', datasets: [notes] };
        const found = (await post('/search', lexical)).body as unknown as Json[];
        expect(JSON.stringify(found)).to.not.include('Carol');
        provider.answer = () => undefined;
        expect((await cognify()).status).to.equal(200);
        expect((await graph()).nodes.map(({ label }) => label)).to.include('carol');
      });
    }

    it('answers 429 with Retry-After when throttling outlives the retries', async () => {
      await add('Alice met Bob.');
      provider.answer = () => failure(429, { message: 'slow down' }, QUICK);
      const failed = await cognify();
      expect(failed.status).to.equal(429);
      expect(Number(failed.headers.get('retry-after'))).to.be.above(0);
      expect(failed.body).to.deep.equal({
        detail: 'the model provider is throttling: slow down [TooManyRequestsError]',
      });
      expect(graphCalls()).to.equal(5);
      const remembered = await post('/remember', { data: 'Eve met Frank.', datasetName: notes });
      expect([remembered.status, remembered.headers.has('retry-after')]).to.deep.equal([429, true]);
      provider.answer = () => undefined;
      await cognify();
      provider.answer = () => failure(429, { message: 'slow down' }, QUICK);
      const search = await post('/search', { query: 'Who met Alice?', datasets: [notes] });
      expect([search.status, search.headers.get('retry-after')]).to.deep.equal([429, '1']);
    });

    it('says clearly that the provider is down, in the answer and in the run', async () => {
      await add('Alice met Bob.');
      provider.answer = () => ({ status: 500, headers: QUICK, body: { error: { message: 'key sk-abcdefgh12345' } } });
      const failed = await cognify();
      expect(failed.status).to.equal(503);
      expect(failed.body).to.deep.equal({ detail: 'the model provider failed (500) [ServiceUnavailableError]' });
      const statuses = (await get(`/api/v1/datasets/status?dataset=${await datasetId()}`)) as Json;
      expect(Object.values(statuses)).to.deep.equal(['DATASET_PROCESSING_ERRORED']);
      const marker = (await post('/recall', { query: 'Alice', datasets: [notes] })).body as unknown as Json[];
      expect(marker[0]).to.include({ status: 'build_failed', error_class: 'ServiceUnavailableError' });
    });

    it('keeps what was paid for when a later chunk fails', async () => {
      await add('Alice met Bob.');
      await add('Carol met Dave.');
      provider.answer = ({ prompt }) => (prompt.includes('Carol') ? { ...paid, delayMs: 50 } : undefined);
      expect((await cognify()).status).to.equal(402);
      provider.answer = () => undefined;
      expect((await cognify()).status).to.equal(200);
      const texts = provider.requests.map(({ prompt }) => (prompt.includes('Alice') ? 'Alice' : 'Carol'));
      expect(texts.filter((text) => text === 'Alice')).to.have.length(1);
    });
  });

  describe('answers', () => {
    const question = () => ({ query: 'Who met Alice?', datasets: [notes] });
    const answers = () =>
      provider.requests.filter(({ schema, path }) => schema === '' && path.endsWith('/completions'));

    beforeEach(async () => {
      await add('Alice met Bob.');
      await cognify();
    });

    for (const searchType of ['GRAPH_COMPLETION', 'RAG_COMPLETION', 'HYBRID_COMPLETION', 'TRIPLET_COMPLETION']) {
      it(`of ${searchType} take one call with the context, and only_context none`, async () => {
        const { body } = await post('/search', { ...question(), searchType });
        const [entry] = body as unknown as Json[];
        expect(JSON.stringify(entry?.['search_result'] ?? entry)).to.include('The model says so.');
        expect(answers()).to.have.length(1);
        expect(answers()[0]?.prompt).to.include('Who met Alice?').and.include('Alice');
        const context = await post('/search', { ...question(), searchType, onlyContext: true });
        expect(JSON.stringify(context.body)).to.include('Alice');
        expect(answers()).to.have.length(1);
      });
    }

    it('of types that only find take none', async () => {
      for (const searchType of ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES']) {
        expect((await post('/search', { ...question(), searchType })).status).to.equal(200);
      }
      expect(answers()).to.have.length(0);
    });

    it('honour system_prompt, and quote their evidence when asked', async () => {
      provider.answer = ({ schema }) => (schema === '' ? completion('Alice met Bob once.') : undefined);
      const more = { searchType: 'RAG_COMPLETION', systemPrompt: 'Answer like a pirate.', includeReferences: true };
      const { body } = await post('/recall', { ...question(), ...more });
      const [item] = body as unknown as Json[];
      expect(answers()[0]?.system).to.equal('Answer like a pirate.');
      expect(item?.['text']).to.match(
        /^Alice met Bob once\.\n\nEvidence:\n- chunk 1 of document Alice met Bob\. \(data_id: [\w-]{36}, chunk_id: [\w-]{36}\): "Alice met Bob\."$/,
      );
    });

    it('are objects of the schema that recall was given', async () => {
      provider.answer = ({ schema }) => (schema === 'Meeting' ? completion('{"who":"Bob","year":null}') : undefined);
      const responseSchema = {
        title: 'Meeting',
        type: 'object',
        properties: { who: { type: 'string', minLength: 1 }, year: { type: 'integer' } },
        required: ['who'],
      };
      const more = { searchType: 'GRAPH_COMPLETION', responseSchema, includeReferences: true };
      const { body } = await post('/recall', { ...question(), ...more });
      const [item] = body as unknown as Json[];
      expect(item).to.deep.include({
        kind: 'structured',
        structured: { who: 'Bob', year: null },
        raw: { who: 'Bob', year: null },
        text: '{"who":"Bob","year":null}',
      });
      expect(provider.requests.at(-1)?.body).to.have.nested.property('response_format.json_schema.strict', true);
      const refused = await post('/recall', { ...question(), responseSchema: { type: 'array' } });
      expect(refused.status).to.equal(422);
      expect(refused.body['detail']).to.include('[CogneeValidationError]');
    });

    it('come in stages when recall is streamed', async () => {
      const events = await stream({ ...question(), searchType: 'GRAPH_COMPLETION' });
      expect(events.map(({ event }) => event)).to.deep.equal(['stage', 'stage', 'final']);
      expect(events[1]?.data).to.deep.equal({ stage: 'generating' });
    });

    it('come in pieces with LLM_ANSWER_STREAMING', () =>
      withServer({ LLM_ANSWER_STREAMING: 'true' }, async () => {
        await add('Alice met Bob.');
        await cognify();
        const events = await stream({ ...question(), searchType: 'GRAPH_COMPLETION' });
        expect(events.map(({ event }) => event)).to.deep.equal(
          'stage stage delta delta delta answer_done final'.split(' '),
        );
        const pieces = events.filter(({ event }) => event === 'delta').map(({ data }) => data['text']);
        expect(pieces.join('')).to.equal('The model says so.');
        const results = (events.at(-1)?.data['results'] ?? []) as Json[];
        expect(results[0]).to.include({ text: 'The model says so.', kind: 'graph_completion' });
        const metrics = await (await fetch(`${app.baseUrl}/metrics`)).text();
        expect(metrics).to.match(/purpose="query",direction="output"\} 5/);
      }));

    async function stream(body: object): Promise<{ event: string; data: Json }[]> {
      const response = await fetch(`${app.baseUrl}/api/v1/recall`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, stream: true }),
      });
      const frames = (await response.text()).trim().split('\n\n');
      return frames.map((frame) => {
        const [, event = '', data = '{}'] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? [];
        return { event, data: JSON.parse(data) as Json };
      });
    }
  });

  describe('stopping', () => {
    it('ends a call under way at once and records CancelledError; the next start builds the item', () =>
      withServer({}, async () => {
        await add('Alice met Bob.');
        provider.answer = ({ schema }) => (schema === 'KnowledgeGraph' ? { hangs: true } : undefined);
        const { body } = await cognify({ run_in_background: true });
        expect(Object.values(body)[0]).to.have.property('status', 'PipelineRunStarted');
        await until('the model is asked for a graph', () => graphCalls() > 0);
        const { dataDir } = app;
        const aborted = provider.aborted();
        const begin = performance.now();
        await app.stop({ keepData: true });
        expect(performance.now() - begin).to.be.below(30_000);
        expect(provider.aborted()).to.equal(aborted + 1);
        provider.answer = () => undefined;
        app = await startApp(variables(), { dataDir });
        const [ended] = await runs();
        expect(ended).to.include({
          error_class: 'CancelledError',
          outcome: 'failed',
          status: 'DATASET_PROCESSING_ERRORED',
        });
        expect((await cognify()).status).to.equal(200);
        expect((await graph()).nodes.map(({ label }) => label)).to.include('alice');
      }));

    it('does not wait for a blocking request whose model hangs', () =>
      withServer({}, async () => {
        await add('Alice met Bob.');
        provider.answer = () => ({ hangs: true });
        const blocking = cognify().catch(() => null);
        await until('the model is asked for a graph', () => graphCalls() > 0);
        const begin = performance.now();
        await app.stop();
        expect(performance.now() - begin).to.be.below(30_000);
        const answer = await blocking;
        if (answer !== null) expect(answer.status).to.equal(500);
      }));
  });
});

function readStore<Row>(dataDir: string, sql: string): Row[] {
  const file = readdirSync(dataDir).find((name) => name === 'control.db') ?? '';
  const database = new DatabaseSync(join(dataDir, file), { readOnly: true });
  try {
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
}

function rowsOf(dataDir: string, table: string): number {
  return readStore<{ rows: number }>(dataDir, `SELECT count(*) AS rows FROM ${table}`)[0]?.rows ?? -1;
}

import { expect } from 'chai';
import { z } from 'zod';
import { principalOf, type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { defineRoute, json, type Route } from './route.ts';
import { NO_PERMISSION } from './route-permission.ts';
import {
  lenientBoolean,
  lenientInteger,
  lenientNumber,
  optional,
  optionalOrBlank,
  stringList,
  uuid,
  uuidList,
} from './schema.ts';
import type { ValidationItem } from './validation-error.ts';

const common = {
  tag: 'test',
  summary: 'A test route',
  permission: NO_PERMISSION,
  responses: {},
  auth: 'user',
} as const;

const named = z.string().superRefine((value, context) => {
  if (value.includes('@')) return;
  const params = { type: 'value_error', ctx: { reason: 'no sign' } };
  context.addIssue({ code: 'custom', message: 'value has no sign', params });
});

const searchSchema = z.object({
  query: z.string(),
  searchType: z.enum(['CHUNKS', 'SUMMARIES', 'CYPHER']).optional(),
  datasets: optional(stringList()),
  datasetIds: optional(uuidList()),
  topK: lenientInteger({ min: 1, max: 100 }).default(10),
  feedbackAlpha: lenientNumber({ min: 0 }).optional(),
  verbose: lenientBoolean().default(false),
  nested: z.object({ innerName: z.string().max(3) }).optional(),
  items: z.array(z.object({ itemId: lenientInteger() })).optional(),
  apiKey: z.string().min(100).optional(),
});

const routes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'POST',
    path: '/search',
    body: { kind: 'json', schema: searchSchema },
    handle: async ({ body }) => json(body),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/optional',
    body: { kind: 'json', schema: z.object({ name: z.string().optional() }), required: false },
    handle: async ({ body }) => json({ body: body ?? 'none' }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/datasets/:datasetId/data',
    params: z.object({ datasetId: uuid() }),
    query: z.object({
      limit: lenientInteger({ min: 1, max: 1000 }).default(100),
      offset: lenientInteger({ min: 0 }).default(0),
      dataset: z.array(uuid()).optional(),
      pipelineName: z.string().optional(),
    }),
    handle: async ({ params, query }) => json({ params, query }),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/register',
    body: { kind: 'json', schema: z.object({ email: named, password: z.string() }) },
    handle: async ({ body }) => json(body.email),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/login',
    whenInvalid: () => ({ status: 400, json: { detail: 'LOGIN_BAD_CREDENTIALS' } }),
    body: { kind: 'form', schema: z.object({ username: z.string(), password: z.string() }) },
    handle: async ({ body }) => json(body),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/add',
    body: {
      kind: 'any',
      schema: z.object({
        data: z.union([z.string(), z.array(z.string())]).optional(),
        datasetId: z.union([uuid(), z.literal('')]).optional(),
        node_set: stringList().optional(),
        runInBackground: lenientBoolean().default(false),
        chunkSize: optionalOrBlank(lenientInteger()),
      }),
      files: ['data'],
    },
    handle: async ({ body }) => json(body),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/entry',
    body: {
      kind: 'json',
      schema: z.object({
        entry: z.discriminatedUnion('type', [
          z.object({ type: z.literal('qa'), questionText: z.string() }),
          z.object({ type: z.literal('trace'), originFunction: z.string() }),
        ]),
      }),
    },
    handle: async ({ body }) => json(body),
  }),
];

interface Invalid {
  readonly detail: readonly ValidationItem[];
  readonly body: unknown;
}

describe('request validation', () => {
  let app: RunningApp;
  before(async () => {
    const caller = { principal: principalOf('user'), required: false, posture: 'open' };
    app = await runApp({ routes, authenticate: async () => caller });
  });
  after(() => app.stop());

  async function invalid(answer: Promise<Response>): Promise<Invalid> {
    const response = await answer;
    expect(response.status).to.equal(400);
    return (await response.json()) as Invalid;
  }
  const kinds = ({ detail }: Invalid) => detail.map(({ type, loc }) => `${type} ${loc.join('.')}`);
  const accepted = async (answer: Promise<Response>) => {
    const response = await answer;
    expect(response.status).to.equal(200);
    return (await response.json()) as Record<string, unknown>;
  };

  it('takes camelCase and snake_case at every depth, camelCase winning', async () => {
    const body = {
      query: 'q',
      search_type: 'CHUNKS',
      top_k: 3,
      topK: 4,
      dataset_ids: ['3FA85F64-5717-4562-B3FC-2C963F66AFA6'],
      nested: { inner_name: 'abc' },
      items: [{ item_id: 1 }, { itemId: '2' }],
      unknown_field: 1,
    };
    expect(await accepted(app.post('/search', body))).to.deep.equal({
      query: 'q',
      searchType: 'CHUNKS',
      topK: 4,
      datasetIds: ['3fa85f64-5717-4562-b3fc-2c963f66afa6'],
      nested: { innerName: 'abc' },
      items: [{ itemId: 1 }, { itemId: 2 }],
      verbose: false,
    });
  });

  it('is lenient with numbers and booleans, and takes null for optional lists', async () => {
    const body = { query: 'q', topK: '7', feedback_alpha: '0.5', verbose: 'YES', datasets: null };
    expect(await accepted(app.post('/search', body))).to.include({ topK: 7, feedbackAlpha: 0.5, verbose: true });
    for (const [word, value] of [
      ['on', true],
      ['1', true],
      [0, false],
      ['Off', false],
    ] as const) {
      expect(await accepted(app.post('/search', { query: 'q', verbose: word }))).to.include({ verbose: value });
    }
  });

  it('reports every fault in the order of the schema with the spelling of the client', async () => {
    const body = {
      query: 1,
      top_k: 'x',
      searchType: 'NOPE',
      datasets: 'a',
      verbose: 'maybe',
      dataset_ids: ['zz', 1],
      nested: { inner_name: 'long' },
      items: [{}],
    };
    const answer = await invalid(app.post('/search', body));
    expect(kinds(answer)).to.deep.equal([
      'string_type body.query',
      'enum body.searchType',
      'list_type body.datasets',
      'uuid_parsing body.dataset_ids.0',
      'uuid_type body.dataset_ids.1',
      'int_parsing body.top_k',
      'bool_parsing body.verbose',
      'string_too_long body.nested.inner_name',
      'missing body.items.0.itemId',
    ]);
    expect(answer.detail[1]).to.deep.equal({
      type: 'enum',
      loc: ['body', 'searchType'],
      msg: "Input should be 'CHUNKS', 'SUMMARIES' or 'CYPHER'",
      input: 'NOPE',
      ctx: { expected: "'CHUNKS', 'SUMMARIES' or 'CYPHER'" },
    });
    expect(answer.detail[3]).to.deep.include({ input: 'zz', ctx: { error: 'invalid character: found `z` at 0' } });
    expect(answer.body).to.deep.equal(body);
  });

  it('names bounds, fractions and missing fields as the contract does', async () => {
    const low = await invalid(app.post('/search', { query: 'q', topK: 0 }));
    expect(low.detail).to.deep.equal([
      {
        type: 'greater_than_equal',
        loc: ['body', 'topK'],
        msg: 'Input should be greater than or equal to 1',
        input: 0,
        ctx: { ge: 1 },
      },
    ]);
    expect(kinds(await invalid(app.post('/search', { query: 'q', topK: 1e9 })))).to.deep.equal([
      'less_than_equal body.topK',
    ]);
    expect(kinds(await invalid(app.post('/search', { query: 'q', topK: 1.5 })))).to.deep.equal([
      'int_from_float body.topK',
    ]);
    expect(kinds(await invalid(app.post('/search', { query: 'q', topK: {} })))).to.deep.equal(['int_type body.topK']);
    expect(await invalid(app.post('/search', {}))).to.deep.equal({
      detail: [{ type: 'missing', loc: ['body', 'query'], msg: 'Field required', input: {} }],
      body: {},
    });
  });

  it('refuses a list of very many ids without looking at them', async () => {
    const answer = await invalid(app.post('/search', { query: 'q', datasetIds: Array(20_000).fill('0') }));
    expect(kinds(answer)).to.deep.equal(['too_long body.datasetIds']);
    expect((answer.detail[0] as { ctx: unknown }).ctx).to.deep.equal({
      field_type: 'List',
      max_length: 10_000,
      actual_length: 20_000,
    });
    // What is sent back of it does not grow with it either.
    expect((answer.body as { datasetIds: unknown[] }).datasetIds).to.have.length(1001);
    const watched = new Proxy(Array(20_000).fill(''), {
      get(list, name) {
        if (/^\d+$/.test(String(name))) throw new Error('a value was looked at');
        return Reflect.get(list, name);
      },
    });
    expect(uuidList().safeParse(watched).success).to.equal(false);
    const ids = Array.from({ length: 10_000 }, () => crypto.randomUUID());
    expect(uuidList().parse(ids.map((id) => `urn:uuid:${id.toUpperCase()}`))).to.deep.equal(ids);
    expect(uuidList({ min: 1 }).safeParse([]).success).to.equal(false);
  });

  it('distinguishes no body, malformed JSON, another type and no object', async () => {
    const send = (body: string, type?: string) =>
      fetch(`${app.url}/search`, {
        method: 'POST',
        body: new Blob([body]),
        headers: type === undefined ? {} : { 'content-type': type },
      });
    expect(await invalid(send('', 'application/json'))).to.deep.equal({
      detail: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
      body: null,
    });
    const sentNull = await invalid(send('null', 'application/json'));
    expect(sentNull).to.deep.include({ body: null });
    expect(kinds(sentNull)).to.deep.equal(['model_attributes_type body']);
    expect(await invalid(send('{"a":}', 'application/json'))).to.deep.equal({
      detail: [
        {
          type: 'json_invalid',
          loc: ['body', 5],
          msg: 'JSON decode error',
          input: {},
          ctx: { error: 'Expecting value' },
        },
      ],
      body: '{"a":}',
    });
    expect(await invalid(send('{"query":"a"}', 'text/plain'))).to.deep.include({ body: '{"query":"a"}' });
    expect(kinds(await invalid(send('x=1', 'application/x-www-form-urlencoded')))).to.deep.equal([
      'model_attributes_type body',
    ]);
    expect(kinds(await invalid(send('[1]', 'application/json')))).to.deep.equal(['model_attributes_type body']);
    expect((await send('{"query":"a"}')).status).to.equal(200);
    expect((await send('\uFEFF{"query":"a"}', 'application/json; charset=utf-8')).status).to.equal(200);
    expect((await fetch(`${app.url}/optional`, { method: 'POST' })).status).to.equal(200);
  });

  it('refuses encoded bodies and bodies above the limit', async () => {
    const encoded = await app.post('/search', 'x', { 'content-encoding': 'gzip', 'content-type': 'application/json' });
    expect(encoded.status).to.equal(415);
    const large = await app.post('/search', { query: 'x'.repeat(2 ** 20) });
    expect(large.status).to.equal(413);
    expect(((await large.json()) as { detail: string }).detail)
      .to.include('1048576 bytes (ENGRAM_JSON_LIMIT_BYTES)')
      .and.include('[PayloadTooLargeError]');
  });

  it('checks path and query together, with a null body in the answer', async () => {
    const answer = await invalid(app.get('/datasets/zz/data?limit=0&offset=-1'));
    expect(answer).to.deep.equal({
      detail: [
        {
          type: 'uuid_parsing',
          loc: ['path', 'dataset_id'],
          msg: 'Input should be a valid UUID, invalid character: found `z` at 0',
          input: 'zz',
          ctx: { error: 'invalid character: found `z` at 0' },
        },
        {
          type: 'greater_than_equal',
          loc: ['query', 'limit'],
          msg: 'Input should be greater than or equal to 1',
          input: '0',
          ctx: { ge: 1 },
        },
        {
          type: 'greater_than_equal',
          loc: ['query', 'offset'],
          msg: 'Input should be greater than or equal to 0',
          input: '-1',
          ctx: { ge: 0 },
        },
      ],
      body: null,
    });
  });

  it('reads repeated query parameters as lists, single ones too, and UUIDs in any spelling', async () => {
    const plain = '3fa85f6457174562b3fc2c963f66afa6';
    const canonical = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
    const path = `/datasets/urn:uuid:${canonical}/data?dataset=${plain}&limit=5&limit=6&pipeline_name=p`;
    expect(await accepted(app.get(path))).to.deep.equal({
      params: { datasetId: canonical },
      query: { limit: 6, offset: 0, dataset: [canonical], pipelineName: 'p' },
    });
  });

  it('masks secrets in the echo, in raw text too', async () => {
    const secret = 'geheim-geheim';
    const answers = [
      await app.post('/register', { email: 'a', password: secret }),
      await app.post('/search', { api_key: secret, query: 'q' }),
      await app.post('/search', `{"password": "${secret}", `, { 'content-type': 'application/json' }),
      await app.post('/search', `token=${secret}&x=1`, { 'content-type': 'text/plain' }),
    ];
    for (const answer of answers) {
      expect(answer.status).to.equal(400);
      expect(await answer.text())
        .to.include('**********')
        .and.not.include(secret);
    }
  });

  it('reads urlencoded forms: both casings, repeated fields, blank means not given', async () => {
    const form = (text: string) => app.post('/add', text, { 'content-type': 'application/x-www-form-urlencoded' });
    const text = 'data=a&data=b&node_set=x&run_in_background=true&chunk_size=&dataset_id=';
    expect(await accepted(form(text))).to.deep.equal({ data: ['a', 'b'], node_set: ['x'], runInBackground: true });
    expect(await accepted(form('data=a&nodeSet='))).to.deep.equal({
      data: 'a',
      node_set: [''],
      runInBackground: false,
    });
    expect(await accepted(app.post('/add', { data: ['a'], dataset_id: '' }))).to.deep.include({
      data: ['a'],
      datasetId: '',
    });
  });

  it('reads the variants of a tagged union in both casings', async () => {
    expect(await accepted(app.post('/entry', { entry: { type: 'trace', origin_function: 'f' } }))).to.deep.equal({
      entry: { type: 'trace', originFunction: 'f' },
    });
    expect(kinds(await invalid(app.post('/entry', { entry: { type: 'qa' } })))).to.deep.equal([
      'missing body.entry.qa.questionText',
    ]);
    const other = await invalid(app.post('/entry', { entry: { type: 'other' } }));
    expect(kinds(other)).to.deep.equal(['union_tag_invalid body.entry']);
    expect(other.detail[0]?.ctx).to.deep.equal({
      discriminator: "'type'",
      tag: 'other',
      expected_tags: "'qa', 'trace'",
    });
    for (const type of [{ toString: 1 }, ['qa'], 1, null, 'x'.repeat(50_000)]) {
      const unnamed = await invalid(app.post('/entry', { entry: { type } }));
      expect(kinds(unnamed)).to.deep.equal(['union_tag_invalid body.entry']);
      expect(unnamed.detail[0]?.msg).to.have.length.below(1000);
    }
    expect(kinds(await invalid(app.post('/entry', { entry: {} })))).to.deep.equal(['union_tag_not_found body.entry']);
    expect(kinds(await invalid(app.post('/entry', { entry: 1 })))).to.deep.equal(['model_attributes_type body.entry']);
  });

  it('survives hostile objects: prototypes, a million brackets, enormous echoes', async () => {
    const polluted = await app.post('/search', '{"__proto__":{"x":1},"query":"q","constructor":1}', {
      'content-type': 'application/json',
    });
    expect(polluted.status).to.equal(200);
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
    const deep = await app.post('/search', '['.repeat(300_000), { 'content-type': 'application/json' });
    expect(deep.status).to.equal(400);
    const nested = await app.post('/search', `{"query":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, {
      'content-type': 'application/json',
    });
    expect(nested.status).to.equal(400);
    const echo = await app.post('/search', { query: 1, padding: 'x'.repeat(500_000) });
    expect(echo.status).to.equal(400);
    expect((await echo.text()).length).to.be.lessThan(50_000);
  });
});

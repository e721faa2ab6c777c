import { expect } from 'chai';
import { z } from 'zod';
import { type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { createHealth } from './health.ts';
import type { ComponentStatus, HealthCheck } from './health-probe.ts';
import { defineRoute, json, type Route } from './route.ts';
import { onDatasets } from './route-permission.ts';
import { lenientInteger, optional, stringList, uuid } from './schema.ts';

const common = {
  tag: 'datasets',
  permission: onDatasets('read'),
  auth: 'user',
  handle: async () => json(null),
} as const;

const item = z.object({ id: z.string(), of: z.string().default('none') }).meta({ id: 'Item' });

const routes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/datasets/:datasetId/data',
    summary: 'List data',
    params: z.object({ datasetId: uuid() }),
    query: z.object({ limit: lenientInteger({ min: 1, max: 1000 }).default(100), name: optional(z.string()) }),
    responses: { 200: { description: 'The items', schema: z.array(item) } },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/add',
    tag: 'add',
    summary: 'Add data',
    deprecated: true,
    body: {
      kind: 'any',
      schema: z.object({ datasetName: z.string(), node_set: optional(stringList()) }),
      files: ['data'],
    },
    responses: { 200: { description: 'Added', schema: z.object({ item: item.optional() }) } },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/hook',
    summary: 'Hidden',
    hidden: true,
    auth: 'none',
    responses: {},
  }),
];

function component(status: ComponentStatus, critical = true): HealthCheck {
  return { critical, check: async () => ({ status, provider: 'test', details: 'fine' }) };
}

describe('system routes', () => {
  let app: RunningApp;
  before(async () => {
    app = await runApp({
      routes,
      health: { relational_db: component('healthy'), llm_provider: component('healthy', false) },
    });
  });
  after(() => app.stop());

  it('says that it is alive, without credentials', async () => {
    const answer = await fetch(`${app.url}/`);
    expect(await answer.json()).to.deep.equal({ message: 'Hello, World, I am alive!' });
    expect(await (await fetch(`${app.url}/livez`)).json()).to.deep.equal({ status: 'alive' });
    expect((await fetch(`${app.url}/readyz`)).status).to.equal(200);
  });

  it('counts requests by template, not by path', async () => {
    await app.get('/api/v1/datasets/3fa85f64-5717-4562-b3fc-2c963f66afa6/data');
    await app.get('/made/up/path');
    const answer = await fetch(`${app.url}/metrics`);
    const text = await answer.text();
    expect(answer.headers.get('content-type')).to.match(/^text\/plain/);
    expect(text)
      .to.include('engram_http_requests_total{method="GET",route="/api/v1/datasets/:datasetId/data",status="200"} 1')
      .and.include('engram_http_request_duration_seconds_bucket')
      .and.include('route="unknown",status="404"')
      .and.include('process_resident_memory_bytes')
      .and.not.include('made/up');
  });

  it('shows metrics to nobody who comes through a proxy', async () => {
    const answer = await fetch(`${app.url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect([answer.status, await answer.json()]).to.deep.equal([404, { detail: 'Not Found' }]);
  });

  it('describes every visible route in OpenAPI 3.1', async () => {
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Record<string, unknown> & {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    expect(document).to.deep.include({ openapi: '3.1.0', security: [{ BearerAuth: [] }, { ApiKeyAuth: [] }] });
    expect(document['servers']).to.deep.equal([{ url: app.url }]);
    expect(document['info']).to.include({ title: 'Engram API', version: '1.0.0' });
    expect(Object.keys(document.paths)).to.have.members([
      '/api/v1/datasets/{dataset_id}/data',
      '/api/v1/add',
      '/',
      '/health',
      '/health/detailed',
    ]);
    const list = document.paths['/api/v1/datasets/{dataset_id}/data']?.['get'] ?? {};
    expect(list['tags']).to.deep.equal(['datasets']);
    expect(list['parameters']).to.deep.equal([
      {
        name: 'dataset_id',
        in: 'path',
        required: true,
        schema: (list['parameters'] as { schema: unknown }[])[0]?.schema,
      },
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
      },
      { name: 'name', in: 'query', required: false, schema: { type: ['string', 'null'] } },
    ]);
    expect(list['responses']).to.include.all.keys('200', '400', '401', '403', '422', '429', '500', '503');
    const add = document.paths['/api/v1/add']?.['post'] ?? {};
    expect(add['deprecated']).to.equal(true);
    const { content } = add['requestBody'] as {
      content: Record<string, { schema: { properties: object; required: unknown } }>;
    };
    // A generated client takes JSON where it is listed, and could not upload.
    expect(Object.keys(content)).to.deep.equal(['multipart/form-data']);
    expect(Object.keys(content['multipart/form-data']?.schema.properties ?? {})).to.deep.equal([
      'datasetName',
      'node_set',
      'data',
    ]);
    expect(content['multipart/form-data']?.schema.required).to.deep.equal(['datasetName']);
    expect(document.paths['/']?.['get']?.['security']).to.deep.equal([]);
    const { securitySchemes, schemas } = document['components'] as { securitySchemes: object; schemas: object };
    expect(Object.keys(schemas)).to.include.members(['Item', 'HTTPValidationError', 'HealthSummary']);
    expect(schemas).to.have.nested.property('Item.required').deep.equal(['id', 'of']);
    const { 200: listed } = list['responses'] as Record<number, { content: object }>;
    expect(listed?.content).to.deep.equal({
      'application/json': {
        schema: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
        example: [{ id: '5f88722c-101b-4e65-8dd9-b41b679c0235', of: 'none' }],
      },
    });
    expect(Object.keys(securitySchemes)).to.deep.equal(['BearerAuth', 'ApiKeyAuth']);
  });

  it('serves its page from itself alone: no inline script, no other host, every file there', async () => {
    for (const path of ['/docs', '/docs/', '/redoc']) {
      const answer = await fetch(app.url + path);
      const html = await answer.text();
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-security-policy')).to.include("script-src 'self';");
      expect(html)
        .to.not.match(/https?:\/\//)
        .and.not.match(/<script>/);
      for (const [, source = ''] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
        const file = await fetch(app.url + source);
        expect(file.status, source).to.equal(200);
        expect((await file.arrayBuffer()).byteLength).to.be.greaterThan(50);
      }
    }
    for (const path of ['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/constructor']) {
      expect((await fetch(app.url + path)).status, path).to.equal(404);
    }
  });
});

describe('health', () => {
  async function ask(health: Record<string, HealthCheck>, path: string) {
    const app = await runApp({ health });
    const start = performance.now();
    const answer = await fetch(app.url + path);
    const result = {
      status: answer.status,
      body: (await answer.json()) as Record<string, unknown>,
      tookMs: performance.now() - start,
    };
    await app.stop();
    return result;
  }

  it('is ready while the critical components are up, and looks at no other', async () => {
    let asked = 0;
    const model: HealthCheck = {
      critical: false,
      check: async () => {
        asked += 1;
        return { status: 'unhealthy', provider: 'openai', details: 'down' };
      },
    };
    const { status, body } = await ask({ relational_db: component('healthy'), llm_provider: model }, '/health');
    expect([status, body, asked]).to.deep.equal([200, { status: 'ready', health: 'healthy', version: '1.6.5' }, 0]);
  });

  it('stays ready when degraded, and answers 503 when a critical component is down', async () => {
    expect((await ask({ a: component('degraded') }, '/health')).body).to.include({
      status: 'ready',
      health: 'degraded',
    });
    const down = await ask({ a: component('healthy'), b: component('unhealthy') }, '/health');
    expect([down.status, down.body]).to.deep.equal([
      503,
      { status: 'not ready', health: 'unhealthy', version: '1.6.5' },
    ]);
    expect((await ask({ b: component('unhealthy') }, '/readyz')).status).to.equal(503);
    expect((await ask({ b: component('unhealthy') }, '/livez')).status).to.equal(200);
  });

  it('prints each component, and 503 for less than healthy', async () => {
    const { status, body } = await ask(
      { graph_db: component('healthy'), llm_provider: component('unhealthy', false) },
      '/health/detailed',
    );
    expect(status).to.equal(503);
    expect(body).to.include({ status: 'degraded', version: '1.6.5' });
    expect(body['timestamp']).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/);
    const { graph_db } = body['components'] as Record<string, Record<string, unknown>>;
    expect(graph_db).to.deep.include({ status: 'healthy', provider: 'test', details: 'fine' });
    expect(graph_db?.['response_time_ms']).to.be.a('number');
  });

  it('answers soon when a check hangs or throws, without its secrets', async () => {
    const hanging: HealthCheck = { critical: true, check: () => new Promise(() => {}) };
    const { status, tookMs } = await ask({ a: hanging }, '/health');
    expect(status).to.equal(503);
    expect(tookMs).to.be.lessThan(8_000);
    const throwing: HealthCheck = { critical: true, check: async () => Promise.reject(new Error('token=geheim12345')) };
    expect(JSON.stringify((await ask({ a: throwing }, '/health/detailed')).body)).to.not.include('geheim');
  });

  it('shares one result between many callers', async () => {
    let checks = 0;
    const counted: HealthCheck = {
      critical: true,
      check: async () => {
        checks += 1;
        return { status: 'healthy', provider: 'test', details: '' };
      },
    };
    const health = createHealth({ checks: { a: counted }, version: '1' });
    await Promise.all(Array.from({ length: 20 }, () => health.summary()));
    expect(checks).to.equal(1);
  });
});

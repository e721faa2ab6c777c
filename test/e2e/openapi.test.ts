import { expect } from 'chai';
import { z } from 'zod';
import { createAnswerCheck } from '../support/answer-check.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
type Schema = Readonly<Record<string, unknown>>;
interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}
interface Body {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
}
interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
  readonly security: readonly Readonly<Record<string, unknown>>[];
}
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Body>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

describe('the OpenAPI document', () => {
  let app: StartedApp;
  let document: Document;
  let operations: readonly (Operation & { readonly name: string; readonly path: string })[];

  before(async () => {
    app = await startApp();
    document = (await (await fetch(`${app.baseUrl}/openapi.json`)).json()) as Document;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, name: `${method} ${path}` })),
    );
  });
  after(() => app.stop());

  /** Bodies with their names: requests, answers and errors. */
  const bodies = () =>
    operations.flatMap(({ name, requestBody, responses }) => [
      ...(requestBody === undefined ? [] : [{ name: `${name} request`, body: requestBody }]),
      ...Object.entries(responses).map(([status, body]) => ({
        name: `${name} ${status}`,
        body: document.components.responses[body.$ref?.replace('#/components/responses/', '') ?? ''] ?? body,
      })),
    ]);
  const lacking = (isLacking: (operation: (typeof operations)[number]) => boolean) =>
    operations.filter(isLacking).map(({ name }) => name);

  it('gives every operation a summary, a tag with a description and a name of its own', () => {
    expect(lacking(({ summary }) => !/^[A-Z].{4,119}[^.]$/.test(summary))).to.deep.equal([]);
    const described = document.tags.filter(({ description }) => description !== undefined).map(({ name }) => name);
    expect(lacking(({ tags }) => tags.length !== 1 || !described.includes(tags[0] ?? ''))).to.deep.equal([]);
    // `operationId` of the route: client generators name their functions after it.
    expect(lacking(({ operationId }) => !/^[a-z][A-Za-z]+$/.test(operationId))).to.deep.equal([]);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).to.equal(operations.length);
    expect(document.tags.slice(0, 5).map(({ name }) => name)).to.deep.equal([
      ...['remember', 'recall', 'add', 'cognify', 'search'],
    ]);
  });

  it('has a schema that says something for every body, and describes all parameters of a path', () => {
    const mute = bodies().filter(({ name, body: { content = {} } }) => {
      const schemas = Object.values(content).map(({ schema }) => schema ?? {});
      if (schemas.length === 0) return !/ (204|302|304)$/.test(name);
      return schemas.some((schema) => !['$ref', 'type', 'anyOf', 'const'].some((key) => key in schema));
    });
    expect(mute.map(({ name }) => name)).to.deep.equal([]);
    expect(
      lacking(({ path, parameters = [] }) => {
        const named = parameters
          .filter((parameter) => parameter.in === 'path')
          .map((parameter) => `{${parameter.name}}`);
        return named.join() !== (path.match(/\{\w+\}/g) ?? []).join();
      }),
    ).to.deep.equal([]);
  });

  it('lists the errors of every operation, and the credentials that it takes', () => {
    const errors = ({ security, requestBody }: Operation) => [
      ...(security.length === 0 ? [] : ['401', '403', '429']),
      ...(requestBody === undefined ? [] : ['400', '413']),
      ...['500', '503'],
    ];
    expect(
      lacking((operation) => errors(operation).some((status) => operation.responses[status] === undefined)),
    ).to.deep.equal([]);
    const schemes = Object.keys(document.components.securitySchemes);
    expect(schemes).to.have.members(['BearerAuth', 'ApiKeyAuth']);
    expect(
      lacking(({ security }) => security.flatMap(Object.keys).some((scheme) => !schemes.includes(scheme))),
    ).to.deep.equal([]);
  });

  it('has an example for every request and answer in JSON, which is as its schema says', () => {
    const $defs = local(document.components.schemas);
    const readers = new Map<string, z.ZodType>();
    const readerOf = (schema: Schema = {}) => {
      const text = JSON.stringify(schema);
      const reader = readers.get(text) ?? z.fromJSONSchema({ ...(local(schema) as object), $defs } as JsonSchema);
      readers.set(text, reader);
      return reader;
    };
    const wrong = bodies().flatMap(({ name, body: { content = {} } }) =>
      Object.entries(content)
        .filter(([type]) => /json$|form/.test(type))
        .flatMap(([type, { schema, example }]) => {
          if (example === undefined) return [`${name} ${type}: no example`];
          const { error } = readerOf(schema).safeParse(example);
          return error === undefined ? [] : [`${name} ${type}: ${z.prettifyError(error)} ${JSON.stringify(example)}`];
        }),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('names the schemas that clients look for, and refers to none that is missing', () => {
    const names = Object.keys(document.components.schemas);
    expect(names).to.include.members([
      ...['QAEntry', 'TraceEntry', 'FeedbackEntry', 'SkillRunEntry', 'RememberEntryRequest', 'PipelineRunInfo'],
      ...['DatasetDTO', 'DataDTO', 'DataCountDTO', 'GraphDTO', 'SearchPayloadDTO', 'SearchResult', 'SearchType'],
      ...['RecallPayloadDTO', 'CognifyPayloadDTO', 'ImprovePayloadDTO', 'ImproveResult', 'UpdateResult', 'UserRead'],
      ...['HTTPValidationError', 'ValidationError'],
    ]);
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(referred.filter((name) => !names.includes(name ?? ''))).to.deep.equal([]);
    expect(JSON.stringify(document)).not.to.match(/"#\/\$defs|"#\/properties/);
  });

  it('names its server, and lists forms alone where files are uploaded', () => {
    expect(document.servers).to.deep.equal([{ url: app.baseUrl }]);
    for (const [path, method] of [
      ['/api/v1/add', 'post'],
      ['/api/v1/remember', 'post'],
      ['/api/v1/update', 'patch'],
    ] as const) {
      const content = document.paths[path]?.[method]?.requestBody?.content ?? {};
      expect(Object.keys(content), path).to.deep.equal(['multipart/form-data']);
    }
    const { Body_add_api_v1_add_post: add } = document.components.schemas as Record<string, { properties: object }>;
    expect(add?.properties).to.include.all.keys('data', 'raw_data', 'datasetName', 'datasetId', 'node_set', 'labels');
  });

  it('is what answers are held against: a field too many, one too few and another type are noticed', () => {
    const check = createAnswerCheck(document as unknown as Readonly<Record<string, unknown>>);
    const request = { method: 'GET', path: '/api/v1/datasets' };
    const row = { id: '5f88722c-101b-4e65-8dd9-b41b679c0235', name: 'n', createdAt: 't', updatedAt: null };
    const whole = { ...row, ownerId: row.id };
    const problem = (json: unknown, status = 200) =>
      check.problem(request, { status, contentType: 'application/json', json });
    expect(problem([whole])).to.equal(null);
    for (const wrong of [[row], [{ ...whole, more: 1 }], [{ ...whole, name: 1 }], whole]) {
      expect(problem(wrong)).to.match(/not as described/);
    }
    expect(problem([whole], 201)).to.match(/does not list this status/);
    expect(problem({ detail: 'no' }, 401)).to.equal(null);
    expect(problem({ message: 'no' }, 401)).to.match(/not as described/);
    expect(check.problem(request, { status: 200, contentType: 'text/html', json: undefined })).to.match(/is described/);
  });
});

/** References as `z.fromJSONSchema` looks them up. */
function local(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"#/$defs/'));
}

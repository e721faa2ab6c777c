import { expect } from 'chai';
import { createAnswerCheck } from '../support/answer-check.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

interface Content {
  readonly schema?: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

describe('the OpenAPI document', () => {
  let app: StartedApp;
  let document: Document;

  before(async () => {
    app = await startApp();
    document = (await (await fetch(`${app.baseUrl}/openapi.json`)).json()) as Document;
  });
  after(() => app.stop());

  it('has a schema for every successful answer that has a body', () => {
    const lacking: string[] = [];
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        for (const [status, { content = {} }] of Object.entries(responses)) {
          const isDescribed = Object.values(content).some(({ schema }) => schema !== undefined);
          if (status.startsWith('2') && status !== '204' && !isDescribed) lacking.push(`${method} ${path} ${status}`);
        }
      }
    }
    expect(lacking).to.deep.equal([]);
  });

  it('names the schemas that clients look for, and refers to none that is missing', () => {
    const names = Object.keys(document.components.schemas);
    expect(names).to.include.members([
      ...['QAEntry', 'TraceEntry', 'FeedbackEntry', 'SkillRunEntry', 'RememberEntryRequest', 'PipelineRunInfo'],
      ...['DatasetDTO', 'DataDTO', 'DataCountDTO', 'GraphDTO', 'SearchPayloadDTO', 'SearchResult', 'SearchType'],
      ...['RecallPayloadDTO', 'CognifyPayloadDTO', 'ImprovePayloadDTO', 'ImproveResult', 'UpdateResult', 'UserRead'],
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
    expect(check.problem(request, { status: 200, contentType: 'text/html', json: undefined })).to.match(/is described/);
  });
});

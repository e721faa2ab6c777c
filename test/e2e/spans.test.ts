import { expect } from 'chai';
import { PASSWORD, signIn, signUp } from '../support/accounts.ts';
import { completion, type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

interface WireSpan {
  readonly name: string;
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly start_time_ns: number;
  readonly end_time_ns: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}
interface WireTrace {
  readonly trace_id: string;
  readonly root_name: string;
  readonly span_count: number;
  readonly status: string;
  readonly spans: readonly WireSpan[];
}

const PARENT = 'b7ad6b7169203331';

describe('activity spans', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  let admin: Wire;
  let ann: Wire;
  let bob: Wire;
  let lastTrace = 0;

  before(async () => {
    provider = await startModelProvider(() => completion('Hello.'));
    app = await startApp({
      COGNEE_TRACING_ENABLED: 'true',
      REQUIRE_AUTHENTICATION: 'true',
      DEFAULT_USER_PASSWORD: PASSWORD,
      ...provider.variables,
    });
    admin = await signIn(app.baseUrl, 'default_user@example.com');
    ({ wire: ann } = await signUp(app.baseUrl, 'ann'));
    ({ wire: bob } = await signUp(app.baseUrl, 'bob'));
  });
  after(async () => {
    await app?.stop();
    await provider?.close();
  });

  /** A trace id that only this test has, and the headers that name it. */
  function newTrace() {
    lastTrace += 1;
    const id = lastTrace.toString(16).padStart(32, 'a');
    return { id, headers: { traceparent: `00-${id}-${PARENT}-01`, 'content-type': 'application/json' } };
  }
  async function traceOf(wire: Wire, id: string): Promise<WireTrace | undefined> {
    const { status, json } = await wire.get('/activity/spans');
    expect(status).to.equal(200);
    return (json as readonly WireTrace[]).find(({ trace_id: each }) => each === id);
  }

  it('show where the time of a request went, under the trace of the client', async () => {
    const { id, headers } = newTrace();
    expect((await ann.get('/datasets', headers)).status).to.equal(200);
    const trace = await traceOf(ann, id);
    expect(trace).to.include({ root_name: 'GET /api/v1/datasets', status: 'OK', span_count: trace?.spans.length });
    const [root, ...steps] = trace?.spans ?? [];
    expect(root).to.include({ name: 'GET /api/v1/datasets', parent_span_id: PARENT, status: 'OK', trace_id: id });
    expect(root?.attributes).to.include({ 'http.status_code': 200 });
    expect(steps.map(({ name }) => name)).to.include.members(['ask auth.Authenticate', 'documents.find']);
    const ids = new Set(trace?.spans.map(({ span_id: each }) => each));
    expect(steps.every(({ parent_span_id: parent }) => ids.has(parent ?? ''))).to.equal(true);
    expect(steps.every((step) => step.start_time_ns >= (root?.start_time_ns ?? Number.NaN))).to.equal(true);
    expect(Math.abs((root?.end_time_ns ?? 0) / 1e6 - Date.now())).to.be.lessThan(60_000);
  });

  it('follow a request into its run and to the model, and say nothing of what was written there', async () => {
    const { id, headers } = newTrace();
    await ann.post('/add', { data: 'Ada Lovelace met the Xenophon society.', datasetName: 'xylophones' });
    const cognified = await ann.post('/cognify', { datasets: ['xylophones'] }, headers);
    expect(cognified.status).to.be.oneOf([200, 500]);
    const trace = await traceOf(ann, id);
    const names = trace?.spans.map(({ name }) => name) ?? [];
    expect(names).to.include.members(['POST /api/v1/cognify', 'run cognify_pipeline', 'item', 'extract']);
    const call = trace?.spans.find(({ name }) => name === 'model language');
    expect(call?.attributes).to.include({ model: 'custom/scripted', purpose: 'extraction' });
    expect(JSON.stringify(trace)).to.not.match(/xenophon|xylophones|ann@example|Bearer|correct horse/i);
  });

  it('follow an improve into the background, stage by stage', async () => {
    const { id, headers } = newTrace();
    await ann.post('/remember/entry', {
      entry: { type: 'qa', question: 'Who?', answer: 'Ada.' },
      session_id: 's1',
      dataset_name: 'sessions',
    });
    const body = { datasetName: 'sessions', sessionIds: ['s1'], runInBackground: true };
    expect((await ann.post('/improve', body, headers)).status).to.equal(200);
    const namesNow = async () => (await traceOf(ann, id))?.spans.map(({ name }) => name) ?? [];
    await until('the end of the improve', async () => (await namesNow()).includes('run improve'));
    expect(await namesNow()).to.include.members(['POST /api/v1/improve', 'stage feedback_weights']);
  });

  it('are those of the caller and its agents; a superuser sees everybody', async () => {
    const { id, headers } = newTrace();
    const { agentApiKey: key } = (await ann.post('/agents/create?name=my-bot')).json;
    await createWire(app.baseUrl, { 'x-api-key': key }).get('/datasets', headers);
    // The same trace id, by somebody else.
    await bob.get('/users/me', headers);
    const roots = async (wire: Wire) =>
      (await traceOf(wire, id))?.spans
        .filter(({ parent_span_id: parent }) => parent === PARENT)
        .map(({ name }) => name);
    expect(await roots(ann)).to.deep.equal(['GET /api/v1/datasets']);
    expect(await roots(bob)).to.deep.equal(['GET /api/v1/users/me']);
    expect(await roots(admin)).to.have.members(['GET /api/v1/datasets', 'GET /api/v1/users/me']);
  });

  it('are of the tenant that the caller works in, and nothing for a limited key', async () => {
    const { id, headers } = newTrace();
    await bob.get('/datasets', headers);
    const { tenant_id: tenant } = (await bob.post('/permissions/tenants?tenant_name=bobs')).json;
    expect((await bob.post('/permissions/tenants/select', { tenant_id: tenant })).status).to.equal(200);
    expect(await traceOf(bob, id)).to.equal(undefined);
    expect((await bob.post('/permissions/tenants/select', { tenant_id: null })).status).to.equal(200);
    expect(await traceOf(bob, id)).to.not.equal(undefined);
    const { key } = (await bob.post('/auth/api-keys', { name: 'reader', permissions: ['read'] })).json;
    expect((await createWire(app.baseUrl, { 'x-api-key': key }).get('/activity/spans')).status).to.equal(403);
    expect((await createWire(app.baseUrl).get('/activity/spans')).status).to.equal(401);
  });

  it('do not tell of looking at them, nor of probes', async () => {
    await fetch(`${app.baseUrl}/health`);
    await admin.get('/activity/spans');
    const names = ((await admin.get('/activity/spans')).json as readonly WireTrace[]).map((trace) => trace.root_name);
    expect(names.filter((name) => /spans|health/.test(name))).to.deep.equal([]);
  });
});

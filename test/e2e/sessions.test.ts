import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const PASSWORD = 'a password of tests';

describe('sessions', () => {
  let app: StartedApp;
  let ada: Wire;
  let grace: Wire;
  before(async () => {
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true' });
    [ada, grace] = [await person(app, 'ada'), await person(app, 'grace')];
  });
  after(() => app.stop());

  const remember = async (wire: Wire, session: string, question: string, dataset = 'main_dataset') => {
    const entry = { type: 'qa', question, answer: `answer to ${question}` };
    const answer = await wire.post('/remember/entry', { entry, session_id: session, dataset_name: dataset });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as { readonly entry_id: string; readonly dataset_id: string };
  };
  const names = async (wire: Wire, query = '') =>
    ((await wire.get(`/sessions${query}`)).json.sessions as { session_id: string }[]).map((row) => row.session_id);

  it('of two users with the same id are apart, and nobody sees the other’s', async () => {
    const { entry_id: id } = await remember(ada, 'same', 'Of Ada?');
    await remember(grace, 'same', 'Of Grace?');
    expect((await ada.get('/sessions/same')).json.qas.map((qa: { question: string }) => qa.question)).to.deep.equal([
      'Of Ada?',
    ]);
    const feedback = { type: 'feedback', qa_id: id, feedback_score: 1 };
    const stolen = await grace.post('/remember/entry', { entry: feedback, session_id: 'same' });
    expect(stolen.json).to.include({ status: 'errored' });
    expect((await ada.get('/sessions/same')).json.qas[0].feedback_score).to.equal(null);
    await remember(ada, 'only Ada’s', 'x');
    const foreign = await grace.get(`/sessions/${encodeURIComponent('only Ada’s')}`);
    expect([foreign.status, foreign.json]).to.deep.equal([404, { detail: 'session not found' }]);
    expect(await names(grace)).to.deep.equal(['same']);
  });

  it('are added up by people for who manages the users of their tenant, and for nobody else', async () => {
    const owner = await person(app, 'owner');
    const member = await person(app, 'member');
    const tenant = (await owner.post('/permissions/tenants?tenant_name=acme')).json.tenant_id;
    const { id } = (await member.get('/users/me')).json;
    expect((await owner.post(`/permissions/users/${id}/tenants?tenant_id=${tenant}`)).status).to.equal(200);
    expect((await member.post('/permissions/tenants/select', { tenant_id: tenant })).status).to.equal(200);
    await remember(member, 'in the tenant', 'Of the member?');
    await remember(owner, 'of the owner', 'Of the owner?');
    const people = async (wire: Wire) =>
      ((await wire.get('/sessions/cost-by-user-agent')).json as { user_email: string }[])
        .map((row) => row.user_email.split('-')[0])
        .sort();
    expect(await people(owner)).to.deep.equal(['member', 'owner']);
    expect(await people(member)).to.deep.equal(['member']);
    expect(await names(owner)).to.deep.equal(['of the owner']);
    expect((await owner.post(`/permissions/capabilities/${id}?capability=manage_users`)).status).to.equal(200);
    expect(await people(member)).to.deep.equal(['member', 'owner']);
    // In the own space there is nobody to manage.
    expect((await member.post('/permissions/tenants/select', { tenant_id: null })).status).to.equal(200);
    expect(await people(member)).to.deep.equal([]);
    expect(await people(grace)).to.deep.equal(['grace']);
  });

  it('of agents are seen by the account they work for, and not the other way round', async () => {
    const made = (await ada.post(`/agents/create?name=helper`)).json as { readonly agentApiKey: string };
    const agent = createWire(app.baseUrl, { 'x-api-key': made.agentApiKey });
    const registration = { agent_session_name: 'worker', type: 'codex', session_id: 'of the agent', source: 'mcp' };
    const connection = (await agent.post('/agents/register', registration)).json;
    await remember(agent, 'of the agent', 'Done?');
    const row = (await ada.get('/sessions/with-agent-info')).json.sessions.find(
      ({ session_id }: { session_id: string }) => session_id === 'of the agent',
    );
    expect(row).to.include({ agent_id: connection.id, agent_type: 'codex', agent_source: 'mcp' });
    expect(row).to.include({ agent_session_name: 'worker', effective_status: 'running' });
    expect(await names(agent)).to.deep.equal(['of the agent']);
    const own = (await agent.get('/agents/connections/me')).json;
    expect(own.recent_sessions).to.deep.equal([{ session_id: 'of the agent', user_id: row.user_id }]);
    expect(own.recent_qas.map((qa: { question: string }) => qa.question)).to.deep.equal(['Done?']);
    expect(own.recent_traces).to.deep.equal([]);
    expect((await agent.get('/sessions/same')).status).to.equal(404);
    expect((await grace.get('/sessions')).json.total).to.equal(1);
  });

  it('on a dataset are seen by whoever may read it', async () => {
    const { dataset_id: dataset } = await remember(ada, 'shared', 'Shared?', 'shared_notes');
    expect((await grace.get('/sessions/shared')).status).to.equal(404);
    const reader = (await grace.get('/users/me')).json.id as string;
    await ada.post(`/permissions/datasets/${reader}?permission_name=read`, [dataset]);
    expect((await grace.get('/sessions/shared')).json).to.include({ session_id: 'shared', label: 'Shared?' });
    expect(await names(grace)).to.deep.equal(['shared', 'same']);
    await ada.remove(`/permissions/datasets/${reader}?permission_name=read`, [dataset]);
    expect(await names(grace)).to.deep.equal(['same']);
  });

  it('go with their dataset, whosever they are, and with their user when everything is forgotten', async () => {
    const [one, other] = [await person(app, 'one'), await person(app, 'other')];
    const { dataset_id: dataset } = await remember(one, 'about it', 'x', 'to_forget');
    await remember(one, 'elsewhere', 'x', 'kept');
    const reader = (await other.get('/users/me')).json.id as string;
    await one.post(`/permissions/datasets/${reader}?permission_name=write`, [dataset]);
    const entry = { type: 'qa', question: 'foreign', answer: 'y' };
    await other.post('/remember/entry', { entry, session_id: 'on a shared one', dataset_id: dataset });
    await remember(other, 'own', 'x');
    const forgotten = await one.post('/forget', { dataset: 'to_forget' });
    expect(forgotten.status, forgotten.text).to.equal(200);
    expect(await names(one)).to.deep.equal(['elsewhere']);
    expect(await names(other)).to.deep.equal(['own']);
    await remember(one, 'memory', 'x', 'kept');
    const { dataset_id: kept } = await remember(one, 'memory', 'y', 'kept');
    await one.post('/forget', { dataset_id: kept, memory_only: true });
    expect(await names(one)).to.deep.equal([]);
    await remember(one, 'last', 'x', 'kept');
    expect((await one.post('/forget', { everything: true })).status).to.equal(200);
    expect(await names(one)).to.deep.equal([]);
    expect(await names(other)).to.deep.equal(['own']);
  });

  it('are listed by page, order and status, and counted', async () => {
    const one = await person(app, 'pages');
    for (const name of ['a', 'b', 'c']) await remember(one, name, name);
    const first = (await one.get('/sessions?limit=2')).json;
    expect(first).to.deep.include({ total: 3, limit: 2, offset: 0, has_more: true });
    expect(Object.keys(first.sessions[0])).to.deep.equal([
      ...['session_id', 'user_id', 'dataset_id', 'agent_id', 'status', 'started_at', 'last_activity_at', 'ended_at'],
      ...['tokens_in', 'tokens_out', 'cost_usd', 'embedding_tokens', 'embedding_cost_usd', 'error_count', 'last_model'],
      'effective_status',
    ]);
    expect(await names(one, '?limit=2')).to.deep.equal(['c', 'b']);
    expect(await names(one, '?limit=2&offset=2')).to.deep.equal(['a']);
    expect(await names(one, '?order_by=started_at&descending=false')).to.deep.equal(['a', 'b', 'c']);
    expect(await names(one, '?order_by=nonsense')).to.deep.equal(['c', 'b', 'a']);
    expect(await names(one, '?status=abandoned')).to.deep.equal([]);
    expect(await names(one, '?status=nonsense')).to.deep.equal([]);
    expect(await names(one, '?status=running&range=24h')).to.have.length(3);
    for (const query of ['?range=1d', '?limit=0', '?limit=501', '?offset=-1']) {
      expect((await one.get(`/sessions${query}`)).status, query).to.equal(400);
    }
    const statistics = (await one.get('/sessions/stats?range=7d')).json;
    expect(statistics).to.deep.include({
      range: '7d',
      sessions: 3,
      running: 3,
      abandoned: 0,
      completed: 0,
      failed: 0,
      success_rate: 1,
      total_spend_usd: 0,
      avg_spend_per_session_usd: 0,
      tokens_total: 0,
    });
    expect((await one.get('/sessions/cost-by-model')).json).to.deep.equal([]);
    const [cost] = (await one.get('/sessions/cost-by-user-agent')).json;
    expect(cost).to.include({ agent_type: 'unknown', session_count: 3, cost_usd: 0 });
    expect(cost.user_email).to.match(/^pages/);
  });
});

describe('remembering in a session', () => {
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp({ IMPROVE_AUTO_ENABLED: 'false' });
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  const form = (fields: readonly (readonly [string, string | Blob, string?])[]) => {
    const body = new FormData();
    for (const [name, value, file] of fields) {
      if (typeof value === 'string') body.append(name, value);
      else body.append(name, value, file);
    }
    return wire.form('/remember', body);
  };
  const answers = async (session: string) =>
    ((await wire.get(`/sessions/${session}`)).json.qas as { answer: string }[]).map(({ answer }) => answer);

  it('keeps texts and files of one call as one entry, and answers at once', async () => {
    const answer = await form([
      ...([
        ['datasetName', 'notes'],
        ['session_id', 'talk'],
        ['raw_data', 'hello'],
        ['raw_data', ' world '],
      ] as const),
      ['data', new Blob(['from a file\n']), 'memory.txt'],
    ]);
    expect(answer.status, answer.text).to.equal(200);
    const { dataset_id: dataset, elapsed_seconds: elapsed, ...rest } = answer.json;
    expect(elapsed).to.be.lessThan(10);
    expect(rest).to.deep.equal({
      status: 'session_stored',
      dataset_name: 'notes',
      pipeline_run_id: null,
      items_processed: 0,
      session_ids: ['talk'],
    });
    expect(await answers('talk')).to.deep.equal(['from a file\n\nhello\n\nworld']);
    expect((await wire.get('/sessions/talk')).json).to.deep.include({ dataset_id: dataset, label: null });
    expect((await wire.get(`/datasets/${dataset}/data`)).json).to.deep.equal([]);
  });

  it('takes JSON too', async () => {
    const body = { data: 'as JSON', datasetName: 'notes', session_id: 'json', self_improvement: false };
    expect((await wire.post('/remember', body)).json.status).to.equal('session_stored');
    expect(await answers('json')).to.deep.equal(['as JSON']);
  });

  it('refuses what is no text, another dataset and another node set, and keeps nothing of it', async () => {
    const binary = new Blob([new Uint8Array(300).map((_, index) => index % 7)]);
    const refused = await form([
      ...([
        ['datasetName', 'unmade'],
        ['session_id', 'binary'],
      ] as const),
      ['data', binary, 'a.bin'],
    ]);
    expect(refused.status).to.equal(415);
    expect(refused.json.detail).to.match(/\[UnreadableFileContentError\]$/);
    expect((await wire.get('/sessions/binary')).status).to.equal(404);
    const pinned = [
      ['datasetName', 'notes'],
      ['session_id', 'pinned'],
      ['raw_data', 'x'],
    ] as const;
    expect((await form([...pinned, ['node_set', 'b'], ['node_set', 'a']])).status).to.equal(200);
    const other = await form([...pinned, ['node_set', 'c']]);
    expect([other.status, other.json.detail]).to.deep.equal([
      409,
      "A session's node_set cannot change once pinned (pinned: ['a', 'b'], requested: ['c']); start a new session [SessionNodeSetConflictError]",
    ]);
    const elsewhere = await form([
      ['datasetName', 'others'],
      ['session_id', 'pinned'],
      ['raw_data', 'x'],
    ]);
    expect(elsewhere.status).to.equal(400);
    const large = await form([...pinned, ['data', new Blob(['x'.repeat(5_000_000)]), 'large.txt']]);
    expect(large.status).to.equal(413);
    expect(await answers('pinned')).to.deep.equal(['x']);
    const datasets = ((await wire.get('/datasets')).json as { name: string }[]).map(({ name }) => name);
    expect(datasets).to.not.include.members(['unmade']);
  });

  it('does not keep what an answer took from an item that is forgotten', async () => {
    const add = (data: string) => wire.post('/remember', { data, datasetName: 'secrets', self_improvement: false });
    const { dataset_id: dataset, items } = (await add('The vault of Quokkaville opens with the word zanzibar.')).json;
    await add('The bakery of Numbattown opens at seven in the morning.');
    const ask = (query: string) =>
      wire.post('/search', { query, search_type: 'GRAPH_COMPLETION', dataset_ids: [dataset], session_id: 'asking' });
    await ask('Which word opens the vault of Quokkaville?');
    await ask('When does the bakery of Numbattown open?');
    expect((await answers('asking')).join())
      .to.include('zanzibar')
      .and.include('seven');
    expect((await wire.remove(`/datasets/${dataset}/data/${items[0].id}`)).status).to.equal(200);
    const left = (await wire.get('/sessions/asking')).text;
    expect(left).to.not.include('zanzibar');
    expect(left).to.include('seven');
  });

  it('needs something to remember and a name for the session', async () => {
    expect(
      (
        await form([
          ['datasetName', 'notes'],
          ['session_id', 's'],
        ])
      ).status,
    ).to.equal(400);
    const blank = await form([
      ['datasetName', 'notes'],
      ['session_id', ' '],
      ['raw_data', 'x'],
    ]);
    expect(blank.json.detail).to.equal('session_id must be a non-empty string [SessionParameterValidationError]');
  });
});

async function person(app: StartedApp, name: string): Promise<Wire> {
  const email = `${name}-${Date.now().toString(36)}@example.com`;
  const nobody = createWire(app.baseUrl);
  await nobody.post('/auth/register', { email, password: PASSWORD });
  const form = new FormData();
  form.append('username', email);
  form.append('password', PASSWORD);
  const { access_token: token } = (await nobody.form('/auth/login', form)).json;
  return createWire(app.baseUrl, { authorization: `Bearer ${token}` });
}

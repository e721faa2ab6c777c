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
  const names = async (wire: Wire) =>
    ((await wire.get('/sessions')).json.sessions as { session_id: string }[]).map((row) => row.session_id);

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
});

describe('remembering in a session', () => {
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp({ IMPROVE_AUTO_ENABLED: 'false' });
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  const answers = async (session: string) =>
    ((await wire.get(`/sessions/${session}`)).json.qas as { answer: string }[]).map(({ answer }) => answer);

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

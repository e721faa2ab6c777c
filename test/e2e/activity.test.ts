import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('activity', () => {
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  it('shows the caller and its agents with what they did last, and nobody else', async () => {
    const { agentApiKey: key, agentId } = (await wire.post('/agents/create?name=my-bot')).json;
    const before = (await wire.get('/activity/agents')).json;
    expect(before).to.have.length(2);
    expect(before[0]).to.include({ is_default: true, is_agent: false, agent_type: 'Human User' });
    expect(before[1]).to.include({ id: agentId, agent_type: 'my bot', is_agent: true, api_key_count: 1 });
    expect(before[1]).to.include({ status: 'NEVER_CONNECTED', last_active: null, email: 'my-bot@cognee.agent' });
    const agent = createWire(app.baseUrl, { 'x-api-key': key });
    await agent.post('/remember/entry', { entry: { type: 'trace', origin_function: 'f' }, session_id: 's' });
    expect((await wire.get('/activity/agents')).json[1]).to.include({ status: 'LIVE' });
    expect((await agent.get('/activity/agents')).json).to.have.length(1);
    const users = (await wire.get('/activity/users')).json as { email: string }[];
    expect(users.map(({ email }) => email)).to.deep.equal(['default_user@example.com', 'my-bot@cognee.agent']);
  });

  it('counts somebody who adds, or who searched last, as active', async () => {
    const me = async () => (await wire.get('/activity/agents')).json[0];
    expect(await me()).to.include({ status: 'NEVER_CONNECTED', last_active: null });
    await wire.post('/remember', { data: 'Ada lives in London.', datasetName: 'mine' });
    const added = await me();
    expect(added).to.include({ status: 'LIVE' });
    expect((await wire.post('/recall', { query: 'Where does Ada live?', datasets: ['mine'] })).status).to.equal(200);
    expect(Date.parse((await me()).last_active)).to.be.greaterThan(Date.parse(added.last_active));
  });

  it('tells by which kind of client a run was begun', async () => {
    const cases = { cli: 'engram-cli', mcp: 'cognee-mcp/1.0', sdk: 'cognee/1.6.5 python', api: 'curl/8.5.0' };
    for (const [origin, agent] of Object.entries(cases)) {
      const headers = { 'content-type': 'application/json', 'user-agent': agent };
      const body = { data: `Written with ${agent}.`, datasetName: origin };
      const { json } = await wire.post('/remember', body, headers);
      const runs = (await wire.get(`/activity/pipeline-runs?dataset_id=${json.dataset_id}`)).json as {
        origin: string;
      }[];
      expect(runs.length).to.be.greaterThan(3);
      expect([...new Set(runs.map((run) => run.origin))]).to.deep.equal([origin]);
    }
  });

  it('exports the memory of a dataset as Markdown, in which nothing of a text is markup of a table', async () => {
    const text = 'Ada Lovelace worked with Charles | Babbage in London. Charles Babbage designed an engine in London.';
    const remembered = await wire.post('/remember', { data: text, datasetName: 'letters', self_improvement: false });
    expect(remembered.status, remembered.text).to.equal(200);
    const answer = await wire.get(`/activity/export/${remembered.json.dataset_id}`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('text/markdown; charset=utf-8');
    expect(answer.headers.get('content-disposition')).to.match(/^attachment; filename="letters-memory-export\.md"/);
    const lines = answer.text.split('\n');
    expect(lines[0]).to.equal('# Dataset: letters');
    expect(lines[2]).to.match(
      /^Exported: \w{3} \d{1,2}, \d{4} \d\d:\d\d UTC \| 1 documents \| \d+ entities \| \d+ rel/,
    );
    expect(lines.filter((line) => line.startsWith('## '))).to.include.members([
      ...['## Entities', '## Relationships', '## Documents'],
    ]);
    expect(answer.text).to.match(/\| ada lovelace \| /);
    const rows = lines.filter((line) => line.startsWith('| '));
    const columns = new Set(rows.map((line) => line.split(/(?<!\\)\|/).length));
    expect([...columns].toSorted()).to.deep.equal([4, 5]);
    expect((await wire.get('/activity/export/00000000-0000-4000-8000-000000000000')).status).to.equal(403);
  });
});

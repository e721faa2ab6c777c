import { expect } from 'chai';
import { PASSWORD, signIn, signUp } from '../support/accounts.ts';
import { LENDING_RUN } from '../support/skill-run.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const ADMIN = 'admin@example.com';

/** Lists for the pages of the console that the contract has no routes for. */
describe('routes of the console', () => {
  let app: StartedApp;
  let admin: Wire;
  let ada: Wire;
  let bob: Wire;
  const ids: Record<string, string> = {};

  before(async () => {
    const account = { DEFAULT_USER_EMAIL: ADMIN, DEFAULT_USER_PASSWORD: PASSWORD };
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true', ...account });
    [admin, ada, bob] = (await Promise.all([
      signIn(app.baseUrl, ADMIN),
      ...['ada', 'bob'].map(async (name) => {
        const { id, wire } = await signUp(app.baseUrl, name);
        ids[`${name}@example.com`] = id;
        return wire;
      }),
    ])) as [Wire, Wire, Wire];
    ids['notes'] = (await ada.post('/datasets', { name: 'notes' })).json.id;
  });
  after(() => app?.stop());

  it('list accounts page by page, for superusers only', async () => {
    const first = (await admin.get('/users?limit=2')).json;
    const second = (await admin.get(`/users?limit=2&after=${encodeURIComponent(first.next)}`)).json;
    const emails = [...first.users, ...second.users].map(({ email }: { email: string }) => email);
    expect(emails.sort()).to.deep.equal(['ada@example.com', ADMIN, 'bob@example.com']);
    expect(second.next).to.equal(null);
    expect((await ada.get('/users')).status).to.equal(403);
    await admin.post('/agents/create?name=helper');
    expect((await admin.get('/users')).json.users).to.have.length(3);
  });

  it('list who was granted what on a dataset, for those who may share it', async () => {
    const path = `/permissions/datasets/${ids['notes']}/principals`;
    const grant = `/permissions/datasets/${ids['bob@example.com']}?permission_name=read`;
    expect((await ada.post(grant, [ids['notes']])).status).to.equal(200);
    const held = (await ada.get(path)).json;
    expect(held).to.have.deep.members([
      {
        id: ids['ada@example.com'],
        kind: 'user',
        name: 'ada@example.com',
        permissions: ['read', 'write', 'delete', 'share'],
      },
      { id: ids['bob@example.com'], kind: 'user', name: 'bob@example.com', permissions: ['read'] },
    ]);
    expect((await bob.get(path)).status).to.equal(403);
    const key = (await ada.post('/auth/api-keys', { name: 'limited', datasets: [ids['notes']] })).json.key;
    const limited = await createWire(app.baseUrl, { 'x-api-key': key }).get(path);
    expect(limited.status).to.equal(403);
  });

  it('give back the bytes of an item as they were added, with a type that no browser runs', async () => {
    const content = '<html><body><p>Ada Berg founded the Harbour Library in Oslo.</p></body></html>';
    expect((await ada.upload('notes', { name: 'page.html', content })).status).to.equal(200);
    const [item] = (await ada.get(`/datasets/${ids['notes']}/data`)).json;
    const path = `/datasets/${ids['notes']}/data/${item.id}`;
    const original = await ada.get(`${path}/original`);
    expect(original.text).to.equal(content);
    expect(original.headers.get('content-type')).to.equal('application/octet-stream');
    expect(original.headers.get('content-disposition')).to.include('attachment; filename="page.html"');
    expect((await ada.get(`${path}/raw`)).text).to.not.include('<p>');
    expect((await bob.get(`${path}/original`)).status, 'a reader').to.equal(200);
    expect((await admin.get(`${path}/original`)).status).to.equal(403);
    expect((await ada.get(`/datasets/${ids['notes']}/data/${ids['notes']}/original`)).status).to.equal(404);
  });

  it('show the passages of the answers of a session, with reasons, until they are forgotten', async () => {
    await ada.upload('notes', { name: 'second.txt', content: 'The library lends violins and drums.' });
    expect((await ada.post('/cognify', { dataset_ids: [ids['notes']] })).status).to.equal(200);
    const ask = (query: string, explain: boolean) =>
      ada.post('/recall', {
        query,
        explain,
        datasetIds: [ids['notes']],
        searchType: 'GRAPH_COMPLETION',
        sessionId: 'talk',
        scope: 'graph',
      });
    const [answer] = (await ask('Who founded the Harbour Library?', true)).json;
    await ask('What does the library lend?', false);
    const [one, two] = (await ada.get('/recall/sources?session_id=talk')).json;
    const { via_entity: _, ...why } = answer.metadata.explain[0];
    expect(one.sources[0]).to.deep.include({ ...why, via_entity: null });
    expect(one.sources).to.have.length(answer.metadata.explain.length);
    expect(one).to.include({ dataset_id: ids['notes'], dataset_name: 'notes' });
    expect(two.sources.map(({ text }: { text: string }) => text)).to.deep.equal([
      'The library lends violins and drums.',
    ]);
    expect(two.sources[0]).to.not.have.property('lanes');
    expect((await admin.get('/recall/sources?session_id=talk')).status).to.equal(404);
    expect((await bob.get('/recall/sources?session_id=talk')).json, 'a reader of the dataset').to.have.length(2);
    const listed = (await ada.get('/sessions?labels=true')).json.sessions;
    expect(listed[0].label).to.equal('Who founded the Harbour Library?');
    const [second] = (await ada.get(`/datasets/${ids['notes']}/data`)).json;
    expect(second.name).to.equal('second');
    await ada.remove(`/datasets/${ids['notes']}/data/${second.id}`);
    const left = (await ada.get('/recall/sources?session_id=talk')).json;
    expect(JSON.stringify(left)).to.include('founded').and.not.include('violins');
  });

  it('list proposals for skills, and apply one', async () => {
    const dataset = ids['notes'];
    expect((await ada.get(`/proposals?dataset_id=${dataset}`)).json).to.deep.equal([]);
    const procedure = '---\ndescription: How to lend\n---\n1. Ask for the card.';
    await ada.post('/skills', { dataset_id: dataset, skill_name: 'lending', skills_text: procedure });
    const recorded = await ada.post('/remember/entry', {
      dataset_id: dataset,
      entry: LENDING_RUN,
      skill_improvement: {},
    });
    expect(recorded.status, recorded.text).to.equal(200);
    const [proposal] = (await ada.get(`/proposals?dataset_id=${dataset}`)).json;
    expect(proposal).to.include({ skill_name: 'lending', status: 'proposed', applied_at: null });
    expect((await admin.get(`/proposals?dataset_id=${dataset}`)).status).to.equal(403);
    const apply = `/proposals/${proposal.proposal_id}/apply?dataset_id=${dataset}`;
    expect((await bob.post(apply)).status, 'a reader').to.equal(403);
    for (const _ of ['first', 'again']) expect((await ada.post(apply)).json.status).to.equal('applied');
    const skill = (await ada.get(`/skills/${proposal.skill_id}?dataset_id=${dataset}`)).json;
    expect(skill.procedure).to.equal(proposal.proposed_procedure);
    expect((await ada.post(`/proposals/${ids['notes']}/apply?dataset_id=${dataset}`)).status).to.equal(404);
  });

  it('list the last syncs of the caller, and whether there is anything to sync with', async () => {
    expect((await ada.get('/sync/runs')).json).to.deep.equal({ has_remote: false, runs: [] });
    const { run_id: id } = (await ada.post('/sync', { datasetIds: [ids['notes']] })).json;
    const { runs } = (await ada.get('/sync/runs')).json;
    expect(runs.map((run: { run_id: string }) => run.run_id)).to.deep.equal([id]);
    expect(runs[0].dataset_names).to.deep.equal(['notes']);
    expect((await bob.get('/sync/runs')).json.runs).to.deep.equal([]);
  });
});

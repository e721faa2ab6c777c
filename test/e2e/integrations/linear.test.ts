import { expect } from 'chai';
import { startFakeLinear } from '../../support/fake-linear.ts';
import { connectAccount, settled, textsOf } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

type Linear = Awaited<ReturnType<typeof startFakeLinear>>;

const said = (id: string, user: string, body: string, at: string) => ({ id, user, body, createdAt: at, updatedAt: at });

describe('Linear', () => {
  let linear: Linear;
  let app: StartedApp;
  let wire: Wire;
  beforeEach(async () => {
    linear = await startFakeLinear();
    app = await startApp(linear.variables);
    wire = createWire(app.baseUrl);
  });
  afterEach(async () => {
    await app.stop();
    await linear[Symbol.asyncDispose]();
  });

  it('asks for the scopes of an agent, and brings in issues with their comments, and projects', async () => {
    const { id: team } = linear.team('ENG');
    const { id: secret } = linear.team('SEC');
    const remarks = Array.from({ length: 65 }, (_, index) =>
      said(`c${index}`, 'Grace', `Remark ${index}.`, new Date(Date.UTC(2026, 0, 2, 0, index)).toISOString()),
    );
    linear.issue(team, 'Engine stops', { comments: remarks.toReversed() });
    for (let number = 2; number <= 60; number += 1) linear.issue(number % 2 ? team : secret, `Fault ${number}`);
    const update = said('u1', 'Grace', 'The mill turns again.', '2026-02-01T00:00:00.000Z');
    linear.projects.push({
      id: 'p1',
      name: 'Analytical Engine',
      content: 'Built by Charles Babbage.',
      teams: [team, secret],
      updatedAt: '2026-01-09T00:00:00.000Z',
      updates: [update],
    });
    const { authorizeUrl } = (await wire.post('/integrations/linear/authorize')).json;
    expect(Object.fromEntries(new URL(authorizeUrl).searchParams)).to.include({
      client_id: 'client',
      redirect_uri: 'http://engram.test/callback',
      response_type: 'code',
      actor: 'app',
      scope: 'read,write,app:assignable,app:mentionable',
    });
    expect(await connectAccount(app.baseUrl, 'linear', linear.install)).to.equal(
      'http://console.test/integrations?linear=connected',
    );
    const state = await settled(wire, 'linear');
    expect(state).to.include({ syncStatus: 'ok', accountLabel: 'Acme Corp', datasetName: 'linear_acme_corp' });
    const texts = await textsOf(wire, state['datasetId']);
    expect(texts.size, 'a project of two teams is one item').to.equal(61);
    const engine = texts.get('Engine stops (ENG-1)') ?? '';
    expect(engine).to.contain('Issue ENG-1 of team Team ENG, In Progress.').and.contain('Assigned to: Charles.');
    expect(engine).to.contain('Labels: bug.').and.contain('Due: 2026-03-01.');
    const order = [...engine.matchAll(/Remark (\d+)\./g)].map(([, number]) => Number(number));
    expect(order, 'in order, over several pages').to.deep.equal(remarks.map((_, index) => index));
    expect(texts.get('Analytical Engine (project)'))
      .to.contain('Babbage')
      .and.contain('Grace on 2026-02-01 (on track)');
    const { json } = await wire.get('/integrations/linear/resources');
    expect(json.selected).to.equal(null);
    expect(json.resources.map((one: { attributes: object }) => one.attributes)).to.deep.equal([
      { key: 'ENG', private: false },
      { key: 'SEC', private: true },
    ]);
    const asked = linear.queries.filter((query) => query.includes('entry: issue'));
    expect(asked.length, 'issues come with their page, but for the comments after the tenth').to.be.lessThan(5);
    await until('an answer', async () => {
      const asked = { query: 'Who built the Analytical Engine?', search_type: 'CHUNKS' };
      return JSON.stringify((await wire.post('/search', asked)).json).includes('Babbage');
    });
  });

  it('follows webhooks: changed, moved, trashed and archived issues, and comments that are deleted', async () => {
    const { id: team } = linear.team('ENG');
    const { id: other } = linear.team('OPS');
    const comment = said('c1', 'Grace', 'The gear is worn.', '2026-01-02T00:00:00.000Z');
    const engine = linear.issue(team, 'Engine stops', { comments: [comment] });
    const lamp = linear.issue(team, 'Lamp flickers');
    const steam = linear.issue(team, 'Steam escapes');
    const wheel = linear.issue(team, 'Wheel squeaks');
    await connectAccount(app.baseUrl, 'linear', linear.install);
    let state = await settled(wire, 'linear');
    const at = '2026-03-01T00:00:00.000Z';
    engine.comments.pop();
    Object.assign(lamp, { title: 'Lamp is out', updatedAt: at });
    Object.assign(steam, { team: other, identifier: 'OPS-1', updatedAt: at });
    Object.assign(wheel, { archivedAt: at, trashed: true });
    linear.issue(team, 'Belt slips', { archivedAt: '2026-02-01T00:00:00.000Z' });
    const removed = { type: 'Comment', action: 'remove', data: { id: 'c1', issue: { id: engine.id, teamId: team } } };
    expect((await linear.deliver(app.baseUrl, removed, { id: 'one' })).status).to.equal(200);
    const moved = {
      type: 'Issue',
      action: 'update',
      data: { id: steam.id, teamId: other },
      updatedFrom: { teamId: team },
    };
    const answer = await linear.deliver(app.baseUrl, moved);
    expect([answer.status, await answer.json()]).to.deep.equal([200, { ok: true }]);
    await until('all of it', async () => {
      state = await settled(wire, 'linear');
      const names = [...(await textsOf(wire, state['datasetId'])).keys()].toSorted();
      return names.join() === 'Belt slips (ENG-5),Engine stops (ENG-1),Lamp is out (ENG-2),Steam escapes (OPS-1)';
    });
    const texts = await textsOf(wire, state['datasetId']);
    expect(texts.get('Engine stops (ENG-1)')).not.to.contain('gear');
    expect(texts.get('Belt slips (ENG-5)')).to.contain('Archived on 2026-02-01.');
    const asked = linear.queries.length;
    await linear.deliver(app.baseUrl, removed, { id: 'one' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(linear.queries.length, 'a repeated delivery starts nothing').to.equal(asked);
  });

  it('answers who mentions the app from the memory of the user who connected it', async () => {
    const { id: team } = linear.team('ENG');
    linear.issue(team, 'Engine', { description: 'The Analytical Engine was designed by Charles Babbage.' });
    await connectAccount(app.baseUrl, 'linear', linear.install);
    await settled(wire, 'linear');
    await until('the memory', async () => {
      const asked = { query: 'Who designed the Analytical Engine?', search_type: 'CHUNKS' };
      return JSON.stringify((await wire.post('/search', asked)).json).includes('Babbage');
    });
    const session = { id: 'session-1', comment: { body: '@engram Who designed the Analytical Engine?' } };
    const created = { type: 'AgentSessionEvent', action: 'created', agentSession: session };
    expect((await linear.deliver(app.baseUrl, created, { id: 'mention' })).status).to.equal(200);
    await until('the answer', async () => linear.activities.length === 2);
    const [thought, answer] = linear.activities;
    expect(thought).to.deep.include({ session: 'session-1', type: 'thought' });
    expect(answer).to.deep.include({ session: 'session-1', type: 'response' });
    expect(answer?.body).to.contain('Babbage');
    const prompt = { content: { type: 'prompt', body: 'Which colour has the moon of Saturn?' } };
    const prompted = { ...created, action: 'prompted', agentActivity: prompt };
    await linear.deliver(app.baseUrl, created, { id: 'mention' });
    await linear.deliver(app.baseUrl, { ...prompted, agentActivity: { ...prompt, signal: 'stop' } });
    await linear.deliver(app.baseUrl, prompted);
    await until('the other answer', async () => linear.activities.length === 4);
    expect(linear.activities[3]?.body).to.equal('Memory does not answer this question.');
  });

  it('refuses deliveries that are forged or old', async () => {
    const forged = await fetch(`${app.baseUrl}/api/v1/integrations/linear/events`, {
      method: 'POST',
      body: '{}',
      headers: { 'linear-signature': '00' },
    });
    expect([forged.status, await forged.json()]).to.deep.equal([401, { detail: 'Invalid Linear signature' }]);
    for (const timestamp of [Date.now() - 61_000, Date.now() + 61_000, Number.NaN]) {
      const stale = await linear.deliver(app.baseUrl, { type: 'Issue', action: 'create' }, { timestamp });
      expect([stale.status, await stale.json()]).to.deep.equal([401, { detail: 'Stale Linear webhook timestamp' }]);
    }
  });

  it('waits until the limit of Linear ends, and goes on where it was', async () => {
    const { id: team } = linear.team('ENG');
    for (let number = 1; number <= 60; number += 1) linear.issue(team, `Fault ${number}`);
    linear.state.remaining = 4;
    await connectAccount(app.baseUrl, 'linear', linear.install);
    let waited: unknown;
    await until('the wait', async () => {
      waited = (await wire.get('/integrations/linear/connection')).json.waitingUntil;
      return waited !== undefined;
    });
    linear.state.remaining = null;
    const state = await settled(wire, 'linear');
    expect(state).to.include({ syncStatus: 'ok', storedItems: 60 });
  });

  it('exchanges tokens before they expire, and ends the connection when they are refused', async () => {
    linear.team('ENG');
    linear.state.tokenLifeSeconds = 240;
    await connectAccount(app.baseUrl, 'linear', linear.install);
    const state = await settled(wire, 'linear');
    expect(linear.tokens.size, 'the first token had less than five minutes').to.be.greaterThan(1);
    linear.state.isGone = true;
    await wire.post('/integrations/linear/sync');
    expect(await settled(wire, 'linear', state['lastSyncedAt'])).to.deep.equal({
      connected: false,
      error: 'The provider no longer accepts the connection. Connect it again.',
    });
    linear.state.isGone = false;
    await connectAccount(app.baseUrl, 'linear', linear.install);
    await settled(wire, 'linear');
    expect((await linear.deliver(app.baseUrl, { type: 'OAuthApp', action: 'revoked' })).status).to.equal(200);
    const ended = (await wire.get('/integrations/linear/connection')).json;
    expect(ended.connected).to.equal(false);
    expect(ended.error).to.contain('the app was removed from the workspace');
  });
});

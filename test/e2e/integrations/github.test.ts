import { expect } from 'chai';
import { type FakeIssue, startFakeGithub } from '../../support/fake-github.ts';
import { commandLine, settled, textsOf } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

type Github = Awaited<ReturnType<typeof startFakeGithub>>;

const issue = (title: string, more: Partial<FakeIssue> = {}): FakeIssue => ({
  title,
  body: `${title} happens on Mondays.`,
  state: 'open',
  user: 'ada',
  updated: '2026-01-05T00:00:00Z',
  comments: [],
  ...more,
});

/** Connects as a browser does, and returns the outcome of the callback. */
async function connect({ baseUrl }: StartedApp, github: Github, change: (query: URLSearchParams) => void = () => {}) {
  const begun = await fetch(`${baseUrl}/api/v1/integrations/github/authorize`, { method: 'POST' });
  const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
  expect(authorizeUrl).to.match(new RegExp(`^${github.url}/apps/engram/installations/new\\?state=`));
  const cookie = begun.headers.get('set-cookie') ?? '';
  expect(cookie).to.match(
    /^cognee_oauth_nonce_github_[\w-]{43}=1; HttpOnly; Max-Age=600; Path=\/api\/v1\/integrations; SameSite=lax$/,
  );
  const query = github.install(new URL(authorizeUrl).searchParams.get('state') ?? '');
  change(query);
  const back = (presented: string) =>
    fetch(`${baseUrl}/api/v1/integrations/github/callback?${query}`, {
      redirect: 'manual',
      headers: { cookie: presented },
    });
  const response = await back(cookie.split(';')[0] ?? '');
  return { status: response.status, location: response.headers.get('location'), cookie, back };
}

describe('GitHub', () => {
  let github: Github;
  let app: StartedApp;
  let wire: Wire;
  beforeEach(async () => {
    github = await startFakeGithub();
    app = await startApp(github.variables);
    wire = createWire(app.baseUrl);
  });
  afterEach(async () => {
    await app.stop();
    await github[Symbol.asyncDispose]();
  });

  it('is connected once per install, by the browser that began it, and brings in issues, comments and files', async () => {
    const engine = github.add('acme/engine');
    const comment = { user: 'charles', body: 'The gear of the mill is worn.', created: '2026-01-06T00:00:00Z' };
    engine.issues.set(1, issue('Engine stops', { comments: [comment] }));
    for (let number = 2; number <= 102; number += 1) engine.issues.set(number, issue(`Fault ${number}`));
    engine.files.set('README.md', '# Engine\n\nThe Analytical Engine of Charles Babbage.');
    engine.files.set('node_modules/x/index.js', 'no');
    engine.files.set('logo.png', 'no');
    const { status, location, cookie, back } = await connect(app, github);
    expect([status, location]).to.deep.equal([307, 'http://console.test/integrations?github=connected']);
    const again = await back(cookie.split(';')[0] ?? '');
    expect(again.headers.get('location'), 'an install is finished once').to.match(/github=error_invalid_state$/);
    expect((await back('')).headers.get('location')).to.match(/github=error_invalid_state$/);
    const state = await settled(wire, 'github');
    expect(state).to.include({
      syncStatus: 'ok',
      storedItems: 103,
      accountLabel: 'Acme Corp',
      datasetName: 'github_acme_corp',
    });
    const texts = await textsOf(wire, state['datasetId']);
    expect(texts.get('Engine stops (#1)'))
      .to.contain('charles on 2026-01-06')
      .and.contain('The gear of the mill is worn.');
    expect(texts.get('README')).to.contain('Analytical Engine');
    expect([...texts.keys()].some((name) => /index|logo/.test(name))).to.equal(false);
    const resources = (await wire.get('/integrations/github/resources')).json;
    expect(resources).to.deep.equal({
      resources: [
        {
          id: '500',
          name: 'acme/engine',
          description: null,
          attributes: { private: true, archived: false },
          selected: true,
        },
      ],
      selected: null,
      kinds: [
        { id: 'issues', name: 'Issues and pull requests', selected: true },
        { id: 'discussions', name: 'Discussions', selected: true },
        { id: 'files', name: 'Files', selected: true },
        { id: 'wiki', name: 'Wiki', selected: true },
      ],
    });
  });

  it('refuses an install of somebody else, a code that GitHub does not know, and a person who cancels', async () => {
    const outcomes: (string | null)[] = [];
    for (const change of [
      (query: URLSearchParams) => query.set('installation_id', '78'),
      (query: URLSearchParams) => query.set('code', 'guessed'),
      (query: URLSearchParams) => query.set('error', 'access_denied'),
      (query: URLSearchParams) => query.set('state', `${query.get('state')}0`),
    ]) {
      outcomes.push((await connect(app, github, change)).location);
    }
    expect(outcomes.map((location) => location?.split('=')[1])).to.deep.equal([
      ...['error_exchange_failed', 'error_exchange_failed', 'cancelled', 'error_invalid_state'],
    ]);
    expect((await wire.get('/integrations/github/connection')).json).to.deep.equal({ connected: false });
  });

  it('follows webhooks: new, changed, renamed and deleted issues, each delivery once', async () => {
    const engine = github.add('acme/engine');
    engine.issues.set(1, issue('Engine stops'));
    engine.issues.set(2, issue('Lamp flickers'));
    const comment = { user: 'charles', body: 'The gear is worn.', created: '2026-01-06T00:00:00Z' };
    const commented = issue('Wheel squeaks', { comments: [comment] });
    engine.issues.set(4, commented);
    await connect(app, github);
    let state = await settled(wire, 'github');
    const before = (await wire.get(`/datasets/${state['datasetId']}/data`)).json as { id: string; name: string }[];
    engine.issues.set(1, issue('Engine stands still', { updated: '2026-02-01T00:00:00Z' }));
    engine.issues.set(3, issue('Steam escapes', { updated: '2026-02-01T00:00:00Z' }));
    engine.issues.delete(2);
    const repository = { id: engine.id, default_branch: 'main' };
    const deleted = { action: 'deleted', repository, issue: { number: 2 } };
    const acknowledged = Promise.withResolvers<void>();
    github.state.hold = () => acknowledged.promise;
    const answer = await github.deliver(app.baseUrl, 'issues', deleted, 'one');
    expect([answer.status, await answer.json()], 'before anything is read').to.deep.equal([200, { ok: true }]);
    github.state.hold = null;
    acknowledged.resolve();
    state = await settled(wire, 'github', state['lastSyncedAt'] as string);
    const names = ['Engine stands still (#1)', 'Steam escapes (#3)', 'Wheel squeaks (#4)'];
    expect([...(await textsOf(wire, state['datasetId'])).keys()].toSorted()).to.deep.equal(names);
    commented.comments.pop();
    const uncommented = { action: 'deleted', repository, issue: { number: 4 }, comment: { id: 9 } };
    expect((await github.deliver(app.baseUrl, 'issue_comment', uncommented)).status).to.equal(200);
    state = await settled(wire, 'github', state['lastSyncedAt'] as string);
    const texts = await textsOf(wire, state['datasetId']);
    expect(texts.get('Wheel squeaks (#4)'), 'the issue itself is unchanged').not.to.contain('gear');
    const after = (await wire.get(`/datasets/${state['datasetId']}/data`)).json as { id: string; name: string }[];
    expect(after.find(({ name }) => name.startsWith('Engine'))?.id).to.equal(
      before.find(({ name }) => name.startsWith('Engine'))?.id,
    );
    const asked = github.requests.length;
    expect((await github.deliver(app.baseUrl, 'issues', deleted, 'one')).status).to.equal(200);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(github.requests.length, 'a repeated delivery starts nothing').to.equal(asked);
    const forged = await fetch(`${app.baseUrl}/api/v1/integrations/github/events`, {
      method: 'POST',
      body: '{}',
      headers: { 'x-hub-signature-256': 'sha256=00' },
    });
    expect([forged.status, await forged.json()]).to.deep.equal([401, { detail: 'Invalid GitHub signature' }]);
  });

  it('brings in discussions and the pages of the wiki, and follows their changes; a page that is renamed keeps its item', async () => {
    const engine = github.add('acme/engine');
    const comments = [{ user: 'charles', body: 'Oil the gear.', isAnswer: true }];
    const said = { title: 'Why does it stop', body: 'It stops.', user: 'ada', updated: '2026-01-05T00:00:00Z' };
    engine.discussions.set(1, { ...said, comments });
    engine.discussions.set(2, { ...said, title: 'Lamps', comments: [] });
    engine.wiki.set('Home.md', 'The mill of the Analytical Engine.').set('Steam.md', 'Steam comes from the boiler.');
    await connect(app, github);
    let state = await settled(wire, 'github');
    expect(state['syncStatus'], String(state['syncError'])).to.equal('ok');
    const names = async () => [...(await textsOf(wire, state['datasetId'])).keys()].toSorted();
    const lines = ['Home', 'Lamps (discussion 2)', 'Steam', 'Why does it stop (discussion 1)'];
    expect(await names()).to.deep.equal(lines);
    expect((await textsOf(wire, state['datasetId'])).get('Why does it stop (discussion 1)'))
      .to.contain('charles on 2026-01-06, the answer')
      .and.contain('Oil the gear.');
    const idOf = async (name: string) => {
      const items = (await wire.get(`/datasets/${state['datasetId']}/data`)).json as { id: string; name: string }[];
      return items.find((item) => item.name === name)?.id;
    };
    const steam = await idOf('Steam');
    engine.wiki.delete('Steam.md');
    engine.wiki.set('Boiler.md', 'Steam comes from the boiler.');
    engine.discussions.delete(2);
    const repository = { id: engine.id, default_branch: 'main' };
    const deleted = { action: 'deleted', repository, discussion: { number: 2 } };
    expect((await github.deliver(app.baseUrl, 'discussion', deleted)).status).to.equal(200);
    state = await settled(wire, 'github', state['lastSyncedAt'] as string);
    expect(await names()).to.deep.equal(['Boiler', 'Home', 'Why does it stop (discussion 1)']);
    expect(await idOf('Boiler')).to.equal(steam);
    engine.discussions.set(1, { ...said, comments: [{ user: 'charles', body: 'Grease the gear.' }] });
    const edited = { action: 'edited', repository, discussion: { number: 1 }, comment: { id: 3 } };
    expect((await github.deliver(app.baseUrl, 'discussion_comment', edited)).status).to.equal(200);
    state = await settled(wire, 'github', state['lastSyncedAt'] as string);
    expect((await textsOf(wire, state['datasetId'])).get('Why does it stop (discussion 1)')).to.contain('Grease');
  });

  it('brings in the kinds of documents that are chosen, over HTTP or the command line, also after a new install', async () => {
    const engine = github.add('acme/engine');
    engine.issues.set(1, issue('Engine stops'));
    engine.files.set('README.md', 'The Analytical Engine of Charles Babbage.');
    engine.wiki.set('Home.md', 'The mill of the Analytical Engine.');
    await connect(app, github);
    let state = await settled(wire, 'github');
    const run = (line: string) => commandLine(app.baseUrl, line);
    const brought = async () => {
      state = await settled(wire, 'github', state['lastSyncedAt']);
      return [...(await textsOf(wire, state['datasetId'])).keys()].toSorted();
    };
    expect(await run('resources github')).to.match(/acme\/engine\s+true\s+part\n(.*\n)+wiki\s+Wiki\s+true\s+kind/);
    expect(await run('choose github --kind issues --kind wiki')).to.match(
      /^0 being brought in: kind issues, kind wiki/,
    );
    expect(await brought()).to.deep.equal(['Engine stops (#1)', 'Home']);
    expect(state['leftOut']).to.deep.equal(['discussions', 'files']);
    expect(await run('show github')).to.match(/^chosen +everything\nleft out +discussions, files$/m);
    expect(await run('choose github --kind wikis')).to.match(
      /^2 .*no kind 'wikis': github has issues, discussions, files/,
    );
    await connect(app, github);
    expect(await brought(), 'as before').to.deep.equal(['Engine stops (#1)', 'Home']);
    const put = (kinds: unknown) => wire.put('/integrations/github/resources', { kinds });
    expect((await put(['wikis'])).status).to.equal(422);
    expect((await put(null)).status).to.equal(200);
    await wire.post('/integrations/github/sync');
    expect(await brought()).to.deep.equal(['Engine stops (#1)', 'Home', 'README']);
    expect(state).to.not.have.property('leftOut');
  });

  it('waits as long as GitHub asks, and goes on where it was', async () => {
    const engine = github.add('acme/engine');
    for (let number = 1; number <= 40; number += 1) engine.issues.set(number, issue(`Fault ${number}`));
    github.state.remaining = 30;
    await connect(app, github);
    let waited: unknown;
    await until('the wait', async () => {
      waited = (await wire.get('/integrations/github/connection')).json.waitingUntil;
      return waited !== undefined;
    });
    github.state.remaining = null;
    const state = await settled(wire, 'github');
    expect(state).to.include({ syncStatus: 'ok', storedItems: 40 });
  });

  it('that takes the access back ends the connection, and says so', async () => {
    github.add('acme/engine').issues.set(1, issue('Engine stops'));
    await connect(app, github);
    const state = await settled(wire, 'github');
    expect((await github.deliver(app.baseUrl, 'installation', { action: 'deleted' })).status).to.equal(200);
    const ended = (await wire.get('/integrations/github/connection')).json;
    expect(ended).to.deep.equal({
      connected: false,
      error: 'The GitHub App was uninstalled or suspended. Install it again to go on.',
    });
    await connect(app, github);
    await settled(wire, 'github', state['lastSyncedAt'] as string);
    expect((await wire.get('/integrations/github/connection')).json.connected).to.equal(true);
    github.state.isGone = true;
    await wire.post('/integrations/github/sync');
    await until('the end of the connection', async () => {
      return (await wire.get('/integrations/github/connection')).json.connected === false;
    });
  });

  it('brings in what is chosen, and removes what is not any more', async () => {
    const engine = github.add('acme/engine');
    const lamp = github.add('acme/lamp');
    engine.issues.set(1, issue('Engine stops'));
    lamp.issues.set(1, issue('Lamp flickers'));
    await connect(app, github);
    const state = await settled(wire, 'github');
    expect(state['storedItems']).to.equal(2);
    const chosen = await wire.put('/integrations/github/resources', { resourceIds: [String(lamp.id)] });
    expect(chosen.json).to.deep.equal({ selected: [String(lamp.id)] });
    expect((await wire.post('/integrations/github/sync')).json).to.deep.equal({ accepted: true });
    const after = await settled(wire, 'github', state['lastSyncedAt'] as string);
    expect([...(await textsOf(wire, after['datasetId'])).keys()]).to.deep.equal(['Lamp flickers (#1)']);
  });
});

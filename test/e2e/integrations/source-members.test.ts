import { expect } from 'chai';
import { type Account, signUp, verifyAddress } from '../../support/accounts.ts';
import { startFakeGithub } from '../../support/fake-github.ts';
import { startFakeGoogle } from '../../support/fake-google.ts';
import { startFakeLinear } from '../../support/fake-linear.ts';
import { type FakeSlack, INSTALLER, startFakeSlack, tsAt } from '../../support/fake-slack.ts';
import { commandLine, connectAccount, settled, synced } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

const SECRET = /zanzifar/i;

/** Whether a reader of the dataset finds the secret: in its list, a search, a recall and the graph; each says the same. */
async function finds({ get, post }: Wire, dataset: string): Promise<boolean> {
  const query = { query: 'Who guards the vault of Grace Hopper?', datasetIds: [dataset] };
  const answers = await Promise.all([
    get(`/datasets/${dataset}/data`),
    post('/search', { ...query, searchType: 'CHUNKS' }),
    post('/search', { ...query, searchType: 'GRAPH_COMPLETION', onlyContext: true }),
    post('/recall', query),
    get(`/datasets/${dataset}/graph`),
    get(`/visualize/json?full=true&dataset_id=${dataset}`),
  ]);
  const found = answers.map(({ text }) => SECRET.test(text));
  expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
  expect(new Set(found).size, found.join()).to.equal(1);
  return found[0] === true;
}

describe('channels of Slack', () => {
  let slack: FakeSlack;
  let app: StartedApp;
  let owner: Wire;
  let bob: Account;
  let dataset: string;
  const log: string[] = [];
  before(async () => {
    slack = await startFakeSlack();
    app = await startApp(slack.variables, { log });
    owner = createWire(app.baseUrl);
    slack.state.pageSize = 2;
    const names = ['Bob Ray', 'Guy Guest', 'Eve Unsure', 'Ann Long', 'Kit Short'];
    for (const name of names) {
      const id = `U0${name.slice(0, 3).toUpperCase()}`;
      slack.users.set(id, name);
      slack.people.set(id, { email: `${name.slice(0, 3).toLowerCase()}@example.com` });
    }
    const vault = slack.add('vault', { isPrivate: true });
    vault.messages.push({
      ts: tsAt('2026-01-05T10:00:00Z'),
      user: INSTALLER,
      text: 'Zanzifar guards the vault of Grace Hopper.',
    });
    vault.members.add(INSTALLER).add('U0ANN').add('U0KIT');
    await connectAccount(app.baseUrl, 'slack', (url) => slack.install(new URL(url).searchParams.get('state') ?? ''));
    dataset = (await owner.post('/datasets', { name: 'team' })).json.id;
    bob = await signUp(app.baseUrl, 'bob');
    await verifyAddress(owner, 'bob@example.com', log);
    await owner.post(`/permissions/datasets/${bob.id}?permission_name=read`, [dataset]);
    const selection = { dataset_id: dataset, channel_ids: ['C0VAULT'], oldest: '2026-01-01T00:00:00Z' };
    const imported = await owner.post('/slack/history/T0ENGINE/import', selection);
    expect(imported.status, imported.text).to.equal(200);
    await until('the graph', async () => {
      const { completed, total } = (await owner.get(`/datasets/${dataset}/processing-status`)).json;
      return total > 0 && completed === total;
    });
  });
  after(async () => {
    await app.stop();
    await slack[Symbol.asyncDispose]();
  });
  let events = 0;
  const tell = async (event: object) => {
    events += 1;
    const answer = await slack.event(app.baseUrl, { event }, `Ev${events}`);
    expect(answer.status).to.equal(200);
  };
  const isListed = async () => SECRET.test((await bob.wire.get(`/datasets/${dataset}/data`)).text);

  it('that are private are seen by who is in them: after joining, until leaving, by events, without another import', async () => {
    expect(await finds(owner, dataset)).to.equal(true);
    expect(await finds(bob.wire, dataset)).to.equal(false);
    const { members } = slack.channels[0] as (typeof slack.channels)[number];
    const read = slack.requests.filter((method) => method === 'conversations.history').length;
    members.add('U0BOB');
    await tell({ type: 'member_joined_channel', user: 'U0BOB', channel: 'C0VAULT' });
    await until('the sight of it', isListed);
    expect(await finds(bob.wire, dataset)).to.equal(true);
    members.delete('U0BOB');
    await tell({ type: 'member_left_channel', user: 'U0BOB', channel: 'C0VAULT' });
    await until('the end of it', async () => !(await isListed()));
    expect(await finds(bob.wire, dataset)).to.equal(false);
    expect(slack.requests.filter((method) => method === 'conversations.history').length).to.equal(read);
    const reports = (await owner.get('/slack/history/T0ENGINE')).json.reports;
    expect(reports[dataset].result, 'the report is that of the import').to.include({ messages: 1, added: 1 });
  });

  it('stay closed where Slack tells no addresses, and the connection says why', async () => {
    const { members } = slack.channels[0] as (typeof slack.channels)[number];
    members.add('U0BOB');
    const { scopes } = slack.state;
    slack.state.scopes = scopes.replace(',users:read.email', '');
    const selection = { dataset_id: dataset, channel_ids: ['C0VAULT'], oldest: '2026-01-01T00:00:00Z' };
    expect((await owner.post('/slack/history/T0ENGINE/import', selection)).status).to.equal(200);
    expect(await finds(bob.wire, dataset)).to.equal(false);
    const notes = async () =>
      (await owner.get('/integrations/connections')).json.connections
        .map(({ accessNote }: { accessNote?: string }) => accessNote)
        .filter((note: string | undefined) => note !== undefined);
    expect((await notes()).join()).to.match(/install the app again with users:read and users:read.email/);
    for (const line of ['list', 'show slack']) {
      expect(await commandLine(app.baseUrl, line), line).to.contain('install the app again with users:read and');
    }
    slack.state.scopes = scopes;
    members.delete('U0BOB');
  });
});

/** A server, the wire of its owner, and people with verified addresses who may read datasets of it. */
async function openWorld(variables: Readonly<Record<string, string>>) {
  const log: string[] = [];
  const app = await startApp(variables, { log });
  const owner = createWire(app.baseUrl);
  return {
    app,
    owner,
    async reader(name: string, dataset: string): Promise<Wire> {
      const { id, wire } = await signUp(app.baseUrl, name);
      await verifyAddress(owner, `${name}@example.com`, log);
      await owner.post(`/permissions/datasets/${id}?permission_name=read`, [dataset]);
      return wire;
    },
    /** Waits until everything is built that an import has brought in: that of a new connection, or one that is asked for. */
    async sync(provider: string, { isFirst = false } = {}) {
      const state = await (isFirst ? settled : synced)(owner, provider);
      await until('the graph', async () => {
        const { completed, total } = (await owner.get(`/datasets/${state['datasetId']}/processing-status`)).json;
        return completed === total;
      });
      return state;
    },
    [Symbol.asyncDispose]: () => app.stop(),
  };
}

describe('groups of Google', () => {
  it('let their members see what is shared with them, until they leave; a group that is not shown is named', async () => {
    await using google = await startFakeGoogle();
    google.state.person.email = 'ada@example.com';
    const team = google.groups.add('team@acme.test', 'bob@example.com');
    google.groups.add('board@acme.test', 'bob@example.com').isHidden = true;
    const group = (emailAddress: string) => [{ type: 'group' as const, emailAddress }];
    const content = 'Zanzifar guards the vault of Grace Hopper.';
    const file = google.drive.add({ name: 'Zanzifar.md', content, permissions: group('team@acme.test') });
    await using world = await openWorld({ ...google.variables, GOOGLE_DRIVE_READ_GROUPS: 'true' });
    await connectAccount(world.app.baseUrl, 'google_drive', (url) => google.consent(url));
    await world.owner.put('/integrations/google_drive/resources', { resourceIds: ['root'] });
    const state = await world.sync('google_drive');
    const dataset = String(state['datasetId']);
    expect(state).to.deep.include({ syncStatus: 'ok', storedItems: 1 }).and.not.have.property('accessNote');
    const [bob, eve] = [await world.reader('bob', dataset), await world.reader('eve', dataset)];
    expect(await finds(bob, dataset), 'a member').to.equal(true);
    expect(await finds(eve, dataset), 'somebody else').to.equal(false);
    team.members.delete('bob@example.com');
    team.members.add('eve@example.com');
    await world.sync('google_drive');
    expect(await finds(bob, dataset), 'a former member').to.equal(false);
    expect(await finds(eve, dataset), 'a new member').to.equal(true);
    google.drive.change(file, { permissions: group('board@acme.test') });
    expect((await world.sync('google_drive'))['accessNote']).to.match(
      /^Members of board@acme.test do not see .* does not show ada@example.com who they are/,
    );
    expect(await finds(eve, dataset), 'after the file was taken from the group').to.equal(false);
  });

  it('are not needed for a file of Drive that is shared with a person, until it is not any more', async () => {
    await using google = await startFakeGoogle();
    google.state.person.email = 'ada@example.com';
    const content = 'Zanzifar guards the vault of Grace Hopper.';
    const file = google.drive.add({ name: 'Zanzifar.md', content, permissions: [] });
    await using world = await openWorld(google.variables);
    await connectAccount(world.app.baseUrl, 'google_drive', (url) => google.consent(url));
    await world.owner.put('/integrations/google_drive/resources', { resourceIds: ['root'] });
    const dataset = String((await world.sync('google_drive'))['datasetId']);
    const bob = await world.reader('bob', dataset);
    expect(await finds(world.owner, dataset)).to.equal(true);
    for (const isShared of [false, true, false]) {
      const people = isShared ? [{ type: 'user' as const, emailAddress: 'bob@example.com' }] : [];
      google.drive.change(file, { permissions: people });
      await world.sync('google_drive');
      expect(await finds(bob, dataset)).to.equal(isShared);
    }
  });
});

describe('teams', () => {
  it('of Linear that are private let their members see their issues; an issue that moves into one is closed at once', async () => {
    await using linear = await startFakeLinear();
    const [open, secret] = [linear.team('ENG'), linear.team('SEC')];
    const description = 'Zanzifar guards the vault of Grace Hopper.';
    const issue = linear.issue(secret.id, 'Zanzifar', { description });
    linear.issue(open.id, 'Lamp', { description: 'The lamp flickers.' });
    await using world = await openWorld(linear.variables);
    await connectAccount(world.app.baseUrl, 'linear', linear.install);
    const dataset = String((await world.sync('linear', { isFirst: true }))['datasetId']);
    const bob = await world.reader('bob', dataset);
    expect(await finds(world.owner, dataset)).to.equal(true);
    expect(await finds(bob, dataset), 'before he joins').to.equal(false);
    secret.members.push({ id: 'u-bob', email: 'Bob@Example.com', active: true });
    await world.sync('linear');
    expect(await finds(bob, dataset), 'a member').to.equal(true);
    secret.members.splice(0);
    await world.sync('linear');
    expect(await finds(bob, dataset), 'a former member').to.equal(false);
    const move = async (from: string, to: string) => {
      Object.assign(issue, { team: to, updatedAt: new Date().toISOString() });
      const data = { id: issue.id, teamId: to };
      const moved = { type: 'Issue', action: 'update', data, updatedFrom: { teamId: from } };
      const { lastSyncedAt } = (await world.owner.get('/integrations/linear/connection')).json;
      expect((await linear.deliver(world.app.baseUrl, moved)).status).to.equal(200);
      await settled(world.owner, 'linear', lastSyncedAt);
      await world.sync('linear');
    };
    await move(secret.id, open.id);
    expect(await finds(bob, dataset), 'in the team of all').to.equal(true);
    await move(open.id, secret.id);
    expect(await finds(bob, dataset), 'in the private team again').to.equal(false);
  });

  it('of GitHub let their members see a private repository, from joining to leaving, by the webhooks of memberships', async () => {
    await using github = await startFakeGithub();
    const vault = github.add('acme/vault');
    const body = 'Zanzifar guards the vault of Grace Hopper.';
    const updated = '2026-01-05T00:00:00Z';
    vault.issues.set(1, { title: 'Zanzifar', body, state: 'open', user: 'ada', updated, comments: [] });
    github.people.set('bobby', 'bob@example.com');
    await using world = await openWorld(github.variables);
    await connectAccount(world.app.baseUrl, 'github', (url) =>
      github.install(new URL(url).searchParams.get('state') ?? ''),
    );
    const dataset = String((await world.sync('github', { isFirst: true }))['datasetId']);
    const bob = await world.reader('bob', dataset);
    expect(await finds(world.owner, dataset)).to.equal(true);
    expect(await finds(bob, dataset), 'before he joins').to.equal(false);
    // GitHub lists who reaches a repository by a team among its collaborators.
    for (const [action, event] of [
      ['added', 'membership'],
      ['removed', 'membership'],
      ['added_to_repository', 'team'],
    ] as const) {
      const isMember = action !== 'removed';
      if (isMember) vault.collaborators.add('bobby');
      else vault.collaborators.delete('bobby');
      const { lastSyncedAt } = (await world.owner.get('/integrations/github/connection')).json;
      expect((await github.deliver(world.app.baseUrl, event, { action })).status).to.equal(200);
      await settled(world.owner, 'github', lastSyncedAt);
      expect(await finds(bob, dataset), `${event} ${action}`).to.equal(isMember);
    }
    vault.isPrivate = false;
    vault.collaborators.clear();
    await world.sync('github');
    expect(await finds(bob, dataset), 'public').to.equal(true);
  });
});

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DatasetSourcesEntry } from '../../../operator/api/dataset.ts';
import { createServices, type Services } from '../../../operator/installation/services.ts';
import { createSystemClock } from '../../../services/common/platform/system/clock.ts';
import { faultsWhenNarrow, missingBrowser, openBrowser, watchPage } from '../../support/chromium.ts';
import { KEEP } from '../../support/console-world.ts';
import { type FakeIssue, startFakeGithub } from '../../support/fake-github.ts';
import { startFakeNotion } from '../../support/fake-notion.ts';
import { type FakeSlack, INSTALLER, startFakeSlack, tsAt } from '../../support/fake-slack.ts';
import { startFakeWebdav } from '../../support/fake-webdav.ts';
import { createDatasetWorld, type DatasetWorld } from '../../support/kube/dataset-world.ts';
import { type ManagedApp, startManagedApp } from '../../support/managed-app.ts';
import { until } from '../../support/until.ts';

const PASSWORD = 'a-long-password';

type Github = Awaited<ReturnType<typeof startFakeGithub>>;

const issue = (title: string): FakeIssue => ({
  title,
  body: `${title} happens on Mondays.`,
  state: 'open',
  user: 'ada',
  updated: '2026-01-05T00:00:00Z',
  comments: [],
});

/** A Dataset resource of a new tenant, reconciled with real services. */
async function openWorld(app: ManagedApp, services: Services) {
  const email = `owner-${randomUUID()}@acme.example.com`;
  const { tenantId } = await services.call(
    'auth.EnsureTenant',
    {
      crUid: randomUUID(),
      displayName: 'Acme',
      ownerEmail: email,
      ownerPassword: PASSWORD,
      hostNames: [],
      state: 'Active',
    },
    { requestId: randomUUID() },
  );
  const world = await createDatasetWorld(services);
  world.putTenant({}, { tenantId });
  const form = new URLSearchParams({ username: email, password: PASSWORD });
  const login = await fetch(`${app.baseUrl}/api/v1/auth/login`, { method: 'POST', body: form });
  const { access_token: token } = (await login.json()) as { access_token: string };
  /** As the owner of the tenant. */
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
    return fetch(`${app.baseUrl}/api/v1${path}`, { ...init, headers });
  };
  const look = async () => {
    await world.clock.advance(90_000);
    await world.reconcile();
  };
  return {
    world,
    email,
    ask,
    look,
    /** The owner connects an account in the console. */
    async connect(provider: string, { install }: { install(signedState: string): URLSearchParams }): Promise<void> {
      const begun = await ask(`/integrations/${provider}/authorize`, { method: 'POST' });
      const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
      const query = install(new URL(authorizeUrl).searchParams.get('state') ?? '');
      const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
      await ask(`/integrations/${provider}/callback?${query}`, { redirect: 'manual', headers: { cookie } });
    },
    source: (name: string) => world.read()?.status?.sources?.find((one) => one.name === name),
    async becomes(what: string, isSo: () => boolean | Promise<boolean>) {
      await until(what, async () => {
        await look();
        return isSo();
      });
    },
    async names(): Promise<readonly string[]> {
      const { datasetId } = world.read()?.status ?? {};
      const items = (await (await ask(`/datasets/${datasetId}/data`)).json()) as { name: string }[];
      return items.map(({ name }) => name).toSorted();
    },
  };
}

const isSynced = (world: DatasetWorld) => () => world.conditions()['SourcesReady'] === 'True Synced';

describe('sources that a Dataset resource declares', () => {
  let github: Github;
  let notion: Awaited<ReturnType<typeof startFakeNotion>>;
  let slack: FakeSlack;
  let app: ManagedApp;
  let services: Services;
  let folder: string;
  let opened: Awaited<ReturnType<typeof openWorld>>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-declared-'));
    github = await startFakeGithub();
    notion = await startFakeNotion();
    slack = await startFakeSlack();
    app = await startManagedApp({
      ACCEPT_LOCAL_FILE_PATH: 'true',
      COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder,
      ...notion.variables,
      ...slack.variables,
      ...github.variables,
      ENGRAM_SOURCE_PRIVATE_HOSTS: '127.0.0.1',
    });
    services = createServices(app.messenger, createSystemClock());
    for (const name of ['acme/engine', 'acme/other'])
      github.add(name).issues.set(1, issue(`Fault of ${name.slice(5)}`));
    await writeFile(join(folder, 'mary.md'), 'Mary Somerville taught Ada Lovelace.');
  });
  after(async () => {
    await app?.stop();
    await github?.[Symbol.asyncDispose]();
    await notion?.[Symbol.asyncDispose]();
    await slack?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    opened = await openWorld(app, services);
  });
  afterEach(() => opened.world.close());

  const notes = (): DatasetSourcesEntry => ({ name: 'notes', connector: 'folder', address: folder, onRemoval: 'Keep' });
  const code = (more: Partial<DatasetSourcesEntry> = {}): DatasetSourcesEntry => ({
    name: 'code',
    connector: 'github',
    credentialsSecretRef: { name: 'github' },
    onRemoval: 'Delete',
    selection: ['acme/engine'],
    ...more,
  });

  it('are brought in and followed for the owner, who sees them and cannot change them elsewhere', async () => {
    const { world, ask, becomes, names, source } = opened;
    github.personal.add('ghp_1');
    world.putSecret('github', { token: 'ghp_1' });
    world.put({ sources: [notes(), code()] });
    await becomes('both are brought in', isSynced(world));
    expect(await names()).to.deep.equal(['Fault of engine (#1)', 'mary']);
    expect(source('code')).to.include({ connected: true, items: 1, failed: 0 });
    const { connections } = (await (await ask('/integrations/connections')).json()) as {
      connections: { declaredAs: string; provider: string; connectionId: string }[];
    };
    expect(connections.map(({ declaredAs }) => declaredAs).toSorted()).to.deep.equal(['code', 'notes']);
    for (const { provider, connectionId } of connections) {
      const at = `/integrations/${provider}`;
      const query = `?connection_id=${connectionId}`;
      const removed = await ask(`${at}/connection${query}`, { method: 'DELETE' });
      expect([removed.status, await removed.text()].join(' ')).to.match(/^409 .*spec\.sources/);
      const body = JSON.stringify({ resourceIds: [] });
      expect((await ask(`${at}/resources${query}`, { method: 'PUT', body })).status).to.equal(409);
    }
    await writeFile(join(folder, 'machine.md'), 'Charles Babbage built the Difference Engine.');
    await becomes('the new file', async () => (await names()).includes('machine'));
    world.change({ spec: { sources: [notes(), code({ selection: ['acme/other', 'acme/misspelt'] })] } });
    await becomes('the other selection', async () => source('code')?.reason === 'ImportFailed');
    expect(source('code')?.message).to.equal('It has no acme/misspelt');
    expect(await names()).to.deep.equal(['Fault of other (#1)', 'machine', 'mary']);
  });

  it('are shown in a browser with where they are changed, and without buttons that would be refused', async function () {
    if (missingBrowser() !== null) this.skip();
    const { world, becomes, source } = opened;
    github.personal.add('ghp_0');
    world.putSecret('github', { token: 'ghp_0' });
    world.put({ sources: [notes(), code({ selection: ['acme/engine', 'acme/misspelt'] })] });
    await becomes('both are brought in', () => source('code')?.reason === 'ImportFailed');
    const browser = await openBrowser();
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const { page, errors } = watchPage(await context.newPage());
      page.setDefaultTimeout(20_000);
      await page.goto(`${app.baseUrl}/integrations`);
      await page.fill('input[type=email]', opened.email);
      await page.fill('input[type=password]', PASSWORD);
      await page.keyboard.press('Enter');
      const card = page.getByRole('article', { name: /^GitHub/ });
      await card.getByText('1 document in').waitFor();
      await card.getByText('Declared as “code” in spec.sources of a Dataset resource').waitFor();
      expect(await card.getByRole('alert').innerText()).to.equal('It has no acme/misspelt.');
      expect(await card.getByRole('button').allInnerTexts()).to.deep.equal(['Sync now']);
      const folderCard = page.getByRole('article', { name: /^Folder/ });
      expect(await folderCard.getByRole('button').allInnerTexts()).to.deep.equal(['Sync now']);
      expect(await faultsWhenNarrow(page)).to.deep.equal([]);
      if (KEEP) await page.screenshot({ path: join(tmpdir(), 'engram-declared.png'), fullPage: true });
      errors.length = 0;
      github.repositories[0]?.issues.set(2, issue('Steam'));
      await card.getByRole('button', { name: 'Sync now' }).click();
      await card.getByText('2 documents in').waitFor();
      expect(errors, 'nothing was refused').to.deep.equal([]);
      github.repositories[0]?.issues.delete(2);
    } finally {
      await browser.close();
    }
  });

  it('follow their Secret: a token that is refused is told, and a new one is used', async () => {
    const { world, ask, becomes, source } = opened;
    world.putSecret('github', { token: 'ghp_wrong' });
    world.put({ sources: [code()] });
    await world.reconcile();
    expect(source('code')).to.include({ connected: false, reason: 'CredentialsRefused' });
    world.putSecret('github', { token: '' });
    await world.reconcile();
    expect(source('code')?.message).to.equal('The Secret has no token: add what is missing');
    github.personal.add('ghp_2');
    world.putSecret('github', { token: 'ghp_2' });
    await becomes('it is brought in', isSynced(world));
    github.personal.delete('ghp_2');
    const { connections } = (await (await ask('/integrations/connections')).json()) as {
      connections: { connectionId: string }[];
    };
    const { connectionId = '' } = connections[0] ?? {};
    await ask(`/integrations/github/sync?connection_id=${connectionId}`, { method: 'POST' });
    await becomes('its end is told', () => source('code')?.connected === false);
    expect(source('code')).to.include({ reason: 'CredentialsRefused' });
  });

  it('with a login take the user name and the password of a Secret of type basic-auth', async () => {
    const { world, becomes, names, source } = opened;
    await using webdav = await startFakeWebdav();
    webdav.files.set('papers/lamp.md', 'The lamp flickers.');
    const files = { name: 'files', connector: 'webdav', address: webdav.url, onRemoval: 'Keep' } as const;
    world.put({ sources: [{ ...files, credentialsSecretRef: { name: 'login' } }] });
    world.putSecret('login', { username: 'anna', password: 'wrong' });
    await world.reconcile();
    expect(source('files')).to.include({ connected: false, reason: 'SourceRefused' });
    world.putSecret('login', { username: 'anna', password: webdav.password });
    await becomes('it is brought in', isSynced(world));
    expect(await names()).to.deep.equal(['lamp']);
  });

  it('whose secret is no address take it from a Secret alone', async () => {
    const { world, source } = opened;
    const wiki = { name: 'wiki', connector: 'notion', onRemoval: 'Keep' } as const;
    world.put({ sources: [{ ...wiki, address: notion.secret() }] });
    await world.reconcile();
    expect(source('wiki')?.message).to.match(/^notion needs credentialsSecretRef, a Secret with token/);
    world.putSecret('notion', { token: notion.secret() });
    world.change({ spec: { sources: [{ ...wiki, credentialsSecretRef: { name: 'notion' } }] } });
    await world.reconcile();
    expect(source('wiki')).to.include({ connected: true });
  });

  it('erase or leave what came by them when they are taken out, and keep it under another name', async () => {
    const { world, becomes, names, source } = opened;
    github.personal.add('ghp_3');
    world.putSecret('github', { token: 'ghp_3' });
    world.put({ sources: [notes(), code()] });
    await becomes('both are brought in', isSynced(world));
    const [fault, ...files] = await names();
    expect(fault).to.equal('Fault of engine (#1)');
    world.change({ spec: { sources: [{ ...notes(), name: 'papers' }] } });
    await becomes('what came by the code is gone', async () => !(await names()).includes(fault ?? ''));
    expect(await names()).to.deep.equal(files);
    expect(source('papers'), 'it is the same connection').to.include({ connected: true, items: files.length });
    world.change({ spec: { sources: null } });
    await world.reconcile();
    expect(await names(), 'Keep').to.deep.equal(files);
    // Brought in again, it is the same items.
    world.change({ spec: { sources: [notes()] } });
    await becomes('it is followed again', isSynced(world));
    expect(await names()).to.deep.equal(files);
  });

  it('of an account that the owner has connected use its access, and end with it', async () => {
    const { world, ask, becomes, names, source } = opened;
    world.put({ sources: [code({ credentialsSecretRef: undefined as never, account: 'Acme Corp' })] });
    await world.reconcile();
    expect(source('code')).to.include({ connected: false, reason: 'AccountMissing' });
    await opened.connect('github', github);
    await becomes('it is brought in', isSynced(world));
    expect(await names()).to.deep.equal(['Fault of engine (#1)']);
    await ask('/integrations/github/connection', { method: 'DELETE' });
    await becomes('it ends', async () => source('code')?.connected === false);
    expect(source('code')?.reason).to.equal('AccountMissing');
  });

  it('of Slack follow channels by name or id, as far back as they say, and only those that the owner allows', async () => {
    const { world, ask, becomes, names, source } = opened;
    for (const [index, name] of ['engine', 'lamp', 'steam'].entries()) {
      const { messages } = slack.add(name, { isMember: name !== 'steam' });
      for (const year of [2024, 2026]) {
        messages.push({ ts: tsAt(`${year}-01-05T10:00:00Z`, index), user: INSTALLER, text: `The ${name} of ${year}.` });
      }
    }
    const talk = (more: Partial<DatasetSourcesEntry> = {}): DatasetSourcesEntry => ({
      name: 'talk',
      connector: 'slack',
      account: 'Analytical Engines',
      onRemoval: 'Delete',
      ...more,
    });
    const shown = async (sources: readonly DatasetSourcesEntry[]) => {
      world.change({ spec: { sources: [...sources] } });
      await world.reconcile();
      return `${source('talk')?.reason}: ${source('talk')?.message}`;
    };
    world.put({ sources: [talk({ selection: ['engine'] })] });
    await world.reconcile();
    expect(source('talk')).to.include({ connected: false, reason: 'AccountMissing' });
    await opened.connect('slack', slack);
    expect(await shown([talk()])).to.equal('SelectionMissing: slack brings in nothing without a selection: give one');
    const since = '2025-01-01T00:00:00Z';
    const site = { name: 'talk', connector: 'folder', address: folder, since, onRemoval: 'Keep' } as const;
    expect(await shown([site])).to.equal('SinceUnsupported: folder is brought in from the beginning: leave since out');
    world.change({ spec: { sources: [talk({ selection: ['engine', 'C0LAMP'], since })] } });
    await becomes('both channels', isSynced(world));
    const of = (channel: string, year: number) => `#${channel} ${year}-01-05 The ${channel} of ${year}.`;
    expect(await names()).to.deep.equal([of('engine', 2026), of('lamp', 2026)]);
    expect(source('talk')).to.include({ connected: true, items: 2, failed: 0 });

    // A team stays one for its commands and its home: the resource's connection is no other one.
    const opens = { event: { type: 'app_home_opened', user: INSTALLER } };
    await slack.event(app.baseUrl, opens, randomUUID());
    await until('the home', () => slack.views.length > 0);
    expect((await ask('/slack/channels')).status).to.equal(200);
    world.change({ spec: { sources: [talk({ selection: ['engine'] })] } });
    await becomes('what came before, and the other channel gone', async () => {
      const now = await names();
      return now.length === 2 && now.includes(of('engine', 2024)) && now.includes(of('engine', 2026));
    });
    world.change({ spec: { sources: [talk({ selection: ['engine'], since })] } });
    await becomes('what is older is gone', async () => (await names()).length === 1);

    const { connections } = (await (await ask('/integrations/connections')).json()) as {
      connections: { connectionId: string; declaredAs?: string }[];
    };
    const { connectionId = '' } = connections.find(({ declaredAs }) => declaredAs === 'talk') ?? {};
    const now = new Date().toISOString();
    slack.channels[0]?.messages.push({ ts: tsAt(now), user: INSTALLER, text: 'The engine runs.' });
    await until('the import before is at its end', async () => {
      const asked = await ask(`/integrations/slack/sync?connection_id=${connectionId}`, { method: 'POST' });
      return ((await asked.json()) as { accepted: boolean }).accepted;
    });
    await becomes('the new message', async () =>
      (await names()).includes(`#engine ${now.slice(0, 10)} The engine runs.`),
    );

    const allow = (channelIds: string[]) =>
      ask('/slack/channels', { method: 'PUT', body: JSON.stringify({ channelIds }) });
    await allow(['C0LAMP']);
    await becomes('the channel is not allowed any more', () => source('talk')?.message === 'It has no engine');
    expect(await names()).to.deep.equal([]);
    await allow([]);
    world.change({ spec: { sources: [talk({ selection: ['steam'] })] } });
    await becomes('the app is not in the channel', () => source('talk')?.message?.startsWith('steam: ') === true);
    expect(source('talk')?.message).to.match(/the app is not in the channel\. Write \/invite/);
    expect(slack.views).to.have.length(1);
  });

  it('of Slack take the token of a bot from a Secret, beside the team that the owner connects', async () => {
    const { world, ask, becomes, names, source } = opened;
    const { messages } = slack.add('boiler');
    messages.push({ ts: tsAt('2026-01-05T10:00:00Z'), user: INSTALLER, text: 'The boiler is hot.' });
    const talk = {
      name: 'talk',
      connector: 'slack',
      credentialsSecretRef: { name: 'bot' },
      onRemoval: 'Keep',
    } as const;
    const shown = async (token: string) => {
      world.putSecret('bot', { token });
      await world.reconcile();
      return `${source('talk')?.reason}: ${source('talk')?.message}`;
    };
    world.put({ sources: [{ ...talk, selection: ['boiler'] }] });
    expect(await shown('xoxp-1')).to.equal(
      'SourceRefused: token has to be the token of a bot, which begins with xoxb-',
    );
    expect(await shown('xoxb-1')).to.match(/^CredentialsRefused: Slack does not accept the token/);
    world.putSecret('bot', { token: slack.token() });
    await becomes('it is brought in', isSynced(world));
    expect(await names()).to.deep.equal(['#boiler 2026-01-05 The boiler is hot.']);
    expect((await ask('/slack/channels')).status, 'no team is connected by it').to.equal(404);
  });

  it('end with the resource, and go on under one that adopts the dataset', async () => {
    const { world, becomes, names } = opened;
    world.put({ sources: [notes()], deletionPolicy: 'Retain' });
    await becomes('it is brought in', isSynced(world));
    const { datasetId = '' } = world.read()?.status ?? {};
    const files = await names();
    world.remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    world.put({ sources: [notes()], datasetId });
    await becomes('it is followed again', isSynced(world));
    expect(await names()).to.deep.equal(files);
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { faultsWhenNarrow } from '../../support/chromium.ts';
import { createConsoleWorld } from '../../support/console-world.ts';
import { startFakeGithub } from '../../support/fake-github.ts';
import { startFakeGoogle } from '../../support/fake-google.ts';
import { block, startFakeNotion } from '../../support/fake-notion.ts';
import { INSTALLER, startFakeSlack, tsAt } from '../../support/fake-slack.ts';
import { connectAccount } from '../../support/source-steps.ts';
import { until } from '../../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'engram-notes-'));
mkdirSync(join(folder, 'library'));
mkdirSync(join(folder, 'drafts'));
writeFileSync(join(folder, 'library', 'founding.md'), 'Ada Berg founded the Harbour Library in Oslo in 1998.');
writeFileSync(join(folder, 'drafts', 'idea.md'), 'Perhaps a second library in Bergen.');

describe('integrations in a browser', () => {
  let notion: Awaited<ReturnType<typeof startFakeNotion>>;
  before(async () => {
    notion = await startFakeNotion();
  });
  const world = createConsoleWorld(() => ({
    ACCEPT_LOCAL_FILE_PATH: 'true',
    COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder,
    ...notion.variables,
  }));
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await notion[Symbol.asyncDispose]();
  });

  it('connect a folder, choose, and disconnect with what was brought in', async () => {
    const watched = await world.open('/integrations');
    const { page } = watched;
    await page.getByLabel('Path on the server').fill(folder);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const card = page.getByRole('article');
    await card.getByText('in step').waitFor();
    await card.getByText('2 documents').waitFor();
    await world.expectSound(watched);
    await world.keep(page, 'integrations');
    await card.getByRole('button', { name: 'Choose' }).click();
    await page.getByRole('switch', { name: /^Everything/ }).click();
    await page.getByRole('checkbox', { name: 'drafts' }).click();
    await world.keep(page, 'integrations-choose');
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await world.expectSound(watched);
    await page.getByRole('button', { name: 'Save and sync' }).click();
    await card.getByText('1 document ').waitFor();
    await card.getByRole('button', { name: 'Disconnect' }).click();
    await world.keep(page, 'integrations-disconnect');
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Disconnect and erase' }).click();
    await page.getByText('Nothing is connected yet').waitFor();
    await world.expectSound(watched);
  });

  it('connect Notion by the secret of an integration, or by signing in there', async () => {
    notion.page('Handbook', [block('paragraph', 'The library opens at ten.')]);
    const watched = await world.open('/integrations');
    const { page } = watched;
    await page.getByRole('combobox', { name: 'Source' }).click();
    await page.getByRole('option', { name: 'Notion' }).click();
    await page.getByPlaceholder('ntn_…, or empty to sign in at Notion').waitFor();
    await world.expectSound(watched);
    await page.getByLabel('Secret of an internal integration').fill('https://www.notion.so/page');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('which begins with ntn_').waitFor();
    await world.keep(page, 'integrations-notion-refused');
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await page.getByLabel('Secret of an internal integration').fill(notion.secret());
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const card = page.getByRole('article', { name: 'Notion Acme Wiki' });
    await card.getByText('in step').waitFor();
    await card.getByText('1 document ').waitFor();
    await world.keep(page, 'integrations-notion');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/v1/oauth/authorize');
  });

  it('says what a server has to be told before a provider can be connected', async () => {
    const { page } = await world.open('/integrations');
    await page.getByRole('combobox', { name: 'Source' }).click();
    await page.getByRole('option', { name: 'GitHub' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('GITHUB_APP_ID').waitFor();
    await world.keep(page, 'integrations-remedy');
    await page.goto(`${world.app.baseUrl}/integrations?github=error_already_connected`);
    await page.getByText('Another user of this server has connected that account').waitFor();
    expect(page.url()).to.equal(`${world.app.baseUrl}/integrations`);
  });
});

describe('an account of Google in a browser', () => {
  let google: Awaited<ReturnType<typeof startFakeGoogle>>;
  before(async () => {
    google = await startFakeGoogle();
  });
  const world = createConsoleWorld(() => google.variables);
  after(() => google[Symbol.asyncDispose]());

  it('is connected on the page of Google, and read once calendars are chosen', async () => {
    google.calendar.calendar('ada@acme.test', 'Ada');
    google.calendar.calendar('holidays', 'Holidays', 'reader');
    google.calendar.put('ada@acme.test', { id: 'review', summary: 'Mill review', start: { date: '2026-03-05' } });
    const { page } = await world.open('/integrations?connect=google_calendar', {});
    // The public address of this server.
    await page.route('http://console.test/**', (route) => {
      const location = route.request().url().replace('http://console.test', world.app.baseUrl);
      return route.fulfill({ status: 307, headers: { location } });
    });
    expect(await page.getByRole('combobox', { name: 'Source' }).inputValue()).to.equal('Google Calendar');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Google Calendar is connected.').waitFor();
    const card = page.getByRole('article');
    await card.getByText('nothing chosen yet').waitFor();
    expect(await card.getByRole('button', { name: 'Sync now' }).isDisabled()).to.equal(true);
    await world.keep(page, 'integrations-google');
    await card.getByRole('button', { name: 'Choose' }).click();
    await page.getByRole('checkbox', { name: 'Ada' }).click();
    expect(await page.getByRole('switch').count(), 'a choice of everything').to.equal(0);
    await world.keep(page, 'integrations-google-choose');
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Save and sync' }).click();
    await card.getByText('1 document ').waitFor();
    await world.keep(page, 'integrations-google-synced');
  });
});

describe('an organisation of GitHub in a browser', () => {
  let github: Awaited<ReturnType<typeof startFakeGithub>>;
  before(async () => {
    github = await startFakeGithub();
  });
  const world = createConsoleWorld(() => github.variables);
  after(() => github[Symbol.asyncDispose]());

  it('is brought in by repositories, which can be searched, and by kinds of documents', async () => {
    for (let number = 1; number <= 20; number += 1) github.add(`acme/part-${number}`);
    const engine = github.add('acme/a-repository-whose-name-is-so-long-that-it-does-not-fit-into-a-line');
    const issue = { title: 'Engine stops', body: 'It stops.', state: 'open' as const, user: 'ada', comments: [] };
    engine.issues.set(1, { ...issue, updated: '2026-01-05T00:00:00Z' });
    engine.wiki.set('Home.md', 'The mill of the Analytical Engine.');
    await connectAccount(world.app.baseUrl, 'github', (url) =>
      github.install(new URL(url).searchParams.get('state') ?? ''),
    );
    const watched = await world.open('/integrations');
    const { page } = watched;
    const card = page.getByRole('article', { name: 'GitHub Acme Corp' });
    await card.getByText('2 documents').waitFor();
    await card.getByText('in step').waitFor();
    await card.getByRole('button', { name: 'Choose' }).click();
    const dialog = page.getByRole('dialog');
    for (const kind of ['Issues and pull requests', 'Discussions', 'Files', 'Wiki']) {
      expect(await dialog.getByRole('switch', { name: kind }).isChecked(), kind).to.equal(true);
    }
    await dialog.getByRole('switch', { name: /^Everything/ }).press('Space');
    await dialog.getByRole('button', { name: 'None' }).click();
    await dialog.getByLabel('Find in the list').fill('LONG');
    await dialog.getByRole('button', { name: 'All', exact: true }).click();
    await dialog.getByRole('switch', { name: 'Wiki' }).press('Space');
    await world.keep(page, 'github-choose');
    await world.expectSound(watched);
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Save and sync' }).click();
    await card.getByText('1 chosen · without wiki').waitFor();
    await card.getByText('1 document ').waitFor();
    await card.getByRole('button', { name: 'Choose' }).click();
    expect(await dialog.getByRole('switch', { name: 'Wiki' }).isChecked(), 'as it was saved').to.equal(false);
    expect(await dialog.getByRole('checkbox', { name: /LONG/i }).isChecked()).to.equal(true);
    expect(await dialog.getByRole('checkbox', { name: 'acme/part-1', exact: true }).isChecked()).to.equal(false);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('that takes the access back is told, and removed from the list with what came from it', async () => {
    expect((await github.deliver(world.app.baseUrl, 'installation', { action: 'deleted' })).status).to.equal(200);
    const { page } = await world.open('/integrations');
    const card = page.getByRole('article', { name: 'GitHub Acme Corp' });
    await card.getByText('The GitHub App was uninstalled or suspended. Install it again to go on.').waitFor();
    expect(await card.getByRole('button').allInnerTexts()).to.deep.equal(['Remove']);
    await card.getByRole('button', { name: 'Remove' }).click();
    await world.keep(page, 'github-ended');
    await page.getByRole('button', { name: 'Remove and erase' }).click();
    await page.getByText('Nothing is connected yet').waitFor();
    const [{ id }] = (await world.wire.get('/datasets')).json;
    await until('the erasure', async () => (await world.wire.get(`/datasets/${id}/data`)).json.length === 0);
  });
});

describe('a team of Slack in a browser', () => {
  let slack: Awaited<ReturnType<typeof startFakeSlack>>;
  before(async () => {
    slack = await startFakeSlack();
  });
  const world = createConsoleWorld(() => slack.variables);
  after(() => slack[Symbol.asyncDispose]());
  it('limits the app to channels, brings in history once, follows it, and stops', async () => {
    const engine = slack.add('engine');
    const add = (text: string, micros: number) => {
      engine.messages.push({ ts: tsAt(new Date(Date.now() - 3_600_000).toISOString(), micros), user: INSTALLER, text });
    };
    add('The gear of the mill is ordered in Oslo.', 1);
    slack.add('lamp');
    slack.add('board', { isPrivate: true });
    await connectAccount(world.app.baseUrl, 'slack', (url) =>
      slack.install(new URL(url).searchParams.get('state') ?? ''),
    );
    const watched = await world.open('/integrations');
    const { page } = watched;
    const team = page.getByRole('article').filter({ hasText: 'connected' });
    expect(await team.getByRole('button').allInnerTexts()).to.deep.equal([
      'Channels',
      'Bring in history',
      'Disconnect',
    ]);

    await team.getByRole('button', { name: 'Channels' }).click();
    await page.getByRole('switch', { name: /^Every channel/ }).press('Space');
    for (const name of ['#engine', '#lamp', '#board']) await page.getByRole('checkbox', { name }).press('Space');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled(), 'none would mean every channel').to.equal(
      true,
    );
    for (const name of ['#engine', '#board']) await page.getByRole('checkbox', { name }).press('Space');
    await world.keep(page, 'slack-channels');
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await world.expectSound(watched);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { channels } = (await world.wire.get('/slack/channels')).json;
    expect(channels.map(({ allowed }: { allowed: boolean }) => allowed)).to.deep.equal([true, false, true]);

    await team.getByRole('button', { name: 'Bring in history' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Bring in' }).click();
    await dialog.getByText('Choose a channel').waitFor();
    await dialog.getByLabel('Channels').click();
    expect(await page.getByRole('option', { name: '#lamp' }).count(), 'a channel that is not allowed').to.equal(0);
    await page.getByRole('option', { name: '#engine' }).click();
    await page.keyboard.press('Escape');
    await dialog.getByLabel('Dataset').fill('talk');
    await world.keep(page, 'slack-history');
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await world.expectSound(watched);
    await dialog.getByRole('button', { name: 'Bring in' }).click();
    const card = page.getByRole('article').filter({ hasText: 'in talk' });
    await card.getByText('brought in once · last import: 1 message, 1 added, 0 updated, 0 deleted').waitFor();
    expect(await card.getByRole('button').allInnerTexts()).to.deep.equal(['Disconnect']);

    add('The lamp is green.', 2);
    await team.getByRole('button', { name: 'Bring in history' }).click();
    await dialog.getByLabel('Channels').click();
    await page.getByRole('option', { name: '#engine' }).click();
    await page.keyboard.press('Escape');
    await dialog.getByLabel('Dataset').fill('talk');
    await dialog.getByRole('switch', { name: 'Follow from now on' }).press('Space');
    await dialog.getByLabel('Hours between imports').fill('12');
    await dialog.getByRole('button', { name: 'Bring in' }).click();
    await card.getByText('followed every 12 hours · last import: 2 messages, 1 added').waitFor();
    await world.keep(page, 'slack');
    await world.expectSound(watched);
    await page.setViewportSize({ width: 390, height: 844 });
    await world.keep(page, 'slack-narrow');
    await world.expectSound(watched);
    expect(await faultsWhenNarrow(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 1280, height: 800 });

    await card.getByRole('button', { name: 'Change' }).click();
    expect(await dialog.getByLabel('Hours between imports').inputValue()).to.equal('12');
    await dialog.getByLabel('Hours between imports').fill('24');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('followed every 24 hours').waitFor();
    await card.getByRole('button', { name: 'Stop following' }).click();
    await card.getByText('brought in once').waitFor();
    await card.getByText('2 documents').waitFor();
  });
});

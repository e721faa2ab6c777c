import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createConsoleWorld } from '../../support/console-world.ts';
import { startFakeGoogle } from '../../support/fake-google.ts';
import { block, startFakeNotion } from '../../support/fake-notion.ts';

const folder = mkdtempSync(join(tmpdir(), 'engram-notes-'));
mkdirSync(join(folder, 'library'));
mkdirSync(join(folder, 'drafts'));
writeFileSync(join(folder, 'library', 'founding.md'), 'Ada Berg founded the Harbour Library in Oslo in 1998.');
writeFileSync(join(folder, 'drafts', 'idea.md'), 'Perhaps a second library in Bergen.');

describe('integrations in the console', () => {
  let notion: Awaited<ReturnType<typeof startFakeNotion>>;
  before(async () => {
    notion = await startFakeNotion();
  });
  const world = createConsoleWorld(() => ({
    ...{ ACCEPT_LOCAL_FILE_PATH: 'true', COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder, ...notion.variables },
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
    await world.expectSound(watched);
    await page.getByRole('button', { name: 'Save and sync' }).click();
    await card.getByText('1 document ').waitFor();
    await card.getByRole('button', { name: 'Disconnect' }).click();
    await world.keep(page, 'integrations-disconnect');
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

describe('an account of Google in the console', () => {
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
    await page.getByRole('button', { name: 'Save and sync' }).click();
    await card.getByText('1 document ').waitFor();
    await world.keep(page, 'integrations-google-synced');
  });
});

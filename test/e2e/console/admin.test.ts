import { expect } from 'chai';
import { openPage } from '../../support/chromium.ts';
import { createConsoleWorld } from '../../support/console-world.ts';
import { type SmtpServer, startSmtpServer } from '../../support/smtp-server.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';

const ADMIN = 'admin@example.com';
const PASSWORD = 'correct horse battery';

describe('console in a browser: people, datasets, settings', () => {
  const world = createConsoleWorld();
  const { open, expectSound, keep } = world;

  it('shows a new key once, and deletes it after a question', async () => {
    const watched = await open('/people');
    const { page } = watched;
    await page.click('button:has-text("New key")');
    await page.fill('role=dialog >> input >> nth=0', 'laptop');
    await page.click('role=dialog >> role=button[name="Create"]');
    const key = (await page.textContent('[aria-label="The new secret"]')) ?? '';
    const { status } = await fetch(`${world.app.baseUrl}/api/v1/datasets`, { headers: { 'x-api-key': key } });
    expect(status).to.equal(200);
    await expectSound(watched);
    await keep(page, 'key');
    await page.reload();
    await page.waitForSelector('table[aria-label="API keys"] >> text=laptop');
    expect(await page.content()).to.not.include(key);
    await page.click('[aria-label="Delete the key laptop"]');
    await page.click('role=dialog >> role=button[name="Delete the key"]');
    await page.waitForSelector('text=No API keys');
    await page.click('role=tab[name="Agents"]');
    await page.fill('input[placeholder="code-reviewer"]', 'helper');
    await page.click('button:has-text("Create")');
    await page.waitForSelector('table[aria-label=Agents] >> text=helper');
    await expectSound(watched);
  });

  it('makes a tenant with roles and members', async () => {
    await world.wire.post('/auth/register', { email: 'eve@example.com', password: 'correct horse battery' });
    const watched = await open('/people');
    const { page } = watched;
    await page.click('role=tab[name="Tenants"]');
    await page.fill('input[placeholder="Acme"]', 'Harbour');
    await page.click('button:has-text("Create")');
    await page.fill('input[placeholder="editors"]', 'librarians');
    await page.click('text=Create the role');
    await page.waitForSelector('section[aria-label=Roles] >> text=librarians');
    await page.fill('section[aria-label=Members] input', 'eve@example.com');
    await page.click('text=Add the member');
    await page.click('[aria-label="Actions for eve@example.com"]');
    await page.click('text=Give the role librarians');
    await page.waitForSelector('section[aria-label=Roles] >> text=1 member');
    await expectSound(watched);
    await keep(page, 'tenant');
    const { id } = (await world.wire.post('/datasets', { name: 'catalogue' })).json;
    const permissions = async () =>
      (await world.wire.get(`/permissions/datasets/${id}/principals`)).json.find(
        (holder: { name: string }) => holder.name === 'librarians',
      )?.permissions;
    await page.reload();
    await page.click('role=tab[name="Permissions"]');
    await page.focus('[aria-label="librarians may read catalogue"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[aria-label="librarians may read catalogue"][aria-pressed=true]');
    expect(await permissions()).to.deep.equal(['read']);
    await expectSound(watched);
    await keep(page, 'permissions');
    await page.click('text=Undo');
    await page.waitForSelector('[aria-label="librarians may read catalogue"][aria-pressed=false]');
    expect(await permissions()).to.equal(undefined);
    await world.wire.post('/permissions/tenants/select', { tenant_id: null });
  });

  it('takes snapshots, keeps skills, and learns from sessions', async () => {
    const id = await world.addNotes('learning');
    const asked = {
      query: 'Who founded the library?',
      datasetIds: [id],
      searchType: 'GRAPH_COMPLETION',
      sessionId: 'talk',
    };
    expect((await world.wire.post('/search', asked)).status).to.equal(200);
    const watched = await open(`/datasets/${id}`);
    const { page } = watched;
    await page.click('role=tab[name="Snapshots"]');
    await page.fill('input[placeholder="before-import"]', 'first');
    await page.click('role=button[name="Take"]');
    await page.waitForSelector('table[aria-label=Snapshots] >> text=complete');
    await expectSound(watched);
    await page.click('text=Restore as a copy');
    await page.waitForSelector('text=is made from it');
    await page.click('role=tab[name="Skills"]');
    await page.fill('role=textbox[name="New skill"]', 'lending');
    const steps = '---\ndescription: How to lend a violin\n---\n1. Ask for the card.';
    await page.fill('role=tabpanel[name="Skills"] >> textarea >> nth=0', steps);
    await page.click('text=Add the skill');
    await page.waitForSelector('button >> text=lending');
    await page.click('text=How to lend a violin');
    await page.waitForSelector('text=Ask for the card');
    await expectSound(watched);
    await keep(page, 'skills');
    for (const content of ['Eva Holm lives in Bergen.', 'Eva Holm lives in Oslo now.']) {
      await world.wire.upload('learning', { name: `${content.length}.txt`, content });
      expect((await world.wire.post('/cognify', { datasetIds: [id] })).status).to.equal(200);
    }
    await page.click('role=tab[name="Changed facts"]');
    await page.waitForSelector('article >> text=Eva Holm lives in Oslo now.');
    await expectSound(watched);
    await keep(page, 'changes');
    await page.click('text=Let the older stand');
    await page.waitForSelector('article >> text=Taken back');
    await page.click('role=tab[name="Improve"]');
    await page.click('role=combobox[name="Sessions to learn from"]');
    await page.click('[role=option]:visible');
    await page.keyboard.press('Escape');
    await page.click('role=button[name="Improve"]');
    await page.waitForSelector('table[aria-label="Stages of improve"] >> text=Completed');
    await expectSound(watched);
    await keep(page, 'improve');
    for (const each of (await world.wire.get('/datasets')).json) {
      if (each.name.startsWith('learning'))
        await fetch(`${world.app.baseUrl}/api/v1/datasets/${each.id}`, { method: 'DELETE' });
    }
  });

  it('keeps the chosen colours, and says when there is no such page', async () => {
    const watched = await open('/datasets', { colorScheme: 'light' });
    await watched.page.click('[aria-label="Use dark colours"]');
    await watched.page.reload();
    await watched.page.waitForSelector('[aria-label="Use light colours"]');
    await watched.page.close();
    const missing = await fetch(`${world.app.baseUrl}/nowhere`, { headers: { accept: 'text/html' } });
    expect(missing.status).to.equal(404);
    expect((await fetch(`${world.app.baseUrl}/nowhere`)).headers.get('content-type')).to.include('json');
    const lost = await openPage(world.browser);
    await lost.page.goto(`${world.app.baseUrl}/nowhere`);
    await lost.page.waitForSelector('text=There is no such page');
    await lost.page.close();
  });

  it('deletes a dataset after a question', async () => {
    for (const name of ['kept', 'short-lived']) await world.wire.post('/datasets', { name });
    const { page } = await open('/datasets');
    await page.click('text=short-lived');
    await page.click('[aria-label="More for short-lived"]');
    await page.click('role=menuitem[name="Delete the dataset"]');
    await page.click('role=dialog >> role=button[name="Delete the dataset"]');
    await page.waitForSelector('text=short-lived was deleted');
    await page.waitForSelector('table[aria-label=Datasets]');
    expect(await page.locator('td >> text=short-lived').count()).to.equal(0);
  });

  describe('with authentication', () => {
    let closed: StartedApp;
    let mails: SmtpServer;
    before(async () => {
      mails = await startSmtpServer({ tls: 'none' });
      closed = await startApp({
        REQUIRE_AUTHENTICATION: 'true',
        DEFAULT_USER_EMAIL: ADMIN,
        DEFAULT_USER_PASSWORD: PASSWORD,
        ENGRAM_SMTP_HOST: '127.0.0.1',
        ENGRAM_SMTP_PORT: String(mails.port),
        ENGRAM_SMTP_TLS: 'none',
        ENGRAM_MAIL_FROM: 'Engram <engram@example.com>',
        ENGRAM_RESET_PASSWORD_LINK: 'http://engram/#reset={token}',
      });
    });
    after(async () => {
      await closed?.stop();
      await mails?.[Symbol.asyncDispose]();
    });

    it('signs in and out, and shows only what the person may do', async () => {
      const account = { email: 'ada@example.com', password: 'correct horse battery' };
      const other = { email: 'bob@example.com', password: 'correct horse battery' };
      const base = `${closed.baseUrl}/api/v1`;
      const post = (path: string, body: unknown, token = '') =>
        fetch(`${base}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          },
          body: JSON.stringify(body),
        });
      for (const each of [account, other]) expect((await post('/auth/register', each)).status).to.equal(201);
      const login = await fetch(`${base}/auth/login`, {
        method: 'POST',
        body: new URLSearchParams({ username: other.email, password: other.password }),
      });
      const { access_token: token } = (await login.json()) as { access_token: string };
      const { id: shared } = (await (await post('/datasets', { name: 'of-bob' }, token)).json()) as { id: string };
      const me = (await (await post('/users/get-user-id', { email: account.email }, token)).json()) as {
        user_id: string;
      };
      expect((await post(`/permissions/datasets/${me.user_id}?permission_name=read`, [shared], token)).status).to.equal(
        200,
      );

      const watched = await openPage(world.browser);
      const { page } = watched;
      page.setDefaultTimeout(20_000);
      await page.goto(`${closed.baseUrl}/datasets`);
      await page.waitForSelector('h1:has-text("Sign in")');
      await keep(page, 'sign-in');
      await page.fill('input[type=email]', account.email);
      await page.fill('input[type=password]', 'wrong');
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=The address or the password is wrong');
      await page.fill('input[type=password]', account.password);
      await page.keyboard.press('Enter');
      await page.click('text=of-bob');
      await page.waitForSelector('text=You may read this dataset');
      expect(await page.locator('button:has-text("Build")').count()).to.equal(0);
      await page.click('[aria-label="More for of-bob"]');
      await page.waitForSelector('role=menuitem[name="Export as Markdown"]');
      expect(await page.locator('role=menuitem').count(), 'no sharing, no deleting').to.equal(1);
      await page.keyboard.press('Escape');
      await keep(page, 'reader');
      await page.click('nav >> text=People');
      await page.waitForSelector('text=No API keys');
      expect(await page.locator('role=tab[name="Accounts"]').count()).to.equal(0);
      await page.click('role=tab[name="Permissions"]');
      await page.waitForSelector('text=No dataset that you may share');
      await page.click('nav >> text=Activity');
      await page.waitForSelector('role=tab[name="Runs"]');
      expect(await page.locator('role=tab[name="Failed jobs"]').count()).to.equal(0);
      expect(watched.errors.filter((error) => !/40[01]/.test(error))).to.deep.equal([]);
      await page.click('[aria-label="Account of ada@example.com"]');
      await page.click('text=Sign out');
      await page.waitForSelector('h1:has-text("Sign in")');
      await page.close();
    });

    const lastMail = async (count: number) =>
      ((await mails.received(count)).at(-1)?.data ?? '').replaceAll('=\n', '').replaceAll('=3D', '=');

    it('lets a superuser create, deactivate, delete and invite accounts', async () => {
      const signIn = (email: string, password: string) => {
        const body = new URLSearchParams({ username: email, password });
        return fetch(`${closed.baseUrl}/api/v1/auth/login`, { method: 'POST', body });
      };
      const watched = await openPage(world.browser);
      const { page } = watched;
      page.setDefaultTimeout(20_000);
      await page.goto(`${closed.baseUrl}/people`);
      await page.fill('input[type=email]', ADMIN);
      await page.fill('input[type=password]', PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForSelector(`[aria-label="Account of ${ADMIN}"]`);
      // Those of the page that asked for the password.
      watched.errors.length = 0;
      await page.click('role=tab[name="Accounts"]');
      await page.waitForSelector('table[aria-label=Accounts] >> text=admin@example.com (you)');
      await page.focus('button:has-text("New account")');
      await page.keyboard.press('Enter');
      await page.waitForSelector('role=dialog >> input[type=email]');
      await page.keyboard.type('carol@example.com');
      await page.keyboard.press('Enter');
      const password = (await page.textContent('[aria-label="The new secret"]')) ?? '';
      expect((await signIn('carol@example.com', password)).status).to.equal(200);
      await keep(page, 'accounts');
      await page.click('[aria-label="Actions for carol@example.com"]');
      await page.click('role=menuitem[name="Deactivate"]');
      await page.click('role=dialog >> role=button[name="Deactivate it"]');
      await page.waitForSelector('table[aria-label=Accounts] >> text=Deactivated');
      expect((await signIn('carol@example.com', password)).status).to.be.oneOf([400, 401]);
      await page.click('[aria-label="Actions for carol@example.com"]');
      await page.click('role=menuitem[name="Delete"]');
      await page.click('role=dialog >> role=button[name="Delete the account"]');
      await page.locator('table[aria-label=Accounts] >> text=carol').waitFor({ state: 'detached' });
      await page.click('role=button[name="Invite"]');
      await page.waitForSelector('role=dialog >> input[type=email]');
      await page.keyboard.type('dave@example.com');
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=An invitation was mailed to dave@example.com.');
      await page.waitForSelector('table[aria-label=Accounts] >> text=dave@example.com');
      await keep(page, 'invitation');
      const [, token] = /#reset=(\S+)/.exec(await lastMail(1)) ?? [];
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ token, password: 'chosen by Dave himself' });
      await fetch(`${closed.baseUrl}/api/v1/auth/reset-password`, { method: 'POST', headers, body });
      expect((await signIn('dave@example.com', 'chosen by Dave himself')).status).to.equal(200);
      expect(watched.errors).to.deep.equal([]);
      await page.close();
    });

    it('sends a mail to who forgot the password, and takes the new one where its link leads', async () => {
      const { page, errors } = await openPage(world.browser);
      page.setDefaultTimeout(20_000);
      await page.goto(closed.baseUrl);
      await page.click('text=Forgot your password?');
      await page.fill('input[type=email]', ADMIN);
      await page.keyboard.press('Enter');
      await page.waitForSelector('role=status >> text=one is on its way');
      await keep(page, 'reset');
      const [, link = ''] = /http:\/\/engram(\/#reset=\S+)/.exec(await lastMail(2)) ?? [];
      await page.goto('about:blank');
      await page.goto(`${closed.baseUrl}${link}`);
      await page.waitForSelector('h1:has-text("Choose a new password")');
      await page.fill('input[type=password]', 'another horse battery');
      await page.keyboard.press('Enter');
      await page.waitForSelector('role=status >> text=The password is set');
      await page.fill('input[type=email]', ADMIN);
      await page.fill('input[type=password]', 'another horse battery');
      await page.keyboard.press('Enter');
      await page.waitForSelector(`[aria-label="Account of ${ADMIN}"]`);
      expect(page.url()).to.not.include('reset');
      expect(errors.filter((error) => !/401/.test(error))).to.deep.equal([]);
      await page.close();
    });
  });
});

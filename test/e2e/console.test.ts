import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';
import { colouredPixels, missingBrowser, openBrowser, openPage, type WatchedPage } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to look at what the tests saw. */
const KEEP = process.env['ENGRAM_KEEP_SCREENSHOTS'] !== undefined;

const NOTES = [
  'Ada Berg founded the Harbour Library in Oslo in 1998.',
  'The Harbour Library lends musical instruments, among them violins and drums.',
  'Ada Berg lives in Bergen. She works with Jonas Lie on the catalogue.',
].join(' ');

describe('console in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'engram-console-'));
  let app: StartedApp;
  let wire: Wire;
  let browser: Browser;
  let dataset = '';

  // Each goes on with what the one before has made.
  before(async function () {
    // The first one makes the console from its sources.
    this.timeout(120_000);
    const missing = missingBrowser();
    if (missing !== null) {
      process.stderr.write(`    skipped: ${missing}\n`);
      this.skip();
    }
    [app, browser] = await Promise.all([startApp(), openBrowser()]);
    wire = createWire(app.baseUrl);
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
    if (KEEP) process.stderr.write(`    screenshots: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  });

  async function open(path: string, options: Parameters<typeof openPage>[1] = {}): Promise<WatchedPage> {
    const watched = await openPage(browser, options);
    watched.page.setDefaultTimeout(20_000);
    await watched.page.goto(`${app.baseUrl}${path}`);
    await watched.page.waitForSelector('h1');
    return watched;
  }

  /** Nothing was refused or broken, nobody else was asked, and everybody can use the page. */
  async function expectSound({ page, errors, requests }: WatchedPage, allowed: RegExp | null = null): Promise<void> {
    // Colours are measured when nothing fades in any more.
    await page.waitForTimeout(400);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate<{
      violations: { impact: string; id: string; nodes: { html: string }[] }[];
    }>('axe.run()');
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).to.deep.equal([]);
    expect(errors.filter((error) => !allowed?.test(error))).to.deep.equal([]);
    for (const request of requests) expect(request).to.match(new RegExp(`^(${app.baseUrl}/|data:|blob:)`));
  }

  async function keep(page: Page, name: string): Promise<Buffer> {
    const png = await page.screenshot();
    writeFileSync(join(folder, `${name}.png`), png);
    return png;
  }

  /** The page in both schemes and on a telephone, where nothing may be wider than the screen. */
  async function look(path: string, name: string, ready: string): Promise<void> {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const) {
      const watched = await open(path, { colorScheme, viewport: { width, height: 844 } });
      const { page } = watched;
      await page.waitForSelector(ready);
      await expectSound(watched);
      await keep(page, `${name}-${colorScheme}-${width}`);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(width);
      await page.context().close();
    }
  }

  it('greets programs with JSON and browsers with a page of a strict policy', async () => {
    const asProgram = await fetch(app.baseUrl, { headers: { accept: '*/*' } });
    expect(await asProgram.json()).to.deep.equal({ message: 'Hello, World, I am alive!' });
    const asBrowser = await fetch(app.baseUrl, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    const policy = asBrowser.headers.get('content-security-policy') ?? '';
    expect(policy).to.include("script-src 'self';").and.not.include('unsafe');
    const html = await asBrowser.text();
    const [script = ''] = /\/assets\/main-\w+\.js/.exec(html) ?? [];
    const file = await fetch(`${app.baseUrl}${script}`);
    expect(file.headers.get('cache-control')).to.include('immutable');
    const again = { headers: { 'if-none-match': file.headers.get('etag') ?? '' } };
    expect((await fetch(`${app.baseUrl}${script}`, again)).status).to.equal(304);
    const plain = await fetch(`${app.baseUrl}${script}`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(await plain.text()).to.equal(await file.text());
    expect((await fetch(`${app.baseUrl}/assets/..%2Fpage.html`)).status).to.equal(404);
  });

  it('leads somebody who has nothing yet to the first answer, by keyboard', async () => {
    const watched = await open('/');
    const { page } = watched;
    await page.waitForSelector('text=There is nothing to ask yet');
    await expectSound(watched);
    await keep(page, 'first');
    await page.focus('role=link[name="Add the first documents"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=No datasets yet');
    await page.focus('button:has-text("New dataset")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=dialog] input');
    await page.keyboard.type('notes');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("notes")');
    dataset = page.url().split('/').at(-1) ?? '';
    const note = join(folder, 'library.txt');
    writeFileSync(note, NOTES);
    const broken = join(folder, 'broken.pdf');
    writeFileSync(broken, Buffer.from([0, 1, 2, 3, 250, 251, 252, 7, 7, 7]));
    await page.setInputFiles('input[type=file]', [note, broken]);
    await page.waitForSelector('text=1 of 2 documents could not be added');
    await page.waitForSelector('text=cannot be read as a document');
    await page.waitForSelector('text=In the graph', { timeout: 60_000 });
    await expectSound(watched, /415/);
    await page.click('main >> text=Ask');
    await page.waitForSelector('textarea');
    await page.keyboard.type('Who founded the Harbour Library?');
    await page.keyboard.press('Enter');
    await page.waitForSelector('article >> text=Ada Berg');
    await page.context().close();
  });

  it('says in the list of datasets how much is in them', async () => {
    const { page } = await open('/datasets');
    const row = page.locator('tbody tr', { hasText: 'notes' });
    await row.locator('text=Ready').waitFor();
    expect(await row.locator('td').nth(1).textContent()).to.equal('1');
    expect(Number(await row.locator('td').nth(2).textContent())).to.be.greaterThan(4);
    await page.context().close();
    await look('/datasets', 'datasets', 'text=Ready');
    await look(`/datasets/${dataset}`, 'dataset', 'text=In the graph');
  });

  it('shows the sources of an answer, why they were found, and where they stand', async () => {
    const watched = await open(`/ask?dataset=${dataset}`);
    const { page } = watched;
    await page.fill('textarea', 'Which instruments does the library lend?');
    await page.keyboard.press('Enter');
    await page.waitForSelector('section[aria-label=Sources]');
    await page.click('text=Why this?');
    await page.waitForSelector('table >> text=Words of the question');
    await keep(page, 'why');
    await page.click('[aria-label="Open the passage in library.txt"]');
    await page.waitForSelector('mark');
    expect(await page.textContent('mark')).to.include('lends musical instruments');
    await keep(page, 'passage');
    await expectSound(watched);
    await page.keyboard.press('Escape');
    await page.click('[aria-label="Good answer"]');
    await page.waitForSelector('text=Thank you');
    const session = new URL(page.url()).searchParams.get('session') ?? '';
    const { qas } = (await wire.get(`/sessions/${session}`)).json;
    expect(qas[0].feedback_score).to.equal(5);
    await page.reload();
    await page.waitForSelector('[aria-label="Good answer"][aria-pressed=true]');
    expect(await page.textContent('article')).to.include('violins');
    await expectSound(watched);
    await page.context().close();
    await look(`/ask?session=${session}`, 'ask', 'article');
  });

  it('shows passages when asked for passages, and says when nothing fits', async () => {
    const { page } = await open(`/ask?dataset=${dataset}&type=CHUNKS`);
    await page.fill('textarea', 'Bergen');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=1 passage found');
    await page.context().close();
    const exact = await open(`/ask?dataset=${dataset}&type=CHUNKS_LEXICAL`);
    await exact.page.fill('textarea', 'zxqvw');
    await exact.page.keyboard.press('Enter');
    await exact.page.waitForSelector('text=Nothing was found');
    await exact.page.context().close();
  });

  it('adds a text, and forgets a document after a question', async () => {
    const watched = await open(`/datasets/${dataset}`);
    const { page } = watched;
    await page.click('role=tab[name="Text"]');
    await page.fill('textarea', 'Jonas Lie plays the cello in Tromsø.');
    await page.click('text=Add the text');
    await page.waitForSelector('text=1 document done');
    await page.waitForSelector('tbody >> text=Jonas Lie plays');
    await page.click('role=tab[name="Runs"]');
    await page.waitForSelector('table[aria-label=Runs] >> text=Build');
    await expectSound(watched);
    await keep(page, 'runs');
    await page.click('role=tab[name="Documents"]');
    await page.click('[aria-label^="Actions for Jonas"]');
    await page.click('role=menuitem[name="Forget"]');
    await page.click('role=dialog >> text=Forget it');
    await page.waitForSelector('text=is forgotten');
    await page.locator('tbody >> text=Jonas Lie plays').waitFor({ state: 'detached' });
    expect((await wire.get(`/datasets/${dataset}/data/count`)).json.count).to.equal(1);
    await page.context().close();
  });

  it('draws the graph, finds a node, shows its evidence, and exports', async () => {
    const watched = await open(`/graph?dataset=${dataset}`);
    const { page } = watched;
    await page.waitForSelector('[data-settled=true]');
    expect(await colouredPixels(browser, await keep(page, 'graph'))).to.be.greaterThan(500);
    await page.fill('[aria-label="Find a node"]', 'ada');
    await page.waitForSelector('[role=option]:visible');
    await page.keyboard.press('Enter');
    const details = page.locator('section[aria-label^="Details of Ada"]');
    await details.locator('q', { hasText: 'founded the Harbour Library' }).first().waitFor();
    await expectSound(watched);
    await keep(page, 'graph-details');
    for (const [entry, ending] of [
      ['Picture', '.png'],
      ['Data', '.json'],
      ['Graph file', '.graphml'],
    ] as const) {
      await page.click('button:has-text("Export")');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`[role=menuitem]:has-text("${entry}")`),
      ]);
      expect(download.suggestedFilename()).to.equal(`notes${ending}`);
      const path = await download.path();
      expect(existsSync(path)).to.equal(true);
      if (ending === '.png') expect(await colouredPixels(browser, readFileSync(path))).to.be.greaterThan(300);
      if (ending === '.graphml') expect(readFileSync(path, 'utf8')).to.include('Harbour Library');
    }
    await details.locator('role=textbox').or(details.locator('input')).first().fill('Bergen');
    await page.keyboard.press('Enter');
    await details.locator('ul[aria-label="Path to Bergen"] >> text=Bergen').waitFor();
    await details.locator('text=Only what is near').click();
    await page.waitForSelector('text=Around Ada Berg');
    await page.click('text=Whole graph');
    await page.click('[aria-label="Close the details"]').catch(() => undefined);
    await page.context().close();
    await look(`/graph?dataset=${dataset}`, 'graph', '[data-settled=true]');
  });

  it('shows a session with its ratings, and goes on with it', async () => {
    const watched = await open('/sessions');
    const { page } = watched;
    await page.waitForSelector('table[aria-label=Sessions]');
    const session = (await wire.get('/sessions?order_by=started_at&descending=false&limit=10')).json.sessions.find(
      (each: { session_id: string }) => each.session_id.length === 32,
    ).session_id;
    await page.click(`a[href="/sessions/${session}"]`);
    await page.waitForSelector('article >> text=Ada Berg');
    await expectSound(watched);
    await page.click('text=Go on with it');
    await page.waitForSelector('textarea');
    expect(page.url()).to.include(session);
    await page.context().close();
    await look('/sessions', 'sessions', 'table[aria-label=Sessions]');
    await look(`/sessions/${session}`, 'session', 'article');
  });

  it('shows what has run, and that no job has failed', async () => {
    const { page } = await open('/activity');
    await page.waitForSelector('table[aria-label=Runs] >> text=notes');
    await page.click('role=tab[name="Failed jobs"]');
    await page.waitForSelector('text=No job has failed for good');
    await page.context().close();
    await look('/activity', 'activity', 'table[aria-label=Runs]');
  });

  it('shows a new key once, and deletes it after a question', async () => {
    const watched = await open('/people');
    const { page } = watched;
    await page.click('button:has-text("New key")');
    await page.fill('role=dialog >> input >> nth=0', 'laptop');
    await page.click('role=dialog >> role=button[name="Create"]');
    const key = (await page.textContent('[aria-label="The new key"]')) ?? '';
    const { status } = await fetch(`${app.baseUrl}/api/v1/datasets`, { headers: { 'x-api-key': key } });
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
    await page.context().close();
  });

  it('makes a tenant with roles and members', async () => {
    await wire.post('/auth/register', { email: 'eve@example.com', password: 'correct horse battery' });
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
    await wire.post('/permissions/tenants/select', { tenant_id: null });
    await page.context().close();
    await look('/people', 'people', 'text=No API keys');
  });

  it('takes snapshots, keeps skills, and learns from sessions', async () => {
    const { id } = (await wire.post('/datasets', { name: 'learning' })).json;
    expect((await wire.upload('learning', { name: 'library.txt', content: NOTES })).status).to.equal(200);
    expect((await wire.post('/cognify', { datasetIds: [id] })).status).to.equal(200);
    const asked = {
      query: 'Who founded the library?',
      datasetIds: [id],
      searchType: 'GRAPH_COMPLETION',
      sessionId: 'talk',
    };
    expect((await wire.post('/search', asked)).status).to.equal(200);
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
      await wire.upload('learning', { name: `${content.length}.txt`, content });
      expect((await wire.post('/cognify', { datasetIds: [id] })).status).to.equal(200);
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
    await page.context().close();
    for (const each of (await wire.get('/datasets')).json) {
      if (each.name.startsWith('learning'))
        await fetch(`${app.baseUrl}/api/v1/datasets/${each.id}`, { method: 'DELETE' });
    }
  });

  it('shows costs, budgets, settings and health', async () => {
    await look('/costs', 'costs', 'text=Model tokens today');
    await look('/settings', 'settings', 'table[aria-label^=Health] >> text=healthy');
    const { page } = await open('/settings');
    await page.waitForSelector('text=API key of the provider');
    await page.context().close();
  });

  it('keeps the chosen colours, and says when there is no such page', async () => {
    const watched = await open('/datasets', { colorScheme: 'light' });
    await watched.page.click('[aria-label="Use dark colours"]');
    await watched.page.reload();
    await watched.page.waitForSelector('[aria-label="Use light colours"]');
    await watched.page.context().close();
    const missing = await fetch(`${app.baseUrl}/nowhere`, { headers: { accept: 'text/html' } });
    expect(missing.status).to.equal(404);
    expect((await fetch(`${app.baseUrl}/nowhere`)).headers.get('content-type')).to.include('json');
    const lost = await openPage(browser);
    await lost.page.goto(`${app.baseUrl}/nowhere`);
    await lost.page.waitForSelector('text=There is no such page');
    await lost.page.context().close();
  });

  it('deletes a dataset after a question', async () => {
    await wire.post('/datasets', { name: 'short-lived' });
    const { page } = await open('/datasets');
    await page.click('text=short-lived');
    await page.click('[aria-label="More for short-lived"]');
    await page.click('role=menuitem[name="Delete the dataset"]');
    await page.click('role=dialog >> role=button[name="Delete the dataset"]');
    await page.waitForSelector('text=short-lived was deleted');
    await page.waitForSelector('table[aria-label=Datasets]');
    expect(await page.locator('td >> text=short-lived').count()).to.equal(0);
    await page.context().close();
  });

  describe('with authentication', () => {
    let closed: StartedApp;
    before(async () => {
      closed = await startApp({ REQUIRE_AUTHENTICATION: 'true' });
    });
    after(() => closed?.stop());

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

      const watched = await openPage(browser);
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
      expect(await page.locator('[aria-label="More for of-bob"]').count()).to.equal(0);
      await keep(page, 'reader');
      await page.click('[aria-label="Account of ada@example.com"]');
      await page.click('text=Sign out');
      await page.waitForSelector('h1:has-text("Sign in")');
      await page.context().close();
    });
  });
});

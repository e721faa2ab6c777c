import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createConsoleWorld, NOTES } from '../../support/console-world.ts';

describe('console in a browser: first use, questions, sessions', () => {
  const world = createConsoleWorld();
  const { open, expectSound, keep, folder } = world;
  let dataset = '';

  it('greets programs with JSON and browsers with a page of a strict policy', async () => {
    const asProgram = await fetch(world.app.baseUrl, { headers: { accept: '*/*' } });
    expect(await asProgram.json()).to.deep.equal({ message: 'Hello, World, I am alive!' });
    const asBrowser = await fetch(world.app.baseUrl, {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    });
    const policy = asBrowser.headers.get('content-security-policy') ?? '';
    expect(policy).to.include("script-src 'self';").and.not.include('unsafe');
    const html = await asBrowser.text();
    const [script = ''] = /\/assets\/main-\w+\.js/.exec(html) ?? [];
    const file = await fetch(`${world.app.baseUrl}${script}`);
    expect(file.headers.get('cache-control')).to.include('immutable');
    const again = { headers: { 'if-none-match': file.headers.get('etag') ?? '' } };
    expect((await fetch(`${world.app.baseUrl}${script}`, again)).status).to.equal(304);
    const plain = await fetch(`${world.app.baseUrl}${script}`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(await plain.text()).to.equal(await file.text());
    expect((await fetch(`${world.app.baseUrl}/assets/..%2Fpage.html`)).status).to.equal(404);
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
  });

  it('says in the list of datasets how much is in them', async () => {
    const { page } = await open('/datasets');
    const row = page.locator('tbody tr', { hasText: 'notes' });
    await row.locator('text=Ready').waitFor();
    expect(await row.locator('td').nth(1).textContent()).to.equal('1');
    expect(Number(await row.locator('td').nth(2).textContent())).to.be.greaterThan(4);
  });

  it('sets the code of an answer apart', async () => {
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const reply = await fetch(`${world.app.baseUrl}/api/v1${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await reply.json()) as { readonly dataset_id?: string };
    };
    const manual = '# Tern\n\n## Sending data\n\nOpen the connection first.\n\n```js\nsocket.send("hello");\n```\n';
    const added = await post('/add', { datasetName: 'manuals', data: [manual] });
    await post('/cognify', { datasets: ['manuals'] });
    const { page } = await open(`/ask?dataset=${added.dataset_id}`);
    await page.fill('textarea', 'How do I send data with Tern?');
    await page.keyboard.press('Enter');
    await page.waitForSelector('article >> text=Open the connection first.');
    expect(await page.locator('article pre').textContent()).to.equal('socket.send("hello");');
    await keep(page, 'code');
  });

  it('shows the nearest quotes where nothing answers the question, and keeps their passages folded', async () => {
    const { page } = await open(`/ask?dataset=${dataset}`);
    await page.fill('textarea', 'How much rent does the Harbour Library pay?');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Nothing in memory answers this question.');
    await page.waitForSelector('text=/Nearest: .*library.txt/');
    expect(await page.locator('[aria-label^="Open the passage"]').count()).to.equal(0);
    await page.click('text=Show the nearest passages');
    await page.waitForSelector('[aria-label="Open the passage in library.txt"]');
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
    const { qas } = (await world.wire.get(`/sessions/${session}`)).json;
    expect(qas[0].feedback_score).to.equal(5);
    await page.reload();
    await page.waitForSelector('[aria-label="Good answer"][aria-pressed=true]');
    expect(await page.textContent('article')).to.include('violins');
    // A stored answer has the same sources, reasons and passages as a new one.
    await page.click('text=Why this?');
    await page.waitForSelector('table >> text=Words of the question');
    await page.click('[aria-label="Open the passage in library.txt"]');
    await page.waitForSelector('mark');
    await page.keyboard.press('Escape');
    await page.click('role=button[name="Conversations"]');
    const entry = page.locator('nav[aria-label=Conversations] button', { hasText: 'Who founded the Harbour Library?' });
    await entry.waitFor();
    await expectSound(watched);
    await keep(page, 'conversations');
    await entry.focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('article[aria-label="Who founded the Harbour Library?"] >> section[aria-label=Sources]');
  });

  it('shows a question that follows, and the beginning of its answer, above the form', async () => {
    const { page } = await open('/ask');
    const questions = ['Who founded the Harbour Library?', 'What is the capital of Peru?'];
    for (const question of questions) {
      await page.fill('textarea', question);
      await page.keyboard.press('Enter');
      await page.waitForSelector(`article[aria-label="${question}"] >> [aria-label="Good answer"]`);
    }
    const turn = page.locator(`article[aria-label="${questions[1]}"]`);
    const [header, asked, form] = await Promise.all(
      [page.locator('header'), turn.getByText('Nothing in memory'), page.locator('form')].map((one) =>
        one.boundingBox(),
      ),
    );
    expect(asked?.y).to.be.within((header?.y ?? 0) + (header?.height ?? 0), (form?.y ?? 0) - 40);
  });

  it('begins another conversation when asked to, and when another dataset is chosen', async () => {
    const other = await world.addNotes('other');
    const { page } = await open('/ask');
    const ask = async (question: string) => {
      await page.fill('textarea', question);
      await page.keyboard.press('Enter');
      await page.waitForSelector(`article[aria-label="${question}"] >> [aria-label="Good answer"]`);
    };
    const begun = () => new URL(page.url()).searchParams.get('session');
    await ask('Who founded the Harbour Library?');
    const first = begun();
    await page.click('role=button[name="New conversation"]');
    await page.locator('article').waitFor({ state: 'detached' });
    await page.waitForSelector('text=What do you want to know?');
    await page.goto(`${world.app.baseUrl}/ask?dataset=${dataset}`);
    await ask('Where does Ada Berg live?');
    const second = begun();
    expect(second).to.not.equal(first);
    await page.click('role=combobox[name="Dataset"]');
    await page.click('[role=option]:visible >> text=other');
    await page.locator('article').waitFor({ state: 'detached' });
    await ask('Where does Ada Berg live?');
    expect(begun()).to.not.equal(second);
    expect((await world.wire.get(`/sessions/${begun()}`)).json.dataset_id).to.equal(other);
    await world.wire.remove(`/datasets/${other}`);
  });

  it('shows passages when asked for passages, and says when nothing fits', async () => {
    const { page } = await open(`/ask?dataset=${dataset}&type=CHUNKS`);
    await page.fill('textarea', 'Bergen');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=1 passage found');
    const exact = await open(`/ask?dataset=${dataset}&type=CHUNKS_LEXICAL`);
    await exact.page.fill('textarea', 'zxqvw');
    await exact.page.keyboard.press('Enter');
    await exact.page.waitForSelector('text=Nothing was found');
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
    expect((await world.wire.get(`/datasets/${dataset}/data/count`)).json.count).to.equal(1);
  });

  it('shows a session with its ratings, and goes on with it', async () => {
    const watched = await open('/sessions');
    const { page } = watched;
    await page.waitForSelector('table[aria-label=Sessions]');
    const session = (
      await world.wire.get('/sessions?order_by=started_at&descending=false&limit=10')
    ).json.sessions.find((each: { session_id: string }) => each.session_id.length === 32).session_id;
    await page.click(`a[href="/sessions/${session}"]`);
    await page.waitForSelector('article >> text=Ada Berg');
    await expectSound(watched);
    await page.click('text=Go on with it');
    await page.waitForSelector('textarea');
    expect(page.url()).to.include(session);
  });

  it('shows what has run, and that no job has failed', async () => {
    const { page } = await open('/activity');
    await page.waitForSelector('table[aria-label=Runs] >> text=notes');
    await page.click('role=tab[name="Failed jobs"]');
    await page.waitForSelector('text=No job has failed for good');
    await page.click('role=tab[name="Audit log"]');
    await page.waitForSelector('table[aria-label="Audit log"] >> td');
    await keep(page, 'audit');
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openPage } from '../../support/chromium.ts';
import { createConsoleWorld, NOTES } from '../../support/console-world.ts';
import { makeDataDir, startProcess } from '../../support/engram-process.ts';
import { LENDING_RUN } from '../../support/skill-run.ts';
import { createWire } from '../../support/wire.ts';
import { POISONED } from '../poisoned-items.ts';

describe('console in a browser: datasets, skills, improve, integrations', () => {
  const world = createConsoleWorld();
  const { open, expectSound, keep } = world;
  let dataset = '';

  it('leads somebody who has nothing to ask through an example', async () => {
    const watched = await open('/');
    const { page } = watched;
    await page.focus('role=button[name="Try it with an example"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("example")');
    await page.waitForSelector('text=In the graph', { timeout: 60_000 });
    await expectSound(watched);
  });

  it('builds with options, follows the run, and gives back the original', async () => {
    const { id } = (await world.wire.post('/datasets', { name: 'notes' })).json;
    dataset = id;
    const html = `<html><body><p>${NOTES}</p></body></html>`;
    // Enough for the run to be seen while it goes on.
    const texts = Array.from({ length: 40 }, (_, at) => ({
      name: `note-${at}.txt`,
      content: Array.from({ length: 40 }, (_, line) => `Member ${at} lent violin ${at * 40 + line} to Jonas Lie.`).join(
        '\n',
      ),
    }));
    await world.wire.upload('notes', ...texts, { name: 'library.html', content: html });
    const watched = await open(`/datasets/${dataset}`);
    const { page } = watched;
    await page.click('role=tab[name="Options"]');
    await page.fill('role=textbox[name="Schema"]', '{"type": "object"}');
    await page.click('role=button[name="Build with these"]');
    await page.waitForSelector('text=The schema needs a title');
    await page.fill('role=textbox[name="Schema"]', '{"title": "Loan"}');
    await page.fill('role=textbox[name="Prompt"]', 'Look for loans.');
    await page.click('role=button[name="Store schema and prompt"]');
    await page.waitForSelector('text=Later builds use this schema');
    await page.reload();
    await page.click('role=tab[name="Options"]');
    await page.waitForSelector('textarea:has-text("Look for loans.")');
    expect(await page.inputValue('role=textbox[name="Schema"]')).to.equal('{\n  "title": "Loan"\n}');
    await keep(page, 'stored-schema');
    await page.fill('role=textbox[name="Tokens of a passage at most"]', '200');
    const frames: string[] = [];
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => frames.push(String(payload))));
    await page.click('role=button[name="Build with these"]');
    await page.waitForSelector('main >> text=Ready');
    await expectSound(watched);
    await keep(page, 'options');
    await page.click('role=button[name="Move the vectors"]');
    await page.waitForSelector('text=The vectors are of');
    await page.click('role=tab[name="Documents"]');
    await page.click('[aria-label="Actions for library.html"]');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('role=menuitem[name="Download the original"]'),
    ]);
    expect(download.suggestedFilename()).to.equal('library.html');
    expect(readFileSync(await download.path(), 'utf8')).to.equal(html);
    // A run may end before the page listens.
    expect(frames.join()).to.match(/PipelineRun(?:Progress|Completed)/);
  });

  it('shows a proposal with what it changes, and applies it after a question', async () => {
    const skill = '---\ndescription: How to lend a violin\n---\n1. Ask for the card.';
    await world.wire.post('/skills', { dataset_id: dataset, skill_name: 'lending', skills_text: skill });
    await world.wire.post('/remember/entry', { dataset_id: dataset, entry: LENDING_RUN, skill_improvement: {} });
    const watched = await open(`/skills?dataset=${dataset}`);
    const { page } = watched;
    await page.waitForSelector('text=How to lend a violin');
    await page.focus('role=tab[name="Skills"]');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('article >> ins >> text=NoDeposit');
    await expectSound(watched);
    await page.click('role=button[name="Apply"]');
    await page.click('role=dialog >> role=button[name="Apply it"]');
    await page.waitForSelector('article >> text=Applied');
    await expectSound(watched);
    await keep(page, 'proposals');
    const [{ id }] = (await world.wire.get(`/skills?dataset_id=${dataset}`)).json;
    expect((await world.wire.get(`/skills/${id}?dataset_id=${dataset}`)).json.procedure).to.include('NoDeposit');
  });

  it('improves from a session, lists earlier improves, and shows what a session taught', async () => {
    const said = {
      type: 'qa',
      question: 'We deploy on Fridays only. Why is that?',
      answer: 'I do not know.',
    };
    const trace = { type: 'trace', origin_function: 'fetch', status: 'error', error_message: 'HTTP 404' };
    for (const entry of [said, trace]) {
      const told = { entry, session_id: 'talk', dataset_id: dataset };
      expect((await world.wire.post('/remember/entry', told)).status).to.equal(200);
    }
    const watched = await open(`/improve?dataset=${dataset}`);
    const { page } = watched;
    await page.click('role=combobox[name="Sessions to learn from"]');
    await page.click('[role=option]:visible');
    await page.keyboard.press('Escape');
    await page.click('role=button[name="Improve"]');
    await page.waitForSelector('table[aria-label="Stages of improve"]');
    await page.waitForSelector('section[aria-label="What was learned"] >> text=We deploy on Fridays only');
    await page.waitForSelector('section[aria-label="What was learned"] >> text=fetch failed: HTTP 404');
    // The stages of an earlier improve are there after the page was left, too.
    await page.reload();
    await page.focus('section[aria-label="Earlier improves"] >> button >> text=Improve: stages');
    await page.keyboard.press('Enter');
    await page.waitForSelector('table[aria-label="Stages of improve"] >> text=Completed');
    await expectSound(watched);
    const session = await open('/sessions/talk');
    await session.page.waitForSelector('section[aria-label="What was learned"] >> text=Fridays');
    await expectSound(session);
    await keep(session.page, 'session-learned');
  });

  it('says that there is nothing to sync with, and how programs are connected', async () => {
    const { page } = await open('/integrations');
    await page.waitForSelector('text=No other memory is configured');
    await page.locator('pre', { hasText: `engram ${world.app.baseUrl}/mcp` }).waitFor();
    expect(await page.locator('text=Sync now').count()).to.equal(0);
  });

  it('names the documents that could not be built, with the reason', async () => {
    const data = makeDataDir();
    const server = await startProcess({ dataDir: data.path, environment: POISONED });
    const wire = createWire(server.baseUrl);
    const { id } = (await wire.post('/datasets', { name: 'named' })).json;
    const broken = { name: 'broken.txt', content: 'Mary Somerville taught mathematics. POISON-BROKEN' };
    await wire.upload('named', { name: 'good.txt', content: NOTES }, broken);
    await wire.post('/cognify', { datasets: ['named'] });
    const { page } = await openPage(world.browser);
    await page.goto(`${server.baseUrl}/datasets/${id}`);
    await page.waitForSelector('text=1 document could not be built');
    await page.waitForSelector('text=broken.txt: this document is poisoned');
    await keep(page, 'failures');
    await page.click('role=button[name="Try again"]');
    await page.waitForSelector('text=They are tried again');
    await page.close();
    await server.stop();
    data.remove();
  });
});

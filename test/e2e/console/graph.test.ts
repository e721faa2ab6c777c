import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { colouredPixels } from '../../support/chromium.ts';
import { createConsoleWorld } from '../../support/console-world.ts';

describe('console in a browser: graph', () => {
  const world = createConsoleWorld();
  const { open, expectSound, look, keep } = world;
  let dataset = '';
  before(async () => {
    dataset = await world.addNotes('notes');
  });

  it('draws the graph, finds a node, shows its evidence, and exports', async () => {
    const watched = await open(`/graph?dataset=${dataset}`);
    const { page } = watched;
    await page.waitForSelector('[data-settled=true]');
    expect(await colouredPixels(world.browser, await keep(page, 'graph'))).to.be.greaterThan(500);
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
      if (ending === '.png') expect(await colouredPixels(world.browser, readFileSync(path))).to.be.greaterThan(300);
      if (ending === '.graphml') expect(readFileSync(path, 'utf8')).to.include('Harbour Library');
    }
    await details.locator('role=textbox').or(details.locator('input')).first().fill('Bergen');
    await page.keyboard.press('Enter');
    await details.locator('ul[aria-label="Path to Bergen"] >> text=Bergen').waitFor();
    await details.locator('text=Only what is near').click();
    await page.waitForSelector('text=Around Ada Berg');
    await page.click('text=Whole graph');
    await page.click('[aria-label="Close the details"]').catch(() => undefined);
    await page.close();
    await look(`/graph?dataset=${dataset}`, 'graph', '[data-settled=true]');
  });
});

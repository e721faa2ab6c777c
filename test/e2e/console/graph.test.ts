import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { colouredPixels, framesWithin } from '../../support/chromium.ts';
import { createConsoleWorld } from '../../support/console-world.ts';

/** Documents, passages and entities in communities, as `/visualize/drawing` answers them. */
function largeGraph(count: number): object {
  const nodes = Array.from({ length: count }, (_, at) =>
    at % 20 === 0
      ? { id: `${at}`, name: `Document ${at}`, type: 'TextDocument' }
      : at % 20 < 3
        ? { id: `${at}`, name: `Passage ${at}`, type: 'DocumentChunk' }
        : { id: `${at}`, name: `Entity ${at}`, type: 'Entity', entity_type: `kind ${at % 7}` },
  );
  const relations = [
    { name: 'is_part_of', edge_class: 'structural' },
    { name: 'contains', edge_class: 'structural' },
    { name: 'knows', edge_class: 'semantic' },
  ];
  const links = nodes.flatMap((_, at) => {
    const document = at - (at % 20);
    if (at === document) return [];
    if (at % 20 < 3) return [[at, document, 0]];
    const near = (document - (document % 400) + ((at * 7) % 400)) % count;
    return [
      [document + 1 + (at % 2), at, 1],
      [at, near, 2, [`${2000 + (at % 20)}`]],
    ];
  });
  return { nodes, relations, links };
}

describe('console in a browser: graph', () => {
  const world = createConsoleWorld();
  const { open, expectSound, keep } = world;
  let dataset = '';
  before(async () => {
    dataset = await world.addNotes('notes');
  });

  it('draws the graph, finds a node, shows its evidence, and exports', async () => {
    const watched = await open(`/graph?dataset=${dataset}`);
    const { page } = watched;
    await page.waitForSelector('[data-settled=true]');
    await keep(page, 'graph');
    expect(await colouredPixels(world.browser, await page.screenshot())).to.be.greaterThan(500);
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
    await details.locator('role=textbox').or(details.locator('input')).first().fill('Oslo');
    await page.keyboard.press('Enter');
    const path = details.locator('ul[aria-label="Path to Oslo"]');
    const sentence = 'Ada Berg founded the Harbour Library in Oslo in 1998.';
    await path.locator('text=Oslo').first().waitFor();
    await details.locator('q', { hasText: sentence }).first().waitFor();
    await keep(page, 'graph-path');
    await details.locator(`[aria-label="Open the passage: ${sentence}"]`).first().click();
    await page.waitForSelector('mark');
    expect(await page.textContent('mark')).to.equal(sentence);
    await page.keyboard.press('Escape');
  });

  it('shows what is near a node, and more of it with each double click', async () => {
    const { page } = await open(`/graph?dataset=${dataset}`);
    await page.waitForSelector('[data-settled=true]');
    // By keyboard: the list of nodes says in words what the picture shows.
    await page.focus('role=tab[name="Nodes"]');
    await page.keyboard.press('Enter');
    await page.focus('ul[aria-label=Nodes] button:has(:text-is("Harbour Library"))');
    await page.keyboard.press('Enter');
    const details = page.locator('section[aria-label="Details of Harbour Library"]');
    await details.locator('text=Only what is near').click();
    await page.waitForSelector('text=Around Harbour Library');
    await page.waitForSelector('[data-settled=true]');
    const nodes = async () => Number.parseInt((await page.textContent('[aria-live=polite]'))?.split(': ')[1] ?? '', 10);
    const before = await nodes();
    await details.locator('button', { hasText: 'Ada Berg' }).first().click();
    await page.waitForTimeout(600);
    const stage = await page.locator('.stage').boundingBox();
    if (stage === null) throw new Error('there is no picture');
    await page.mouse.dblclick(stage.x + stage.width / 2, stage.y + stage.height / 2);
    await page.waitForSelector('text=Around Harbour Library, Ada Berg');
    expect(await nodes()).to.be.greaterThan(before);
    await page.click('text=Whole graph');
    await page.waitForSelector('[aria-live=polite]:not(:has-text("Around"))');
  });

  it('shows the facts of a time', async () => {
    const { wire } = world;
    const { id } = (await wire.post('/datasets', { name: 'dated' })).json;
    const text = 'Ada Berg founded the Harbour Library in Oslo in 1998. Jonas Lie joined Acme Bank on 3 May 2004.';
    expect((await wire.upload('dated', { name: 'dated.txt', content: text })).status).to.equal(200);
    expect((await wire.post('/cognify', { datasetIds: [id] })).status).to.equal(200);
    const watched = await open(`/graph?dataset=${id}`);
    const { page } = watched;
    await page.waitForSelector('text=1998 to 2004-05-03');
    await page.click('role=tab[name="Nodes"]');
    const names = page.locator('ul[aria-label=Nodes]');
    await names.locator(':text-is("Oslo")').waitFor();
    await page.focus('[aria-label="Earliest date"]');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('text=2004-05-03 to 2004-05-03');
    await names.locator(':text-is("Acme Bank")').waitFor();
    await expectSound(watched);
    await keep(page, 'graph-time');
  });

  it('stays usable with 20,000 nodes', async () => {
    const watched = await open('/settings');
    const { page, errors } = watched;
    await page.route('**/visualize/drawing*', (route) => route.fulfill({ json: largeGraph(20_000) }));
    page.setDefaultTimeout(120_000);
    await page.click('a[href="/graph"]');
    await page.waitForSelector('.stage canvas');
    expect(await framesWithin(page, 2000)).to.be.greaterThan(4);
    await page.waitForSelector('[data-settled=true]');
    await page.fill('[aria-label="Find a node"]', 'entity 4245');
    await page.waitForSelector('[role=option]:visible');
    await page.keyboard.press('Enter');
    await page.waitForSelector('section[aria-label="Details of Entity 4245"]');
    await keep(page, 'graph-large');
    // The server knows nothing of these nodes.
    expect(errors.filter((error) => !/40\d/.test(error))).to.deep.equal([]);
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { missingBrowser, openBrowser, openTab, type Tab, type WatchedPage, watchPage } from './chromium.ts';
import { type StartedApp, startApp } from './start-app.ts';
import { createWire, type Wire } from './wire.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to look at what the tests saw. */
export const KEEP = process.env['ENGRAM_KEEP_SCREENSHOTS'] !== undefined;

/** A text that the tests of the console ask about. */
export const NOTES = [
  'Ada Berg founded the Harbour Library in Oslo in 1998.',
  'The Harbour Library lends musical instruments, among them violins and drums.',
  'Ada Berg lives in Bergen. She works with Jonas Lie on the catalogue.',
].join(' ');

/** One server and one browser for all tests of a `describe`, which go on with what the ones before have made. */
interface ConsoleWorld {
  readonly app: StartedApp;
  readonly wire: Wire;
  readonly browser: Browser;
  /** For files to upload; screenshots stand here as well. */
  readonly folder: string;
  /** A page of the console with its heading, in the one tab. With `options` it has a tab and a browser profile of its own. */
  open(path: string, options?: BrowserContextOptions): Promise<WatchedPage>;
  /** Nothing was refused or broken, no other server was asked, and everybody can use the page. */
  expectSound(watched: WatchedPage, allowed?: RegExp | null): Promise<void>;
  /** A picture of the page to look at, when pictures are kept: each takes as long as a test. */
  keep(page: Page, name: string): Promise<void>;
  /** Makes a dataset of `NOTES` and its graph; returns its id. */
  addNotes(name: string): Promise<string>;
}

/**
 * Starts them before the tests of the `describe` that calls it; skips the tests where there is no browser. A function gives the
 * variables when they are known: an earlier `before` may have made them.
 */
export function createConsoleWorld(
  variables: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>) = {},
): ConsoleWorld {
  const folder = mkdtempSync(join(tmpdir(), 'engram-console-'));
  let app: StartedApp;
  let wire: Wire;
  let browser: Browser;
  let profile: BrowserContext;
  let tab: Tab | null = null;

  before(async function () {
    const missing = missingBrowser();
    if (missing !== null) {
      process.stderr.write(`    skipped: ${missing}\n`);
      this.skip();
    }
    const given = typeof variables === 'function' ? variables() : variables;
    [app, browser] = await Promise.all([startApp(given), openBrowser()]);
    wire = createWire(app.baseUrl);
    profile = await browser.newContext(SCREEN);
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
    if (KEEP) process.stderr.write(`    screenshots: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  });

  const world: ConsoleWorld = {
    get app() {
      return app;
    },
    get wire() {
      return wire;
    },
    get browser() {
      return browser;
    },
    folder,

    async open(path, options) {
      const url = `${app.baseUrl}${path}`;
      if (options !== undefined) {
        const context = await browser.newContext({ ...SCREEN, ...options });
        const own = watchPage(await context.newPage());
        own.page.setDefaultTimeout(20_000);
        await own.page.goto(url);
        await own.page.waitForSelector('h1');
        return own;
      }
      if (tab === null || tab.page.isClosed()) tab = await openTab(profile);
      tab.page.setDefaultTimeout(20_000);
      await tab.goto(url);
      await tab.page.waitForSelector('h1');
      return tab;
    },

    async expectSound({ page, errors, requests }, allowed = null) {
      // Colours are measured when nothing fades in any more.
      await page.evaluate(UNTIL_STILL);
      if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
      const { violations } = await page.evaluate<{
        violations: { impact: string; id: string; nodes: { html: string }[] }[];
      }>("axe.run({ resultTypes: ['violations'], preload: false })");
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).to.deep.equal([]);
      expect(errors.filter((error) => !allowed?.test(error))).to.deep.equal([]);
      for (const request of requests) expect(request).to.match(new RegExp(`^(${app.baseUrl}/|data:|blob:)`));
    },

    async keep(page, name) {
      if (!KEEP) return;
      await page.evaluate(UNTIL_STILL);
      await page.screenshot({ path: join(folder, `${name}.png`) });
    },

    async addNotes(name) {
      const { id } = (await wire.post('/datasets', { name })).json;
      expect((await wire.upload(name, { name: 'library.txt', content: NOTES })).status).to.equal(200);
      expect((await wire.post('/cognify', { datasetIds: [id] })).status).to.equal(200);
      return id;
    },
  };
  return world;
}

const SCREEN: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };

/** Two frames later what was asked for is drawn, and animations that end have ended. */
const UNTIL_STILL = `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  await frame();
  const ending = document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < 2000);
  await Promise.allSettled(ending.map((each) => each.finished));
})()`;

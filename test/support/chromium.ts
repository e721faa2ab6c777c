import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type ViewportSize,
} from 'playwright-core';

const EXECUTABLE = process.env['ENGRAM_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** Why there is no browser here, or null when there is one. */
export function missingBrowser(): string | null {
  return existsSync(EXECUTABLE)
    ? null
    : `no Chromium at ${EXECUTABLE} (apt-get install chromium, or set ENGRAM_TEST_CHROMIUM)`;
}

/** Without a window, a graphics card or connections of its own. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--use-gl=swiftshader',
      '--enable-unsafe-swiftshader',
      '--ignore-gpu-blocklist',
    ],
  });
}

/** A page that notes what went wrong in it and what it asked for. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console and of the page, refusals of its content security policy among them. */
  readonly errors: string[];
  readonly requests: string[];
}

const VIEWPORT = { width: 1280, height: 800 };

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: VIEWPORT, ...options });
  return watchPage(await context.newPage());
}

/** One tab for page after page: a new one takes more processor time than all that a test does in it. */
export interface Tab extends WatchedPage {
  /** Loads the page, and from then on notes what goes wrong in it and what it asks for. */
  goto(url: string, look?: { colorScheme?: 'light' | 'dark'; viewport?: ViewportSize }): Promise<void>;
}

export async function openTab(context: BrowserContext): Promise<Tab> {
  const watched = watchPage(await context.newPage());
  const { page, errors, requests } = watched;
  return {
    ...watched,
    async goto(url, { colorScheme = 'light', viewport = VIEWPORT } = {}) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      requests.length = 0;
      await page.goto(url, { waitUntil: 'commit', timeout: 60_000 });
      // Those of the page before it.
      errors.length = 0;
      await page.waitForLoadState();
    },
  };
}

export function watchPage(page: Page): WatchedPage {
  const errors: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  return { page, errors, requests };
}

/** What cannot be used on a narrow screen: whether the page is wider, and buttons of the dialog, else of the page, out of reach. */
export async function faultsWhenNarrow(page: Page): Promise<readonly string[]> {
  const before = page.viewportSize() ?? VIEWPORT;
  await page.setViewportSize({ width: 390, height: 844 });
  let faults: readonly string[] = [];
  // The page is drawn anew, and what slides in has to come to rest.
  for (let attempt = 0; attempt < 20; attempt += 1) {
    faults = await page.evaluate<readonly string[]>(FIND_FAULTS);
    if (faults.length === 0) break;
    await page.waitForTimeout(100);
  }
  await page.setViewportSize(before);
  return faults;
}

const FIND_FAULTS = `(() => {
  const place = document.querySelector('[role=dialog]') ?? document.querySelector('main');
  const faults = document.documentElement.scrollWidth > innerWidth ? ['the page is wider than the screen'] : [];
  for (const button of place.querySelectorAll('button')) {
    if (!button.checkVisibility()) continue;
    button.scrollIntoView({ block: 'center' });
    const { left, right, top, width, height } = button.getBoundingClientRect();
    const hit = document
      .elementsFromPoint(left + width / 2, top + height / 2)
      .find((each) => each.closest('.mantine-Notifications-root') === null);
    if (left < 0 || right > innerWidth || !button.contains(hit ?? null)) faults.push(button.innerText || button.ariaLabel);
  }
  return faults;
})()`;

/** Pages that look at pictures, by browser. */
const viewers = new WeakMap<Browser, Promise<Page>>();

/** How many pixels of a PNG have a colour that is clearly neither grey, black nor white. */
export async function colouredPixels(browser: Browser, png: Buffer): Promise<number> {
  const viewer = viewers.get(browser) ?? browser.newPage();
  viewers.set(browser, viewer);
  return (await viewer).evaluate(`(${COUNT_COLOURED})('data:image/png;base64,${png.toString('base64')}')`);
}

/** The browser decodes the picture; as text, because it runs there and not here. */
const COUNT_COLOURED = `async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60) count += 1;
  }
  return count;
}`;

/** Frames that the page draws in the given time. */
export function framesWithin(page: Page, durationMs: number): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    let frames = 0;
    const next = (now) => {
      frames += 1;
      if (now - start > ${durationMs}) resolve(frames);
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`);
}

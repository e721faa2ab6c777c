import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import robotsParser from 'robots-parser';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { PageFetcher, PageValidators } from '../../common/ports/documents.ts';
import type { MonotonicClock } from '../../common/ports/system.ts';
import { type ChangePage, type Connector, type SourceAccess, SourceBusyError } from './connector.ts';
import { slug } from './folder.ts';

const AGENT = 'Engram';
const MAX_PAGES = 2000;
const PAGE = 100;
/** Between two requests to a host, unless its robots.txt asks for more. */
const PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;
const NOTHING: PageValidators = { etag: null, lastModified: null };
/** Links to what is no document. */
const ASSET = /\.(png|jpe?g|gif|svg|webp|ico|css|js|mjs|json|woff2?|ttf|mp[34]|webm|avi|mov|zip|gz|exe|dmg)$/i;

/** Its types do not fit an ES module. */
const parseRobots = robotsParser as unknown as (
  address: string,
  text: string,
) => {
  isAllowed(url: string, agent: string): boolean | undefined;
  getCrawlDelay(agent: string): number | undefined;
  getSitemaps(): readonly string[];
};

/** The part of linkedom's elements that is used. */
export interface Node {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly children: Iterable<Node>;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Node>;
}

type Listed = ChangePage['present'][number];

/**
 * A web site, a part of one, a sitemap or a feed. A site is read by its sitemap, else by following its links below the address; of
 * a feed the entries that left it stay. Pages are asked for again with ETag and Last-Modified, `robots.txt` is kept, and one
 * request at a time goes to a host.
 */
export function createWebConnector({
  fetcher,
  clock,
}: {
  readonly fetcher: PageFetcher;
  readonly clock: MonotonicClock;
}): Connector {
  const reader = createReader(fetcher, clock);
  const { ask } = reader;
  const changes = createChanges(reader);
  return {
    provider: 'web',
    capabilities: {
      title: 'Web site or feed',
      feeds: ['pages'],
      selection: 'none',
      accounts: 'of each user',
      everyMs: 3_600_000,
    },
    datasetName: ({ accountId }) => `web_${slug(URL.parse(accountId)?.host ?? accountId)}`,
    async connect(address) {
      const url = URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`);
      if (url === null || url.host === '') throw engramError('InvalidRequestError', 'The address is not valid.');
      url.hash = '';
      // An address that may not be fetched, or that does not answer, is said at once.
      await ask(url.href, NOTHING, { signal: AbortSignal.timeout(30_000) });
      return {
        accountId: url.href,
        label: url.host + url.pathname.replace(/\/$/, ''),
        authType: 'none',
        scopes: [],
        metadata: {},
      };
    },
    list: async ({ connection }) => [
      { id: connection.accountId, name: connection.accountLabel, description: null, attributes: {} },
    ],
    changesSince: (access, { resource }) => changes(access, resource),
    async fetch(access, { key, stored }) {
      const [etag = null, lastModified = null] = stored?.startsWith('[')
        ? (JSON.parse(stored) as (string | null)[])
        : [];
      const answer = await ask(key, { etag, lastModified }, access);
      if (answer === 'gone') return null;
      if (answer === 'unchanged' || answer.version === stored) return 'unchanged';
      const { fileName, mimeType, content, version, url } = answer;
      return { fileName, mimeType, content, version, uri: url };
    },
  };
}

type Reader = ReturnType<typeof createReader>;
type Robots = Awaited<ReturnType<Reader['robotsOf']>>;

/** Fetches pages, one at a time from a host, as slowly as its robots.txt asks. */
function createReader(fetcher: PageFetcher, clock: MonotonicClock) {
  const turns = createTurns(clock);
  const ask = async (url: string, known: PageValidators, { signal }: Pick<SourceAccess, 'signal'>) => {
    await turns.wait(new URL(url).host, signal);
    try {
      const answer = await fetcher.fetchChanged(url, known, signal);
      if (typeof answer === 'string') return answer;
      const content = await buffer(answer.body);
      const { etag, lastModified } = answer;
      const version = etag ?? lastModified ?? sha256(content);
      return { ...answer, content, version: JSON.stringify([etag, lastModified, version]) };
    } catch (error) {
      if (isEngramError(error) && error.retryAfterSeconds !== undefined) {
        throw new SourceBusyError(error.retryAfterSeconds * 1000, { cause: error });
      }
      throw error;
    }
  };
  const textOf = async (url: string, access: SourceAccess) => {
    const answer = await ask(url, NOTHING, access);
    if (typeof answer === 'string') return null;
    return { text: answer.content.toString('utf8'), url: answer.url, version: answer.version };
  };
  const robotsOf = async (site: URL, access: SourceAccess) => {
    const address = `${site.origin}/robots.txt`;
    const found = await textOf(address, access).catch(passOver(access));
    const robots = parseRobots(address, found?.text ?? '');
    turns.setPause(site.host, (robots.getCrawlDelay(AGENT) ?? 0) * 1000);
    return robots;
  };
  return { ask, textOf, robotsOf };
}

/** The pages of a site or the entries of a feed. */
function createChanges({ textOf, robotsOf }: Reader) {
  /** An entry may be a page of any host, with a robots.txt of its own. */
  async function allowedEntries(
    access: SourceAccess,
    entries: readonly Listed[],
    rules: Map<string, Robots>,
  ): Promise<ChangePage> {
    const present: Listed[] = [];
    for (const entry of entries) {
      const site = new URL(entry.key);
      const own = rules.get(site.origin) ?? (await robotsOf(site, access));
      rules.set(site.origin, own);
      if (own.isAllowed(entry.key, AGENT) !== false) present.push(entry);
    }
    return { present, gone: [], cursor: null, total: present.length };
  }

  return async function* changes(access: SourceAccess, resource: string): AsyncGenerator<ChangePage> {
    const start = new URL(resource);
    const robots = await robotsOf(start, access);
    const isAllowed = ({ key }: Listed) => robots.isAllowed(key, AGENT) !== false;
    const first = await textOf(resource, access);
    if (first === null) throw new Error('The address is gone.');
    const entries = await entriesOf(first.text, first.url);
    if (entries !== null) {
      yield await allowedEntries(access, entries, new Map([[start.origin, robots]]));
      return;
    }
    const maps = isSitemap(first.text) ? [resource] : [...robots.getSitemaps(), `${start.origin}/sitemap.xml`];
    const below = isSitemap(first.text) ? null : folderOf(start);
    let listed: readonly Listed[] = [];
    for (const map of maps) {
      listed = (await pagesOf(textOf, map, access)).filter(
        (page) => isAllowed(page) && (below === null || page.key.startsWith(below)),
      );
      if (listed.length > 0) break;
    }
    if (listed.length === 0) {
      yield* crawl(textOf, access, { start: resource, first, below: folderOf(start), isAllowed });
      return;
    }
    for (let at = 0; at < listed.length; at += PAGE) {
      const isLast = at + PAGE >= listed.length;
      const present = listed.slice(at, at + PAGE);
      yield { present, gone: [], cursor: null, total: listed.length, ...(isLast ? { isWhole: true as const } : {}) };
    }
  };
}

/** The pages of a sitemap, and of those that it names, up to the limit. */
async function pagesOf(
  textOf: Reader['textOf'],
  map: string,
  access: SourceAccess,
  depth = 0,
): Promise<readonly Listed[]> {
  const found = await textOf(map, access).catch(passOver(access));
  if (found === null || !isSitemap(found.text)) return [];
  const document = await xml(found.text);
  const pages: Listed[] = [...document.querySelectorAll('url')].flatMap((entry) => {
    const key = childText(entry, 'loc');
    return key === null || URL.parse(key) === null ? [] : [{ key, version: null }];
  });
  for (const entry of depth < 2 ? document.querySelectorAll('sitemap') : []) {
    const loc = childText(entry, 'loc');
    if (loc !== null && pages.length < MAX_PAGES) pages.push(...(await pagesOf(textOf, loc, access, depth + 1)));
  }
  return pages.slice(0, MAX_PAGES);
}

/** Follows the links of pages below the address. */
async function* crawl(
  textOf: Reader['textOf'],
  access: SourceAccess,
  {
    start,
    first,
    below,
    isAllowed,
  }: {
    readonly start: string;
    readonly first: { readonly text: string; readonly url: string };
    readonly below: string;
    readonly isAllowed: (page: Listed) => boolean;
  },
): AsyncGenerator<ChangePage> {
  const known = new Set([start]);
  const waiting = [start];
  while (waiting.length > 0) {
    const url = waiting.shift() as string;
    const page = url === start ? first : await textOf(url, access).catch(passOver(access));
    if (page !== null) {
      for (const link of await linksOf(page.text, page.url)) {
        const isWanted = link.startsWith(below) && !known.has(link) && isAllowed({ key: link, version: null });
        if (!isWanted || known.size >= MAX_PAGES) continue;
        known.add(link);
        waiting.push(link);
      }
    }
    const present = page === null ? [] : [{ key: url, version: null }];
    const isLast = waiting.length === 0;
    yield { present, gone: [], cursor: null, total: known.size, ...(isLast ? { isWhole: true as const } : {}) };
  }
}

/** For pages of a site: one that cannot be read is passed over. */
function passOver({ signal }: SourceAccess): (error: unknown) => null {
  return (error) => {
    if (signal.aborted || error instanceof SourceBusyError) throw error;
    return null;
  };
}

/** Keeps requests to a host apart. */
function createTurns(clock: MonotonicClock) {
  const next = new Map<string, number>();
  const pauses = new Map<string, number>();
  return {
    setPause: (host: string, ms: number) => void pauses.set(host, Math.min(MAX_PAUSE_MS, Math.max(PAUSE_MS, ms))),
    async wait(host: string, signal: AbortSignal) {
      const now = clock.monotonicMs();
      const at = Math.max(now, next.get(host) ?? 0);
      next.set(host, at + (pauses.get(host) ?? PAUSE_MS));
      if (at > now) await sleep(at - now, undefined, { signal });
    },
  };
}

/** The entries of an RSS or Atom feed; null for anything else. */
async function entriesOf(text: string, base: string): Promise<readonly Listed[] | null> {
  if (!/<(rss|feed|rdf:RDF)[\s>]/i.test(text.slice(0, 2000))) return null;
  return [...(await xml(text)).querySelectorAll('item, entry')].flatMap((entry): readonly Listed[] => {
    const links = [...entry.children].filter(({ tagName }) => tagName.toLowerCase() === 'link');
    const link = links.find((one) => !/^(self|edit|enclosure)$/.test(one.getAttribute('rel') ?? ''));
    const address = link?.getAttribute('href') ?? link?.textContent?.trim() ?? '';
    const url = address === '' ? null : URL.parse(address, base);
    return url === null ? [] : [{ key: url.href, version: null }];
  });
}

function isSitemap(text: string): boolean {
  return /<(urlset|sitemapindex)[\s>]/i.test(text.slice(0, 2000));
}

/** Loaded with the first import of a site. */
export async function xml(text: string): Promise<Node> {
  const { DOMParser } = await import('linkedom');
  return new DOMParser().parseFromString(text, 'text/xml') as unknown as Node;
}

function childText(entry: Node, name: string): string | null {
  const child = [...entry.children].find(({ tagName }) => tagName.toLowerCase() === name);
  return child?.textContent?.trim() ?? null;
}

async function linksOf(html: string, base: string): Promise<readonly string[]> {
  if (!/<html|<body|<a\s/i.test(html)) return [];
  const { parseHTML } = await import('linkedom');
  const { document } = parseHTML(html) as unknown as { readonly document: Node };
  return [...document.querySelectorAll('a[href]')].flatMap((anchor) => {
    const url = URL.parse(anchor.getAttribute('href') ?? '', base);
    if (url === null || !/^https?:$/.test(url.protocol) || ASSET.test(url.pathname)) return [];
    url.hash = '';
    return [url.href];
  });
}

/** The folder of an address: pages below it belong to the site. */
function folderOf(url: URL): string {
  return `${url.origin}${url.pathname.replace(/[^/]*$/, '')}`;
}

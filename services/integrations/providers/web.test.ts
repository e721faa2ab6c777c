import { createServer } from 'node:http';
import { expect } from 'chai';
import { closed, listening } from '../../../test/support/listening.ts';
import { createGuardedFetcher } from '../../common/platform/fetch/guarded-fetcher.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import type { SourceAccess } from './connector.ts';
import { createWebConnector } from './web.ts';

/** A host with pages by path; its requests are noted. */
async function startHost(pages: ReadonlyMap<string, string>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    const body = pages.get(path);
    const type = body?.startsWith('<?xml') ? 'application/xml' : 'text/html';
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type }).end(body);
  });
  const url = await listening(server);
  return {
    asked,
    url,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

describe('entries of a feed', () => {
  it('are the pages that they link to, each as the robots.txt of its own host allows', async () => {
    const article = '<html><body><article><p>The mill was built in 1911.</p></article></body></html>';
    const pages = new Map([['/mill', article]]);
    await using press = await startHost(
      pages.set('/secret', '<p>Nothing.</p>').set('/robots.txt', 'User-agent: *\nDisallow: /secret'),
    );
    const feed = new Map<string, string>();
    await using blog = await startHost(feed);
    const entries = ['mill', 'secret'].map((name) => {
      return `<item><title>${name}</title><link>${press.url}/${name}</link><description>Short.</description></item>`;
    });
    const own = `<item><title>lamp</title><link>/lamp</link></item>`;
    feed.set('/feed', `<?xml version="1.0"?><rss version="2.0"><channel>${entries.join('')}${own}</channel></rss>`);
    feed.set('/lamp', '<html><body><p>The lamp flickers.</p></body></html>');
    const limits = { allowHttpRequests: true, maxBytes: 100_000, allowPrivateAddresses: true };
    const connector = createWebConnector({ fetcher: createGuardedFetcher(limits), clock: createSystemClock() });
    const access = {
      signal: new AbortController().signal,
      token: async () => '',
    } as Partial<SourceAccess> as SourceAccess;
    const asked = { resource: `${blog.url}/feed`, feed: 'pages' };
    const [page] = await Array.fromAsync(connector.changesSince(access, asked, null));
    const keys = page?.present.map(({ key }) => key);
    expect(keys).to.deep.equal([`${press.url}/mill`, `${blog.url}/lamp`]);
    expect(page?.isWhole, 'entries that left the feed stay').to.equal(undefined);
    const change = { ...asked, key: `${press.url}/mill`, version: null, stored: null };
    const document = await connector.fetch(access, change);
    if (document === null || document === 'unchanged') throw new Error('the article is missing');
    expect(document.content.toString()).to.equal(article);
    const again = await connector.fetch(access, { ...change, stored: document.version });
    expect(again).to.equal('unchanged');
    expect(
      press.asked.filter((path) => path === '/robots.txt'),
      'once',
    ).to.have.length(1);
    expect(press.asked).not.to.include('/secret');
  });
});

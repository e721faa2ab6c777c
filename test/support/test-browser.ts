interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly origin: string;
  readonly path: string;
}

/** What a browser does of a sign-in: keeps cookies by origin and path, and follows redirects as far as it is told. */
export interface TestBrowser {
  /** One request; redirects are answers. */
  get(url: string): Promise<Response>;
  post(url: string): Promise<Response>;
  /** Follows redirects until an answer is none, or until it leads to a page for which `isEnd` holds, which is not asked for. */
  visit(url: string, isEnd?: (url: URL) => boolean): Promise<Visit>;
  cookie(name: string): string | null;
  /** Cookies as they were set, the newest last. */
  readonly set: readonly string[];
}

export interface Visit {
  /** Of the last request. */
  readonly response: Response;
  /** The last address, which was not asked for when it was the end. */
  readonly url: URL;
}

export function createBrowser(): TestBrowser {
  let jar: Cookie[] = [];
  const set: string[] = [];
  const keep = (url: URL, header: string): void => {
    set.push(header);
    const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (key: string) =>
      attributes.find((each) => each.toLowerCase().startsWith(`${key}=`))?.split('=')[1];
    const path = attribute('path') ?? url.pathname;
    const expires = attribute('expires');
    const isGone = attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now());
    jar = jar.filter((cookie) => cookie.name !== name || cookie.origin !== url.origin || cookie.path !== path);
    if (!isGone) jar.push({ name, value, origin: url.origin, path });
  };
  const send = async (address: string, method: string): Promise<Response> => {
    const url = new URL(address);
    const sent = jar.filter(({ origin, path }) => origin === url.origin && url.pathname.startsWith(path));
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { method, redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const header of response.headers.getSetCookie()) keep(url, header);
    return response;
  };
  return {
    set,
    get: (url) => send(url, 'GET'),
    post: (url) => send(url, 'POST'),
    async visit(start, isEnd = () => false) {
      let url = new URL(start);
      let response = await send(url.href, 'GET');
      for (let hops = 0; hops < 20; hops += 1) {
        const location = response.headers.get('location');
        if (location === null) return { response, url };
        url = new URL(location, url);
        if (isEnd(url)) return { response, url };
        await response.body?.cancel();
        response = await send(url.href, 'GET');
      }
      throw new Error(`${start} redirects for ever`);
    },
    cookie: (name) => jar.find((cookie) => cookie.name === name)?.value ?? null,
  };
}

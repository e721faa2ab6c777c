import type { AuthSettings } from '../dependencies.ts';

type CookieSettings = Pick<AuthSettings, 'cookieName' | 'cookieDomain'>;

/** `Set-Cookie` as the contract spells it: ends with the browser session, readable by no script. */
export function loginCookie(settings: CookieSettings, token: string): string {
  return `${settings.cookieName}=${token}; HttpOnly; Path=/; SameSite=lax${domainOf(settings)}`;
}

export function clearedCookie(settings: CookieSettings): string {
  return `${settings.cookieName}=""; HttpOnly; Max-Age=0; Path=/; SameSite=lax${domainOf(settings)}`;
}

/** Login tokens that a request carries, in the Authorization header and in the cookie. */
export function presentedTokens(
  settings: CookieSettings,
  headers: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(headers['authorization'] ?? '')?.[1];
  const cookies = (headers['cookie'] ?? '').split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    return name.trim() === settings.cookieName
      ? [
          value
            .join('=')
            .trim()
            .replace(/^"(.*)"$/, '$1'),
        ]
      : [];
  });
  return [...(bearer === undefined ? [] : [bearer]), ...cookies];
}

function domainOf({ cookieDomain }: CookieSettings): string {
  return cookieDomain === null ? '' : `; Domain=${cookieDomain}`;
}

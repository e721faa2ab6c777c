import type { AuthSettings } from '../model.ts';

type CookieSettings = Pick<AuthSettings, 'cookieName' | 'cookieDomain' | 'cookieSecure'>;

/** `Set-Cookie` of the contract: a session cookie that scripts cannot read. */
export function loginCookie(settings: CookieSettings, token: string): string {
  return `${settings.cookieName}=${token}; HttpOnly; Path=/; SameSite=lax${extraOf(settings)}`;
}

export function clearedCookie(settings: CookieSettings): string {
  return `${settings.cookieName}=""; HttpOnly; Max-Age=0; Path=/; SameSite=lax${extraOf(settings)}`;
}

function extraOf({ cookieDomain, cookieSecure }: CookieSettings): string {
  return `${cookieDomain === null ? '' : `; Domain=${cookieDomain}`}${cookieSecure ? '; Secure' : ''}`;
}

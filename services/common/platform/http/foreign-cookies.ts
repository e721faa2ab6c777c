import type { IncomingHttpHeaders } from 'node:http';
import { hostName } from './host-name.ts';
import type { Next, RequestContext } from './request-state.ts';
import type { HttpSettings } from './settings.ts';

/** Takes the cookies from a request that a page of another site made for its visitor. */
export type DropForeignCookies = (headers: IncomingHttpHeaders) => void;

/**
 * `SameSite=Lax` keeps the login cookie from other sites, and not from neighbours under the same domain, whose pages can post
 * without asking and without reading the answer. Browsers say where a page is from: by `Sec-Fetch-Site`, whatever a proxy
 * makes of the host; older ones, and all of them where the connection is not encrypted, by `Origin` alone. Programs say
 * nothing, and origins that are listed may act for their visitors.
 */
export function createForeignCookies({ corsOrigins, guard }: HttpSettings): DropForeignCookies {
  const listed = new Set(corsOrigins);
  const ownNames = new Set(guard.allowedHosts.map(hostName));
  return (headers) => {
    const { origin, host = '' } = headers;
    if (listed.has('*') || listed.has(origin ?? '')) return;
    const site = headers['sec-fetch-site'];
    const isForeign = site === undefined ? !isOwnOrigin(origin, host, ownNames) : FOREIGN_SITES.has(site);
    if (isForeign) delete headers.cookie;
  };
}

const FOREIGN_SITES: ReadonlySet<unknown> = new Set(['cross-site', 'same-site']);

function isOwnOrigin(origin: string | undefined, host: string, ownNames: ReadonlySet<string>): boolean {
  if (origin === undefined) return true;
  const page = URL.parse(origin);
  if (page === null) return false;
  // Parsed with the page's scheme, so that a default port counts as none on both sides.
  return URL.parse(`${page.protocol}//${host}`)?.host === page.host || ownNames.has(hostName(page.host));
}

/** A link may lead here from anywhere: what only reads keeps its cookies. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

export function dropForeignCookies(drop: DropForeignCookies) {
  return async ({ method, headers }: RequestContext, next: Next): Promise<void> => {
    if (!READING.has(method)) drop(headers);
    await next();
  };
}

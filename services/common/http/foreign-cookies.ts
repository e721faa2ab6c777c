import type { IncomingHttpHeaders } from 'node:http';
import type { Next, RequestContext } from './request-state.ts';

/** Takes the cookies from a request that a page of another site made for its visitor. */
export type DropForeignCookies = (headers: IncomingHttpHeaders) => void;

/**
 * `SameSite=Lax` keeps the login cookie from other sites, and not from neighbours under the same domain, whose pages can post
 * without asking and without reading the answer. Browsers say where a page is from, whatever a proxy makes of the host;
 * programs say nothing, and origins that are listed may act for their visitors.
 */
export function createForeignCookies(corsOrigins: readonly string[]): DropForeignCookies {
  const listed = new Set(corsOrigins);
  return (headers) => {
    const site = headers['sec-fetch-site'];
    const isForeign = site === 'cross-site' || site === 'same-site';
    if (isForeign && !listed.has('*') && !listed.has(headers.origin ?? '')) delete headers.cookie;
  };
}

/** A link may lead here from anywhere: what only reads keeps its cookies. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

export function dropForeignCookies(drop: DropForeignCookies) {
  return async ({ method, headers }: RequestContext, next: Next): Promise<void> => {
    if (!READING.has(method)) drop(headers);
    await next();
  };
}

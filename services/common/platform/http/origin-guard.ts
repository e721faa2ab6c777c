import type { IncomingHttpHeaders } from 'node:http';
import { hasSeveralHosts, hostName, SEVERAL_HOSTS } from './host-name.ts';
import { HttpError } from './http-error.ts';
import type { Next, RequestContext } from './request-state.ts';
import type { GuardSettings } from './settings.ts';

/** Returns null when the request may go on, else why it may not. */
export type OriginGuard = (headers: IncomingHttpHeaders) => string | null;

const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** Returns the header that shows a proxy in front, if any. */
export function proxyHeader(headers: Readonly<Record<string, unknown>>): string | undefined {
  return PROXY_HEADERS.find((name) => headers[name] !== undefined);
}

/**
 * A server without credentials trusts every client that can connect: on loopback also every web page in the user's
 * browser. Three signs give a foreign caller away: a `Host` that is not ours (DNS rebinding), an `Origin` that is neither
 * ours nor configured (a cross-site request), a forwarding header (a proxy in front, so the caller is not local).
 */
export function createOriginGuard(settings: GuardSettings, corsOrigins: readonly string[]): OriginGuard {
  if (!settings.isActive) return () => null;
  // `*` counts for nothing here: it would hand the memory to any page.
  const origins = new Set(corsOrigins.filter((origin) => origin !== '*'));
  const allowed = new Set(settings.allowedHosts.map(hostName));
  const hosts = new Set([...allowed, ...[...origins].map((origin) => new URL(origin).hostname)]);
  const isOurs = (name: string) => isLoopbackName(name) || hosts.has(name);

  return (headers) => {
    const proxy = settings.refusesProxies ? proxyHeader(headers) : undefined;
    if (proxy !== undefined) {
      return `This server is open to its local user and refuses requests that came through a proxy (header ${proxy}). Behind a proxy set REQUIRE_AUTHENTICATION=true.`;
    }
    const { host = '', origin } = headers;
    if (!isOurs(hostName(host))) {
      return `The host ${JSON.stringify(host.slice(0, 100))} is not allowed. Add it to ENGRAM_ALLOWED_HOSTS, or set REQUIRE_AUTHENTICATION=true.`;
    }
    if (origin === undefined || origins.has(origin)) return null;
    const caller = URL.canParse(origin) ? new URL(origin) : null;
    if (caller !== null && (caller.host === host.toLowerCase() || allowed.has(caller.hostname))) return null;
    return `Requests from the origin ${JSON.stringify(origin.slice(0, 100))} are not allowed. Add it to CORS_ALLOWED_ORIGINS.`;
  };
}

export function guardOrigins(guard: OriginGuard) {
  return async (context: RequestContext, next: Next): Promise<void> => {
    if (hasSeveralHosts(context.req)) throw new HttpError(400, { detail: SEVERAL_HOSTS });
    const refusal = guard(context.headers);
    if (refusal !== null) throw new HttpError(403, { detail: refusal });
    await next();
  };
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

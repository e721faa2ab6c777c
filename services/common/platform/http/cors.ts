import type { ServerResponse } from 'node:http';
import type { Next, RequestContext } from './request-state.ts';
import { writeReply } from './write-reply.ts';

/** Headers that pages may read of an answer. */
const EXPOSED_HEADERS =
  'X-Request-Id, X-Total-Count, Retry-After, Idempotency-Replayed, X-Engram-Budget-Warning, Mcp-Session-Id, WWW-Authenticate';

/** Methods in the order of the contract's server, and PATCH, which browsers need for /update (decisions.md). */
const METHODS = ['OPTIONS', 'GET', 'PUT', 'POST', 'DELETE', 'PATCH'];
const PREFLIGHT_VARY =
  'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network';

/** Cross-origin answers as auth-integrations.md §1.6. `isWildcardAllowed` is false where no credentials are asked for. */
export function cors(origins: readonly string[], isWildcardAllowed: boolean) {
  const allowed = new Set(origins);
  const isAny = isWildcardAllowed && allowed.has('*');

  return async (context: RequestContext, next: Next): Promise<void> => {
    const { req, res } = context;
    const origin = context.headers.origin;
    if (origin === undefined) {
      res.setHeader('vary', 'Origin');
      await next();
      return;
    }
    const isAllowed = isAny || allowed.has(origin);
    const wanted = context.headers['access-control-request-method'];
    if (req.method === 'OPTIONS' && wanted !== undefined) {
      context.state.route = 'preflight';
      const asked = context.headers['access-control-request-headers'];
      await answerPreflight(res, { origin, isAllowed, wanted, asked });
      return;
    }
    res.setHeader('vary', 'Origin');
    res.setHeader('access-control-allow-credentials', 'true');
    // A browser refuses `*` together with credentials, so then the origin itself is named.
    const isAnonymous = isAny && context.headers.cookie === undefined;
    if (isAllowed) res.setHeader('access-control-allow-origin', isAnonymous ? '*' : origin);
    if (isAllowed) res.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
    await next();
  };
}

interface Preflight {
  readonly origin: string;
  readonly isAllowed: boolean;
  readonly wanted: string;
  readonly asked: string | undefined;
}

async function answerPreflight(response: ServerResponse, preflight: Preflight): Promise<void> {
  const { origin, isAllowed, wanted, asked } = preflight;
  const faults = [...(isAllowed ? [] : ['origin']), ...(METHODS.includes(wanted) ? [] : ['method'])];
  const headers: Record<string, string> = {
    vary: PREFLIGHT_VARY,
    'access-control-allow-methods': METHODS.join(', '),
    'access-control-max-age': '600',
    'access-control-allow-credentials': 'true',
  };
  if (isAllowed) headers['access-control-allow-origin'] = origin;
  if (asked !== undefined) headers['access-control-allow-headers'] = asked;
  await writeReply(
    response,
    faults.length === 0
      ? { text: 'OK', headers }
      : { status: 400, text: `Disallowed CORS ${faults.join(', ')}`, headers },
  );
}

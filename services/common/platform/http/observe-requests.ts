import { randomUUID } from 'node:crypto';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Next, type RequestContext, saneRequestId } from './request-state.ts';

/** Asked by machines every few seconds; they would drown everything else. */
const QUIET_ROUTES = new Set(['/', '/health', '/livez', '/readyz', '/metrics']);

/** Request id, metrics and one log line per request, written when the answer is out or the client is gone. */
export function observeRequests(logger: Logger, metrics: Metrics) {
  return async (context: RequestContext, next: Next): Promise<void> => {
    const { req, res, state } = context;
    state.requestId = saneRequestId(req.headers['x-request-id']) ?? randomUUID();
    state.route = null;
    state.principal = null;
    state.error = undefined;
    // Answers are written to the response directly, see write-reply.ts.
    context.respond = false;
    res.setHeader('x-request-id', state.requestId);
    const start = performance.now();
    // Never the query: it may carry a token.
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    metrics.httpInFlight(1);
    res.once('close', () => {
      const durationMs = performance.now() - start;
      const isAborted = !res.writableFinished;
      const status = isAborted && !res.headersSent ? CLIENT_GONE : res.statusCode;
      const method = knownMethod(req.method);
      metrics.httpInFlight(-1);
      metrics.httpRequest({ method, route: state.route ?? 'unknown', status, durationMs });
      const isQuiet = status < 400 && QUIET_ROUTES.has(state.route ?? '');
      const level = status >= 500 ? 'error' : isQuiet ? 'debug' : 'info';
      logger[level]('http.request', {
        requestId: state.requestId,
        method: req.method,
        path: path.slice(0, 500),
        status,
        durationMs: Math.round(durationMs * 100) / 100,
        ...(state.principal === null ? {} : { user: state.principal.id }),
        ...(isAborted ? { aborted: true } : {}),
        ...(state.error === undefined ? {} : { error: state.error }),
      });
    });
    await next();
  };
}

/** Status in the log of an answer whose client was gone. */
const CLIENT_GONE = 499;

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** A label must not take any word that a client makes up. */
export function knownMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : 'OTHER';
}

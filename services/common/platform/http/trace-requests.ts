import type { Describe, Tracer } from '../../ports/tracer.ts';
import type { Next, RequestContext } from './request-state.ts';

/** Paths without traces: probes ask them every few seconds, and would push other traces out. */
const UNTRACED = /^\/(?:health(?:\/.*)?|livez|readyz|metrics|api\/v1\/activity\/spans)?\/?$/;

/** Each request is the root of a trace, or goes on with the client's (W3C `traceparent`). */
export function traceRequests(tracer: Tracer) {
  return (context: RequestContext, next: Next): Promise<void> => {
    if (UNTRACED.test(context.path)) return next() as Promise<void>;
    const traceparent = context.req.headers['traceparent'];
    const continues = typeof traceparent === 'string' && !traceparent.includes(';') ? traceparent : undefined;
    return tracer.root({ name: 'request', continues }, async (describe) => {
      try {
        await next();
      } finally {
        describeRequest(context, describe);
      }
    });
  };
}

function describeRequest({ method, state, res }: RequestContext, describe: Describe): void {
  const { route, principal, requestId } = state;
  describe({
    // The template: a path may hold texts of users.
    name: route === null ? 'no route' : `${method} ${route}`,
    attributes: { 'http.status_code': res.statusCode, request_id: requestId },
    ...(principal === null ? {} : { owner: { user: principal.id, tenant: principal.tenant } }),
    failed: res.statusCode >= 500,
  });
}

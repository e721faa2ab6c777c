import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import type { Endpoint } from './endpoint.ts';
import { NOT_FOUND, wrongMethod } from './error-reply.ts';
import type { RequestContext, RequestState } from './request-state.ts';
import type { Route } from './route.ts';
import { writeReply } from './write-reply.ts';

/**
 * The route table as middleware: both slash forms are one path, of two patterns that fit a path the one with fewer
 * parameters wins, and what no route takes is 404, or 405 with `Allow`. HEAD and plain OPTIONS are answered 405 like any
 * method that has no route: the contract's server does so. Throws when a method and path are declared twice.
 */
export function createRouting(
  routes: readonly Route[],
  endpointOf: (route: Route) => Endpoint,
): Middleware<RequestState> {
  const router = new Router<RequestState>({ exclusive: 'specificity', sensitive: true });
  const declared = new Set<string>();
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    if (declared.has(key)) throw new Error(`Two routes for ${key}.`);
    declared.add(key);
    const endpoint = endpointOf(route);
    router.register(route.path, [route.method], async (context) => {
      const request = context as unknown as RequestContext & { readonly params: Record<string, string> };
      request.state.route = route.path;
      await writeReply(request.res, await endpoint(request, request.params));
    });
  }
  const routed = router.routes() as unknown as Middleware<RequestState>;
  return async (context, next) => {
    const { path, pathAndMethod } = router.match(context.path, context.method);
    if (context.method !== 'HEAD' && pathAndMethod.length > 0) return routed(context, next);
    if (path.length === 0) return writeReply(context.res, NOT_FOUND);
    const allowed = new Set(path.flatMap(({ methods }) => methods));
    allowed.delete('HEAD');
    return writeReply(context.res, wrongMethod([...allowed].sort()));
  };
}

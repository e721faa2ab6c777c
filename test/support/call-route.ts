import { randomUUID } from 'node:crypto';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import type { Reply, Route } from '../../services/common/platform/http/route.ts';

/** The context of a call for a user, in tests where it does not matter which user it is. */
export const CALL = {
  requestId: 'test',
  principal: userPrincipal(asId<UserId>('00000000-0000-4000-8000-000000000001'), 'caller@example.com'),
};

/** A user without tenant and without rights of a superuser. */
export function userPrincipal(id: UserId, email = `${id}@example.com`): Principal {
  return { id, email, tenant: PERSONAL_TENANT, isSuperuser: false, parentId: null };
}

export interface TestRequest {
  /** Default: a user that nothing belongs to. */
  readonly principal?: Principal;
  readonly params?: Readonly<Record<string, string>>;
  /** Query and body before the route's schemas read them. */
  readonly query?: unknown;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly remoteAddress?: string;
}

/** Calls the handler of a route without an HTTP server. */
export async function callRoute(
  routes: readonly Route[],
  method: string,
  path: string,
  request: TestRequest = {},
): Promise<Reply> {
  const route = routes.find((candidate) => candidate.method === method && candidate.path === path);
  if (route === undefined) throw new Error(`no route ${method} ${path}`);
  return route.handle({
    principal: request.principal ?? userPrincipal(asId(randomUUID()), ''),
    params: request.params ?? {},
    query: route.query?.parse(request.query ?? {}) ?? {},
    body: route.body?.schema.parse(request.body),
    files: [],
    headers: request.headers ?? {},
    context: CALL,
    signal: new AbortController().signal,
    remoteAddress: request.remoteAddress ?? '127.0.0.1',
  });
}

import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Principal } from '../../kernel/principal.ts';
import type { UploadedFile } from '../../ports/upload.ts';
import type { CallContext } from '../messaging/messenger.ts';
import type { RoutePermission } from './route-permission.ts';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type { UploadedFile };

/** Input of a handler: everything checked, nothing of Koa. */
export interface RouteRequest<Params, Query, Body> {
  /** Principal of the request; reading it in a route with `auth: 'none'` throws. */
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Parts of a form, in the order they came; else empty. */
  readonly files: readonly UploadedFile[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly context: CallContext;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Address of the client: the socket's, or the one that a trusted proxy names; see `client-address.ts`. */
  readonly remoteAddress: string;
}

export interface Reply {
  readonly status?: number;
  /** JSON unless `text`, `bytes` or `stream` is given. `undefined` sends no body, null sends `null`. */
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly stream?: Readable;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** Every facet of an endpoint in one place: OpenAPI, validation, authentication and the permission test read it. */
export interface Route<Params = unknown, Query = unknown, Body = unknown> {
  readonly method: HttpMethod;
  /** `/api/v1/datasets/:datasetId`: no trailing slash (both forms are served), parameters in camelCase. */
  readonly path: string;
  readonly tag: string;
  /** Name of the operation in generated clients, such as `listDatasets`. Every route that is not hidden has its own. */
  readonly operationId?: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  /** A POST or PATCH that may be sent twice: clients send it again when no answer came. */
  readonly idempotent?: boolean;
  /** Left out of the OpenAPI document (webhooks, pages). */
  readonly hidden?: boolean;
  /**
   * `user`: a principal by the posture's rules. `strict`: a presented credential even in open mode. `superuser`.
   * `strict-superuser`: one with a presented credential. `none`: no credential is looked at, and bodies end at 64 KiB.
   */
  readonly auth: 'user' | 'strict' | 'superuser' | 'strict-superuser' | 'none';
  readonly permission: RoutePermission;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: BodySpec<Body>;
  /** Status → what it means; every 2xx with a body carries the schema of the answer. */
  readonly responses: Readonly<Record<number, AnswerDescription>>;
  /** Answers every invalid request instead of the list of faults: the login form has one answer for all of them. */
  readonly whenInvalid?: (contentType: string) => Reply;
  /** Default `application/json`: what the document says of bodies and answers. */
  readonly mediaType?: string;
  /** Translates every error of the route, authentication included, for protocols with an error format of their own. */
  readonly presentError?: (reply: Reply, headers: RouteRequest<unknown, unknown, unknown>['headers']) => Reply;
  /** Body of every error of the route, where `presentError` makes another than the contract's. */
  readonly errorSchema?: z.ZodType;
  handle(request: RouteRequest<Params, Query, Body>): Promise<Reply>;
}

export interface AnswerDescription {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default: that of the route. */
  readonly mediaType?: string;
  /** Description of the events when the answer is sent as server-sent events on request. */
  readonly events?: string;
}

export interface BodySpec<Body> {
  /**
   * `json`: application/json. `form`: multipart or urlencoded; repeated fields arrive as lists, files separately.
   * `any`: whichever the client sends, one schema for both. `bytes`: as it came, at most 4 MiB, whoever sends it.
   */
  readonly kind: 'json' | 'form' | 'any' | 'bytes';
  readonly schema: z.ZodType<Body>;
  /** Default true: a missing body is `missing` at `["body"]`. */
  readonly required?: boolean;
  /** A field may hold a whole document: as JSON the body may have as much as the configuration allows, else 4 MiB. */
  readonly carriesDocument?: boolean;
  /** Values of a JSON body at most; default 50,000. For lists of short texts alone: reading a million takes a second. */
  readonly maxValues?: number;
  /** Field names that carry files. */
  readonly files?: readonly string[];
}

/** Keeps the types of the schemas for the handler and forgets them for the table. */
export function defineRoute<Params = Record<string, never>, Query = Record<string, never>, Body = undefined>(
  route: Route<Params, Query, Body>,
): Route {
  return route as unknown as Route;
}

/** Facets that the routes of a subject have in common. */
type Shared = Pick<Route, 'tag'> &
  Partial<Pick<Route, 'auth' | 'permission' | 'mediaType' | 'presentError' | 'errorSchema' | 'idempotent'>>;

type Facets<Deps, Params, Query, Body> = Pick<Route, 'summary' | 'responses'> &
  Partial<Omit<Route<Params, Query, Body>, 'method' | 'path' | 'operationId' | 'hidden' | 'handle'>> & {
    handle(request: RouteRequest<Params, Query, Body>, deps: Deps): Promise<Reply>;
  };

/**
 * Defines the routes of one subject: `shared` is said once, and a handler gets the dependencies beside its request. `auth` is
 * `user` unless the group or the route says otherwise. Without an operation id a route is hidden.
 */
export function routesOf<Deps = unknown>(shared: Shared) {
  type Bound = (deps: Deps) => Route;
  const define =
    (method: HttpMethod) =>
    <Params = Record<string, never>, Query = Record<string, never>, Body = undefined>(
      path: string,
      operationId: string | null,
      facets: Facets<Deps, Params, Query, Body>,
    ): Bound => {
      const named = operationId === null ? { hidden: true } : { operationId };
      const { handle, permission = shared.permission, ...rest } = facets;
      if (permission === undefined) throw new Error(`${method} ${path} names no permission.`);
      const route = { auth: 'user', ...shared, ...rest, ...named, permission, method, path } as const;
      return (deps) => defineRoute<Params, Query, Body>({ ...route, handle: (request) => handle(request, deps) });
    };
  return {
    get: define('GET'),
    post: define('POST'),
    put: define('PUT'),
    patch: define('PATCH'),
    remove: define('DELETE'),
    routes:
      (...all: readonly Bound[]) =>
      (deps: Deps): readonly Route[] =>
        all.map((bind) => bind(deps)),
  };
}

export function json(body: unknown, status = 200): Reply {
  return { status, json: body };
}

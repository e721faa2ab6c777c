import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import Koa from 'koa';
import type { Describe, Tracer } from '../../ports/tracer.ts';
import { isLoopback } from '../config/posture.ts';
import type { IdempotencyKeys } from '../leases/idempotency-keys.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createBudgetGuard, type RequestBudgets } from './budget-guard.ts';
import { createClientAddress } from './client-address.ts';
import { cors } from './cors.ts';
import type { Authenticate } from './credentials.ts';
import { createEndpoint, type Endpoint, type EndpointOptions } from './endpoint.ts';
import { NOT_FOUND, wrongMethod } from './error-reply.ts';
import { createForeignCookies, dropForeignCookies } from './foreign-cookies.ts';
import { createHealth } from './health.ts';
import type { HealthChecks } from './health-probe.ts';
import { createLastingAccess } from './lasting-access.ts';
import { type OutgoingRequest, sendLocally } from './local-requests.ts';
import { observeRequests } from './observe-requests.ts';
import { type OpenApiDocument, openApiDocument } from './openapi.ts';
import { createOriginGuard, guardOrigins, proxyHeader } from './origin-guard.ts';
import { opensConsole, type Pages } from './pages.ts';
import type { Next, RequestContext, RequestState } from './request-state.ts';
import type { Route } from './route.ts';
import type { HttpSettings } from './settings.ts';
import type { SocketRoute } from './socket-route.ts';
import { attachSockets } from './socket-server.ts';
import { systemRoutes } from './system-routes.ts';
import { translateErrors } from './translate-errors.ts';
import { writeReply } from './write-reply.ts';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  readonly authenticate: Authenticate;
  /** Keeps the answers of requests with `Idempotency-Key`. */
  readonly idempotencyKeys?: IdempotencyKeys;
  /** Limits the requests of tenants and keys. */
  readonly budgets?: RequestBudgets;
  readonly settings: HttpSettings;
  readonly health?: HealthChecks;
  /** Health and routes of other processes, where this one answers for them too. */
  readonly others?: { readonly health: HealthChecks; describe(): Promise<readonly OpenApiDocument[]> };
  /** Absent: browsers get the same answers as programs. */
  readonly pages?: Pages;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Absent: requests are not traced. */
  readonly tracer?: Tracer;
  /** The contract's version, as `/health` prints it. */
  readonly version?: string;
  readonly title?: string;
  /** How often what lasts is asked again whether it may. Default: each second. */
  readonly accessCheckMs?: number;
}

export type App = ReturnType<typeof createApp>;

/** One HTTP server with all its routes. Holds no state outside itself, so several may run in one process. */
export function createApp(options: AppOptions) {
  const { settings, logger, metrics } = options;
  let isServing = false;
  const guard = createOriginGuard(settings.guard, settings.corsOrigins);
  const { authRequired, cookieName } = settings;
  const openApi = { title: options.title ?? 'Engram API', authRequired, cookieName };
  const health = createHealth({
    checks: options.health ?? {},
    others: options.others?.health ?? {},
    version: options.version ?? '1.6.5',
  });
  const system = systemRoutes({
    health,
    metrics,
    openApi,
    describeOthers: options.others?.describe ?? (async () => []),
    isServing: () => isServing,
    pages: options.pages,
    routes: options.routes,
  });

  const foreignCookies = createForeignCookies(settings);
  const lastingAccess = createLastingAccess({
    authenticate: options.authenticate,
    newRequestId: randomUUID,
    ...(options.accessCheckMs === undefined ? {} : { everyMs: options.accessCheckMs }),
  });
  const endpoint = endpointOptionsOf(options, lastingAccess);
  const koa = createChain(options, guard, foreignCookies);
  koa.use(createRouting([...options.routes, ...system], (route) => createEndpoint(route, endpoint), options.pages));

  const server = createServer(SERVER_OPTIONS, koa.callback());
  if (Number.isFinite(settings.maxConnections)) server.maxConnections = settings.maxConnections as number;
  // Answered by `BodySource`, when a route reads the body.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('clientError', answerBrokenRequest);
  const sockets = attachSockets(server, {
    ...endpoint,
    sockets: options.sockets ?? [],
    guard,
    foreignCookies,
    newRequestId: randomUUID,
    logger,
    metrics,
  });

  return {
    /** The OpenAPI document of the routes. */
    describe: () => openApiDocument(options.routes, openApi),
    /** Whether this process can serve. */
    state: () => health.state(),
    /** Sends a request to the routes of this process, as from `remoteAddress`; without a connection. */
    request: (request: OutgoingRequest, remoteAddress: string) => sendLocally(server, request, remoteAddress),
    /** Port 0 takes any free one. Throws `EADDRINUSE` and the like as they are. */
    async listen(port: number, host: string) {
      const address = await listen(server, port, host);
      isServing = true;
      return { port: address.port };
    },
    /** Stops accepting, lets requests in flight end (at most `drainTimeoutMs`), closes sockets with 1001. */
    async close() {
      isServing = false;
      await Promise.all([sockets.close(), closeServer(server, settings.drainTimeoutMs)]);
      lastingAccess.close();
    },
  };
}

/** What every request passes before its route. */
function createChain(
  { settings, logger, metrics, tracer }: AppOptions,
  guard: ReturnType<typeof createOriginGuard>,
  foreignCookies: ReturnType<typeof createForeignCookies>,
): Koa<RequestState> {
  const koa = new Koa<RequestState>();
  // Reached only by faults of the chain itself; without a listener Koa would print them.
  koa.on('error', (error: unknown) => logger.error('http.failed', { error }));
  if (tracer !== undefined) koa.use(traceRequests(tracer));
  koa.use(observeRequests(logger, metrics));
  koa.use(securityHeaders);
  koa.use(translateErrors(logger));
  koa.use(guardOrigins(guard));
  koa.use(cors(settings.corsOrigins, !settings.guard.isActive));
  koa.use(dropForeignCookies(foreignCookies));
  return koa;
}

/** What all endpoints share. */
function endpointOptionsOf(
  { settings, authenticate, budgets, idempotencyKeys }: AppOptions,
  lastingAccess: ReturnType<typeof createLastingAccess>,
) {
  const { cookieName, selectsTenantByHost = false, trustedProxies = [] } = settings;
  const clientAddress = createClientAddress(trustedProxies);
  const isLocal: EndpointOptions['isLocal'] = (request) =>
    (trustedProxies.length > 0 || proxyHeader(request.headers) === undefined) && isLoopback(clientAddress(request));
  return {
    authenticate,
    cookieName,
    body: settings,
    clientAddress,
    isLocal,
    selectsTenantByHost,
    lastingAccess,
    ...(budgets === undefined ? {} : { budgets: createBudgetGuard(budgets) }),
    ...(idempotencyKeys === undefined ? {} : { idempotencyKeys }),
  };
}

/** A header must come within 15 s, a whole request within an hour; the body's own idle limit is in `BodySource`. */
const SERVER_OPTIONS = {
  headersTimeout: 15_000,
  requestTimeout: 3_600_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  noDelay: true,
};

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

function closeServer(server: Server, drainTimeoutMs: number): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    // A kept-alive connection would hold the server open after its request has ended.
    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const timer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Answers input that is not HTTP with JSON too, where the connection still takes an answer. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The request header is too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request did not arrive in time.']
        : ['400 Bad Request', 'This is not a valid HTTP request.'];
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/**
 * An own few lines: helmet costs more throughput than the rest of the chain together. A page that needs scripts sets its
 * own policy, which replaces this one.
 */
async function securityHeaders(context: RequestContext, next: Next): Promise<void> {
  const { res } = context;
  res.setHeader('x-content-type-options', 'nosniff');
  res.setHeader('referrer-policy', 'no-referrer');
  res.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  res.setHeader('cache-control', 'no-store');
  await next();
}

/**
 * The route table as middleware: both slash forms are one path, of two patterns that fit a path the one with fewer
 * parameters wins, and what no route takes is 404, or 405 with `Allow`. HEAD and plain OPTIONS are answered 405 like any
 * method that has no route: the contract's server does so. Throws when a method and path are declared twice.
 */
function createRouting(
  routes: readonly Route[],
  endpointOf: (route: Route) => Endpoint,
  pages: Pages | undefined,
): Middleware<RequestState> {
  const router = new Router<RequestState>({ exclusive: 'specificity', sensitive: true });
  const declared = new Set<string>();
  /** Those without parameters, which win over all that fit a path: the router would try the pattern of each route. */
  const fixed = new Map<string, (context: RequestContext) => Promise<void>>();
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    if (declared.has(key)) throw new Error(`Two routes for ${key}.`);
    declared.add(key);
    const endpoint = endpointOf(route);
    const answer = async (request: RequestContext, params: Readonly<Record<string, string>>) => {
      request.state.route = route.path;
      await writeReply(request.res, await endpoint(request, params));
    };
    if (/^[\w/-]+$/u.test(route.path)) fixed.set(key, (context) => answer(context, {}));
    router.register(route.path, [route.method], (context) =>
      answer(context as unknown as RequestContext, context.params as Record<string, string>),
    );
  }
  const routed = router.routes() as unknown as Middleware<RequestState>;
  const unrouted = async (context: RequestContext) => {
    const { path } = router.match(context.path, context.method);
    if (path.length === 0) {
      const isPage = pages !== undefined && opensConsole(context.method, context.path, context.headers.accept);
      return writeReply(context.res, isPage ? await pages.page(context.path) : NOT_FOUND);
    }
    const allowed = new Set(path.flatMap(({ methods }) => methods));
    allowed.delete('HEAD');
    return writeReply(context.res, wrongMethod([...allowed].sort()));
  };
  return (context) => {
    if (context.method === 'HEAD') return unrouted(context);
    const { method, path } = context;
    const answer = fixed.get(`${method} ${path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path}`);
    return answer === undefined ? routed(context, async () => unrouted(context)) : answer(context);
  };
}

/** Paths without traces: probes ask them every few seconds, and would push other traces out. */
const UNTRACED = /^\/(?:health(?:\/.*)?|livez|readyz|metrics|api\/v1\/activity\/spans)?\/?$/;

/** Each request is the root of a trace, or goes on with the client's (W3C `traceparent`). */
function traceRequests(tracer: Tracer) {
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

import { Agent, createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createProxyServer } from 'httpxy';
import { type ServiceName, serviceOfPath } from '../../common/domain/service-paths.ts';
import { hasSeveralHosts, SEVERAL_HOSTS } from '../../common/platform/http/host-name.ts';
import { knownMethod } from '../../common/platform/http/observe-requests.ts';
import { proxyHeader } from '../../common/platform/http/origin-guard.ts';
import type { Logger } from '../../common/platform/observability/logger.ts';
import type { Metrics } from '../../common/platform/observability/metrics.ts';

export type PathRouter = ReturnType<typeof createPathRouter>;

interface PathRouterOptions {
  /** Origins of a service's replicas, asked in turn; none while it does not listen. */
  readonly replicasOf: (service: ServiceName) => readonly string[];
  /** Adds the client's address as `X-Forwarded-For`, which servers without credentials refuse. Default false. */
  readonly forwardsAddresses?: boolean;
  readonly logger: Logger;
  /** Metrics of this process, which answers `/metrics` itself: requests by the service that they were sent to. */
  readonly metrics: Metrics;
}

/** Long enough for a cognify that is waited for. */
const ANSWER_TIMEOUT_MS = 3_600_000;
/** The same as in the services, whose answers tell it to clients: a connection closed earlier would cost the request that a client just sends. */
const KEEP_ALIVE_MS = 65_000;

/** Sends each request to the service that has its path, as the ingress of a cluster does. */
export function createPathRouter({ replicasOf, forwardsAddresses = false, logger, metrics }: PathRouterOptions) {
  const agent = new Agent({ keepAlive: true });
  // The proxy's own limit for clients would add a listener to their connections with every request.
  const proxy = createProxyServer({ agent, proxyTimeout: ANSWER_TIMEOUT_MS });
  const turns = new Map<ServiceName, number>();
  const reachability = createReachability(logger);
  const targets = new WeakMap<IncomingMessage, string>();
  /** Null: there is no replica. */
  const targetOf = (request: IncomingMessage): string | null => {
    const service = serviceOfPath(pathOf(request));
    const replicas = replicasOf(service);
    const turn = turns.get(service) ?? 0;
    turns.set(service, turn + 1);
    const target = replicas[turn % replicas.length];
    if (target === undefined) return null;
    targets.set(request, target);
    return target;
  };
  const failed = (error: Error, request: IncomingMessage, answer: ServerResponse | Socket) => {
    reachability.failed(targets.get(request) ?? '', serviceOfPath(pathOf(request)), error);
    if (answer instanceof ServerResponse) refuse(answer);
    else answer.destroy();
  };
  proxy.on('error', (error, request, answer) => {
    if (request !== undefined && answer !== undefined) failed(error, request, answer as ServerResponse | Socket);
  });
  proxy.on('proxyRes', (_answer, request) => {
    reachability.answered(targets.get(request) ?? '', serviceOfPath(pathOf(request)));
  });
  // The proxy's own option would pass on whatever a client claims.
  const noteAddress = ({ headers, socket }: IncomingMessage): void => {
    if (!forwardsAddresses) return;
    const before = headers['x-forwarded-for'];
    headers['x-forwarded-for'] = [...(before === undefined ? [] : [before]), socket.remoteAddress ?? ''].join(', ');
  };
  const server = createServer((request, response) => {
    // A scraper asks the process itself, as it does the services.
    if (pathOf(request) === '/metrics' && proxyHeader(request.headers) === undefined) {
      void tellMetrics(metrics, response);
      return;
    }
    // Passed on, only the first one would be left of them.
    if (hasSeveralHosts(request)) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ detail: SEVERAL_HOSTS }));
      return;
    }
    noteAddress(request);
    observe(request, response, metrics);
    const target = targetOf(request);
    if (target === null) refuse(response);
    else proxy.web(request, response, { target }).catch(() => {});
  });
  server.on('upgrade', (request, socket, head) => {
    if (hasSeveralHosts(request)) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    noteAddress(request);
    metrics.socketsOpen(1);
    socket.once('close', () => metrics.socketsOpen(-1));
    const target = targetOf(request);
    if (target === null) socket.destroy();
    else proxy.ws(request, socket as Socket, { target }, head).catch(() => {});
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = ANSWER_TIMEOUT_MS;
  server.timeout = ANSWER_TIMEOUT_MS;
  return {
    listen(port: number, host: string): Promise<{ readonly port: number }> {
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => resolve({ port: (server.address() as AddressInfo).port }));
      });
    },
    /** Lets requests in flight end; sockets are cut. */
    close: () => close(server, agent),
  };
}

function close(server: Server, agent: Agent): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      agent.destroy();
      resolve();
    });
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 5_000).unref();
  });
}

function observe(request: IncomingMessage, response: ServerResponse, metrics: Metrics): void {
  const start = performance.now();
  metrics.httpInFlight(1);
  response.once('close', () => {
    metrics.httpInFlight(-1);
    const [method, route] = [knownMethod(request.method), serviceOfPath(pathOf(request))];
    metrics.httpRequest({ method, route, status: response.statusCode, durationMs: performance.now() - start });
  });
}

async function tellMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  const text = await metrics.render().catch(() => null);
  response.writeHead(text === null ? 500 : 200, { 'content-type': metrics.contentType }).end(text ?? '');
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

function refuse(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(JSON.stringify({ detail: 'This service does not answer at the moment [ServiceUnavailableError]' }));
}

/** Logs of each replica when it stops and when it begins to answer, not every request in between. */
function createReachability(logger: Logger) {
  const away = new Map<string, { readonly sinceMs: number; requests: number }>();
  return {
    failed(origin: string, service: string, error: unknown) {
      const known = away.get(origin);
      if (known !== undefined) {
        known.requests += 1;
        return;
      }
      away.set(origin, { sinceMs: performance.now(), requests: 1 });
      logger.warn('router.unreachable', { service, origin, error });
    },
    answered(origin: string, service: string) {
      const known = away.get(origin);
      if (known === undefined) return;
      away.delete(origin);
      const awayMs = Math.round(performance.now() - known.sinceMs);
      logger.info('router.reachable', { service, origin, awayMs, refusedRequests: known.requests });
    },
  };
}

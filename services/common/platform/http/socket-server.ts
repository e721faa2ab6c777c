import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Router } from '@koa/router';
import type { WebSocket, WebSocketServer } from 'ws';
import { type EngramError, isEngramError } from '../../kernel/errors.ts';
import type { Identity } from '../messaging/identify.ts';
import type { CallContext } from '../messaging/messenger.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { BudgetGuard } from './budget-guard.ts';
import { type Authenticate, socketCredentialsOf } from './credentials.ts';
import type { DropForeignCookies } from './foreign-cookies.ts';
import { hasSeveralHosts, hostName, SEVERAL_HOSTS } from './host-name.ts';
import { type Entry, isSame, type LastingAccess } from './lasting-access.ts';
import type { OriginGuard } from './origin-guard.ts';
import { saneRequestId } from './request-state.ts';
import type { SocketConnection, SocketRoute } from './socket-route.ts';

interface SocketServerOptions {
  readonly sockets: readonly SocketRoute[];
  readonly authenticate: Authenticate;
  /** See `HttpSettings`. */
  readonly selectsTenantByHost: boolean;
  readonly cookieName: string;
  readonly guard: OriginGuard;
  readonly foreignCookies: DropForeignCookies;
  /** A connection counts as one request. Absent: nothing is limited. */
  readonly budgets?: BudgetGuard;
  readonly lastingAccess: LastingAccess;
  readonly newRequestId: () => string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Clients of our sockets send nothing of length. */
const MAX_FRAME_BYTES = 64 * 1024;
const PING_INTERVAL_MS = 30_000;
const CLOSE_GRACE_MS = 1_000;

/** WebSockets on the port of the HTTP server. `ws` is loaded with the first one. */
export function attachSockets(server: Server, options: SocketServerOptions) {
  const find = createSocketFinder(options.sockets);
  const open = new Set<WebSocket>();
  let loading: Promise<WebSocketServer> | null = null;
  let isClosing = false;

  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy());
    const url = urlOf(request);
    const match = url === null ? null : find(url.pathname);
    const refusal = options.guard(request.headers);
    if (isClosing) refuse(stream, '503 Service Unavailable', 'The server is stopping.');
    else if (url === null) refuse(stream, '400 Bad Request', 'This is not a valid request target.');
    else if (hasSeveralHosts(request)) refuse(stream, '400 Bad Request', SEVERAL_HOSTS);
    else if (refusal !== null) refuse(stream, '403 Forbidden', refusal);
    else if (match === null) refuse(stream, '404 Not Found', 'Not Found');
    else {
      accept({ request, url, ...match }, stream, head).catch((error: unknown) => {
        options.logger.error('http.socket-failed', { error });
        stream.destroy();
      });
    }
  });
  const accept = async (handshake: Handshake, stream: Duplex, head: Buffer): Promise<void> => {
    loading ??= loadServer();
    const [sockets, caller] = await Promise.all([loading, identify(handshake, stream, options)]);
    if (isClosing) return refuse(stream, '503 Service Unavailable', 'The server is stopping.');
    if (caller.overBudget !== null) return refuseOverBudget(stream, caller.overBudget);
    sockets.handleUpgrade(handshake.request, stream, head, (socket) => {
      track(socket, open, options.metrics);
      void serve(socket, { ...handshake, caller }, options);
    });
  };

  return {
    /** Closes every socket with 1001 and waits a moment for the clients' answers. */
    async close() {
      isClosing = true;
      const closed = [...open].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
      for (const socket of open) socket.close(1001, 'The server is stopping');
      const timer = setTimeout(() => {
        for (const socket of open) socket.terminate();
      }, CLOSE_GRACE_MS);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}

/** Returns null for a target without a route; a throw in a listener of `upgrade` would end the process. */
function urlOf({ url: target = '/' }: IncomingMessage): URL | null {
  return target.startsWith('/') ? URL.parse(`http://localhost${target}`) : null;
}

interface FoundSocket {
  readonly route: SocketRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** An upgrade never reaches Koa, so the router is asked for the match alone. */
function createSocketFinder(sockets: readonly SocketRoute[]): (path: string) => FoundSocket | null {
  const router = new Router({ sensitive: true });
  const byPattern = new Map(sockets.map((socket) => [socket.path, socket]));
  for (const path of byPattern.keys()) router.register(path, ['GET'], () => undefined);
  return (path) => {
    const [layer] = router.match(path, 'GET').pathAndMethod;
    const route = layer === undefined ? undefined : byPattern.get(String(layer.path));
    if (layer === undefined || route === undefined) return null;
    return { route, params: layer.params(path, layer.captures(path)) };
  };
}

async function loadServer(): Promise<WebSocketServer> {
  const { WebSocketServer: SocketServerClass } = await import('ws');
  return new SocketServerClass({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
}

/** Counts the socket, and ends one whose client no longer answers pings. */
function track(socket: WebSocket, open: Set<WebSocket>, metrics: Metrics): void {
  open.add(socket);
  metrics.socketsOpen(1);
  let isAlive = true;
  const timer = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_INTERVAL_MS);
  timer.unref();
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.once('close', () => {
    clearInterval(timer);
    open.delete(socket);
    metrics.socketsOpen(-1);
  });
  // A broken frame ends in a close, which is all there is to do about it.
  socket.on('error', () => socket.terminate());
}

interface Handshake {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly route: SocketRoute;
  readonly params: Readonly<Record<string, string>>;
}

interface AcceptedHandshake extends Handshake {
  readonly caller: SocketCaller;
}

async function serve(
  socket: WebSocket,
  { url, route, params, caller }: AcceptedHandshake,
  { logger, lastingAccess }: SocketServerOptions,
): Promise<void> {
  const abort = new AbortController();
  const start = performance.now();
  const { requestId, entry } = caller;
  const shut = () => {
    socket.close(1008, 'Unauthorized');
    abort.abort();
    setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
  };
  const watch = entry === undefined ? undefined : lastingAccess.watch(entry, shut);
  socket.once('close', (code) => {
    abort.abort();
    watch?.stop();
    const durationMs = Math.round(performance.now() - start);
    logger.info('http.socket', { requestId, route: route.path, code, durationMs });
  });
  // Nothing is expected from the client; listening keeps control frames flowing.
  socket.on('message', () => undefined);
  try {
    const context: CallContext = { requestId, signal: abort.signal };
    const { principal, proof } = caller.identity();
    const query = Object.fromEntries([...url.searchParams].filter(([name]) => name !== 'token'));
    const connection: SocketConnection = {
      principal,
      params,
      query,
      context: principal === null ? context : { ...context, principal, ...(proof === undefined ? {} : { proof }) },
      signal: abort.signal,
      send: (frame) => sendFrame(socket, frame),
      close: (code, reason) => socket.close(code, reason?.slice(0, 120)),
    };
    await route.serve(connection);
    socket.close(1000);
  } catch (error) {
    if (abort.signal.aborted) return;
    logger.error('http.socket-failed', { requestId, route: route.path, error });
    socket.close(1011, 'Internal error');
  }
}

/** Principal of a new socket, as far as it could be determined. */
interface SocketCaller {
  readonly requestId: string;
  /** Throws the error that kept it unknown: the socket answers with it, as with all errors. */
  identity(): Pick<Identity, 'principal' | 'proof'>;
  /** The one thing that is said before there is a socket. */
  readonly overBudget: EngramError | null;
  /** Credentials that opened it; absent: there were none. */
  readonly entry?: Entry;
}

async function identify(handshake: Handshake, stream: Duplex, options: SocketServerOptions): Promise<SocketCaller> {
  const { headers } = handshake.request;
  const requestId = saneRequestId(headers['x-request-id']) ?? options.newRequestId();
  const gone = new AbortController();
  const leave = () => gone.abort();
  stream.once('close', leave);
  // A page may open a socket to anywhere, and read it.
  options.foreignCookies(headers);
  try {
    const presented = presentedBy(handshake, options);
    const identity = await principalOf(presented, { requestId, signal: gone.signal }, options);
    const { principal } = identity;
    if (principal === null) return { requestId, identity: () => identity, overBudget: null };
    await options.budgets?.admit(principal);
    return {
      requestId,
      identity: () => identity,
      overBudget: null,
      entry: { ...presented, principal, unattended: true, refusal },
    };
    function refusal(now: Identity): Error | null {
      const stays = now.tenantState == null && principal !== null && isSame(now, principal);
      return stays ? null : new Error('The credentials of this socket are not valid any more.');
    }
  } catch (error) {
    const overBudget = isEngramError(error) && error.wireName === 'TooManyRequestsError' ? error : null;
    const identity = (): never => {
      throw error;
    };
    return { requestId, identity, overBudget };
  } finally {
    stream.off('close', leave);
  }
}

type Presented = Pick<Entry, 'credentials' | 'strict' | 'host'>;

function presentedBy({ request: { headers }, url }: Handshake, options: SocketServerOptions): Presented {
  const credentials = socketCredentialsOf(headers, options.cookieName, url.searchParams.get('token'));
  return { credentials, strict: false, host: options.selectsTenantByHost ? hostName(headers.host ?? '') : undefined };
}

/** Returns no principal without permission, and in a closed tenant: the route decides what the socket does then. */
async function principalOf(
  { credentials, strict, host }: Presented,
  context: CallContext,
  options: SocketServerOptions,
): Promise<Pick<Identity, 'principal' | 'proof'>> {
  try {
    const identity = await options.authenticate(credentials, strict, context, host === undefined ? {} : { host });
    return identity.tenantState == null ? identity : { principal: null };
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'PermissionDeniedError') return { principal: null };
    throw error;
  }
}

/** A socket that is closed takes nothing more; its signal has said so. */
function sendFrame(socket: WebSocket, frame: unknown): Promise<void> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve) => socket.send(JSON.stringify(frame), () => resolve()));
}

function refuseOverBudget(stream: Duplex, { detail, retryAfterSeconds = 1 }: EngramError): void {
  const wait = Math.max(1, Math.ceil(retryAfterSeconds));
  refuse(stream, '429 Too Many Requests', detail, `Retry-After: ${wait}\r\n`);
}

/** `headers`: lines with their ends. */
function refuse(stream: Duplex, status: string, detail: string, headers = ''): void {
  const body = JSON.stringify({ detail });
  stream.end(
    `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

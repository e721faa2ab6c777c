import { z } from 'zod';
import { PERMISSIONS } from '../common/kernel/principal.ts';
import { once } from '../common/platform/async/once.ts';
import { type ServerAddress, serverAddress } from '../common/platform/http/host-name.ts';
import { HttpError } from '../common/platform/http/http-error.ts';
import { defineRoute, json, type Reply, type Route } from '../common/platform/http/route.ts';
import { NO_PERMISSION } from '../common/platform/http/route-permission.ts';
import type { McpRequest } from './api.ts';
import type { ExchangeOptions } from './exchange.ts';

/** Path of the endpoint; clients are configured with it. */
const MCP_PATH = '/mcp';
const METADATA_PATH = '/.well-known/oauth-protected-resource';

interface McpOptions extends ExchangeOptions, ServerAddress {
  /** Further issuers whose access tokens the API accepts; people can sign in programs at the server itself. */
  readonly issuers: readonly string[];
  /** Origins and host names whose pages may connect, beside the server's own. */
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** Returns the routes of the MCP endpoint (Streamable HTTP). What it needs is loaded with the first request. */
export function mcpRoutes(options: McpOptions): readonly Route[] {
  const exchange = once(async () => (await import('./exchange.ts')).createExchange(options));
  const isAllowed = originCheck(options);
  const common = {
    path: MCP_PATH,
    tag: 'mcp',
    auth: 'user',
    permission: NO_PERMISSION,
    // The protocol describes itself; an OpenAPI document cannot.
    hidden: true,
    presentError: (reply: Reply, headers: McpRequest['headers']) => protocolError(reply, challenge(options, headers)),
  } as const;
  return [
    defineRoute<Record<string, never>, Record<string, never>, unknown>({
      ...common,
      method: 'POST',
      summary: 'Messages of the Model Context Protocol',
      body: { kind: 'json', schema: z.unknown(), carriesDocument: true },
      responses: { 200: { description: 'Answers as server-sent events' }, 202: { description: 'Taken' } },
      async handle(request) {
        isAllowed(request.headers);
        return (await exchange()).answer(request);
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      summary: 'Messages that no request asked for: there are none',
      responses: { 405: { description: 'No such stream' } },
      // Without a session that lives in one process there is nothing that could be sent here.
      handle: async () => protocolError(NO_STREAM, null),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      summary: 'Ends a session, of which nothing is kept',
      responses: { 204: { description: 'Ended' } },
      handle: async () => ({ status: 204 }),
    }),
    metadata(options, METADATA_PATH),
    metadata(options, METADATA_PATH + MCP_PATH),
  ];
}

const NO_STREAM: Reply = {
  status: 405,
  json: { detail: 'This server sends nothing without a request: use POST.' },
  headers: { allow: 'POST, DELETE' },
};

/** RFC 9728: tells clients of MCP where people sign in. */
function metadata(options: McpOptions, path: string): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag: 'mcp',
    summary: 'Where clients of MCP sign in (RFC 9728)',
    auth: 'none',
    permission: NO_PERMISSION,
    hidden: true,
    responses: { 200: { description: 'Metadata of the protected resource' } },
    async handle({ headers }) {
      const address = serverAddress(options, headers['host']);
      return json({
        resource: `${address}${MCP_PATH}`,
        authorization_servers: [address, ...options.issuers],
        scopes_supported: PERMISSIONS,
        bearer_methods_supported: ['header'],
        resource_name: 'Engram',
      });
    },
  });
}

/** Value of `WWW-Authenticate` for requests without valid credentials. */
function challenge(options: McpOptions, headers: McpRequest['headers']): string {
  return `Bearer realm="Engram", resource_metadata="${serverAddress(options, headers['host'])}${METADATA_PATH}${MCP_PATH}"`;
}

/** An error of the HTTP layer as clients of MCP read it. */
function protocolError(reply: Reply, authenticate: string | null): Reply {
  const { status = 500, headers = {} } = reply;
  return {
    status,
    json: { jsonrpc: '2.0', id: null, error: errorOf(status, reply.json) },
    headers: { ...headers, ...(status === 401 && authenticate !== null ? { 'www-authenticate': authenticate } : {}) },
  };
}

/** With the codes of JSON-RPC for a body that is not JSON or no message, and the one of servers for all else. */
function errorOf(status: number, body: unknown): { readonly code: number; readonly message: string } {
  const { detail, error } = (body ?? {}) as { readonly detail?: unknown; readonly error?: unknown };
  const faults = Array.isArray(detail)
    ? (detail as readonly { readonly type?: string; readonly msg?: string }[])
    : null;
  const text = faults?.map(({ msg }) => msg).join('; ') ?? [detail, error].find((each) => typeof each === 'string');
  const code = faults?.some(({ type }) => type === 'json_invalid') ? -32_700 : status === 400 ? -32_600 : -32_000;
  return { code, message: typeof text === 'string' ? text : `HTTP ${status}` };
}

/**
 * Refuses requests of foreign web pages, as the protocol demands: a browser tells where a page is from. The guard of open
 * servers (origin-guard.ts) has looked at `Host` before.
 */
function originCheck({
  allowedOrigins,
  allowedHosts,
  publicUrl,
}: McpOptions): (headers: McpRequest['headers']) => void {
  const origins = new Set([...allowedOrigins, ...(publicUrl === null ? [] : [new URL(publicUrl).origin])]);
  const hosts = new Set(allowedHosts);
  return ({ origin, host = '' }) => {
    if (origin === undefined || origins.has(origin) || origins.has('*')) return;
    const page = URL.canParse(origin) ? new URL(origin) : null;
    if (page !== null && (page.host === host.toLowerCase() || hosts.has(page.hostname))) return;
    const detail = `Pages from ${JSON.stringify(origin.slice(0, 100))} may not connect. Add it to CORS_ALLOWED_ORIGINS.`;
    throw new HttpError(403, { detail });
  };
}

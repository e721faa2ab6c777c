import { hash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Reply, RouteRequest } from '../common/platform/http/route.ts';
import type { McpRequest, SendRequest } from './api.ts';
import { createMcpServer } from './server.ts';

type Post = RouteRequest<Record<string, never>, Record<string, never>, unknown>;

const SESSION_HEADER = 'mcp-session-id';

/** Reaches the replicas of this service: a cancellation may come to another one than the call. */
interface Cancellations {
  publish(cancelled: Cancelled): Promise<void>;
  subscribe(listener: (cancelled: Cancelled) => void): Promise<void>;
}

interface Cancelled {
  /** Hash of account, session and id of the call. */
  readonly call: string;
  readonly reason: string | null;
}

export interface ExchangeOptions {
  readonly apiOf: (request: McpRequest) => SendRequest;
  readonly cancellations: Cancellations;
}

/**
 * Answers messages of clients. Each POST has a server of its own, so any replica answers any request and a restart loses
 * nothing. The id of a session only tells apart the clients of one account: what they cancel is found by it.
 */
export async function createExchange({ apiOf, cancellations }: ExchangeOptions) {
  /** Ends of the calls that are being answered here. */
  const inFlight = new Map<string, (reason: string | null) => void>();
  await cancellations.subscribe(({ call, reason }) => inFlight.get(call)?.(reason));

  async function cancel(request: Post, { requestId, reason }: NonNullable<Message['params']>): Promise<void> {
    const call = keyOf(request, requestId);
    const end = inFlight.get(call);
    if (end === undefined) await cancellations.publish({ call, reason: reason ?? null });
    else end(reason ?? null);
  }

  return {
    async answer(request: Post): Promise<Reply> {
      const messages = [request.body].flat() as readonly (Message | null)[];
      const cancelled = messages.filter((message) => message?.method === 'notifications/cancelled');
      await Promise.all(cancelled.map((message) => cancel(request, message?.params ?? {})));
      const transport = new WebStandardStreamableHTTPServerTransport();
      const server = createMcpServer(apiOf(request));
      const calls = messages.filter(isRequest).map(({ id }) => ({ id, key: keyOf(request, id) }));
      const close = () => {
        for (const { key } of calls) inFlight.delete(key);
        void server.close();
      };
      request.signal.addEventListener('abort', close, { once: true });
      await server.connect(transport);
      for (const { id, key } of calls) {
        inFlight.set(key, (reason) => {
          const params = { requestId: id, ...(reason === null ? {} : { reason }) };
          transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
          // A call that was cancelled is not answered, so nothing else would end its stream.
          if (calls.length === 1) close();
        });
      }
      const response = await transport.handleRequest(webRequest(request), { parsedBody: request.body });
      return replyOf(response, { isFirst: messages.some(isInitializeRequest), close });
    },
  };
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: string | number; readonly reason?: string };
}

function isRequest(message: Message | null): message is Message & { readonly id: string | number } {
  return typeof message?.method === 'string' && message.id !== undefined;
}

/** An account cannot cancel what another one asked for, whatever session it names. */
function keyOf({ principal, headers }: Post, id: string | number | undefined): string {
  return hash(
    'sha256',
    JSON.stringify([principal.id, principal.tenant, headers[SESSION_HEADER] ?? '', id]),
    'base64url',
  );
}

/** The transport reads method and headers of it; the body is parsed. */
function webRequest({ headers }: Post): Request {
  const entries = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Request('http://engram/mcp', { method: 'POST', headers: entries });
}

function replyOf(response: Response, { isFirst, close }: { readonly isFirst: boolean; close(): void }): Reply {
  const headers = {
    ...Object.fromEntries(response.headers),
    ...(isFirst && response.ok ? { [SESSION_HEADER]: randomUUID() } : {}),
  };
  if (response.body === null) {
    close();
    return { status: response.status, headers };
  }
  const stream = Readable.fromWeb(response.body as never);
  stream.once('close', close);
  return { status: response.status, headers, stream };
}

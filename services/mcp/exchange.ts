import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Reply, RouteRequest } from '../common/platform/http/route.ts';
import type { McpRequest, SendRequest } from './api.ts';
import { createMcpServer } from './server.ts';

type Post = RouteRequest<Record<string, never>, Record<string, never>, unknown>;

const SESSION_HEADER = 'mcp-session-id';

/**
 * Answers messages of clients. Each POST has a server of its own, so any replica answers any request and a restart loses
 * nothing. The id of a session only tells apart the clients of one account: what they cancel is found by it.
 */
export function createExchange(apiOf: (request: McpRequest) => SendRequest) {
  /** Requests that are being answered here, by their client and id. */
  const inFlight = new Map<string, (cancellation: JSONRPCMessage) => void>();

  return {
    async answer(request: Post): Promise<Reply> {
      const messages = [request.body].flat() as readonly Message[];
      for (const message of messages) {
        if (message?.method === 'notifications/cancelled')
          inFlight.get(keyOf(request, message.params?.requestId))?.(message as JSONRPCMessage);
      }
      const transport = new WebStandardStreamableHTTPServerTransport();
      const server = createMcpServer(apiOf(request));
      const keys = messages.flatMap((each) => (isRequest(each) ? [keyOf(request, each.id)] : []));
      const close = () => {
        for (const key of keys) inFlight.delete(key);
        void server.close();
      };
      request.signal.addEventListener('abort', close, { once: true });
      await server.connect(transport);
      for (const key of keys) inFlight.set(key, (cancellation) => transport.onmessage?.(cancellation));
      const response = await transport.handleRequest(webRequest(request), { parsedBody: request.body });
      return replyOf(response, { isFirst: messages.some(isInitializeRequest), close });
    },
  };
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: string | number };
}

function isRequest(message: Message | undefined): message is Message & { readonly id: string | number } {
  return message?.method !== undefined && message.id !== undefined;
}

/** An account cannot cancel what another one asked for, whatever session it names. */
function keyOf({ principal, headers }: Post, id: string | number | undefined): string {
  return JSON.stringify([principal.id, principal.tenant, headers[SESSION_HEADER] ?? '', id]);
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

import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { SendRequest } from './api.ts';
import { createMcpServer } from './server.ts';

interface ServerAddress {
  /** Without trailing slash and without `/api/v1`. */
  readonly url: string;
  readonly apiKey: string | null;
}

/** Requests to a running server. */
export function sendTo({ url, apiKey }: ServerAddress): SendRequest {
  return (path, init) => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'engram-mcp');
    if (apiKey !== null) headers.set('x-api-key', apiKey);
    return fetch(`${url}${path}`, { ...init, headers });
  };
}

/** Speaks MCP over two streams until the client closes its end. Nothing else may be written to `output`. */
export async function serveStdio(
  send: SendRequest,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<void> {
  const server = createMcpServer(send);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    // The transport itself does not look at the end of its input.
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
    output.once('error', () => resolve());
  });
  await server.connect(new StdioServerTransport(input, output));
  await closed;
  await server.close();
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isEngramError } from '../common/kernel/errors.ts';
import type { Logger } from '../common/platform/observability/logger.ts';

interface AwaitOptions {
  readonly port: number;
  readonly host: string;
  readonly logger: Logger;
  /** Pause after the first failure, doubled with each, up to the second. Default 1 s and 10 s. */
  readonly pausesMs?: readonly [number, number];
}

/**
 * Opens what needs servers that may still be starting: waits for them as long as it takes, says so in the log, and answers
 * for the service meanwhile: alive, but not ready. Rejects at once with what waiting cannot mend (credentials, a server too
 * old, a configuration that is wrong).
 */
export async function awaitStores<Stores>(open: () => Promise<Stores>, options: AwaitOptions): Promise<Stores> {
  const { logger, pausesMs = [1_000, 10_000] } = options;
  let placeholder: Server | null = null;
  try {
    for (let pauseMs = pausesMs[0]; ; pauseMs = Math.min(pausesMs[1], pauseMs * 2)) {
      try {
        return await open();
      } catch (error) {
        if (!isEngramError(error) || !error.retryable) throw error;
        logger.warn('stores.awaited', { reason: error.message, againInMs: pauseMs });
        placeholder ??= await listen(options);
        await wait(pauseMs);
      }
    }
  } finally {
    await close(placeholder);
  }
}

function listen({ port, host }: AwaitOptions): Promise<Server> {
  const server = createServer(answer);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url?.split('?', 1)[0];
  const [status, body] =
    path === '/livez'
      ? [200, { status: 'alive' }]
      : path === '/readyz' || path === '/health'
        ? [503, { status: 'not ready' }]
        : [503, { detail: 'The service waits for its stores [ServiceUnavailableError]' }];
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '2', connection: 'close' });
  response.end(JSON.stringify(body));
}

function close(server: Server | null): Promise<void> {
  if (server === null) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

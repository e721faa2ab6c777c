import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Checks by name; each returns whether it passes. */
export type HealthChecks = Readonly<Record<string, () => boolean>>;

interface HealthServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** A failure restarts the process: each watch and the leader election must make progress. */
  liveness(): HealthChecks;
  /** Each cache must be synced. */
  readiness(): HealthChecks;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
}

/** `/livez`, `/readyz` (200 or 503, a line for each check) and `/metrics`, on a port of their own. */
export function createHealthServer(options: HealthServerOptions) {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/livez') answerChecks(response, options.liveness());
    else if (path === '/readyz') answerChecks(response, options.readiness());
    else if (path === '/metrics') void answerMetrics(response, options.metrics);
    else answer(response, 404, 'text/plain', 'not found\n');
  });
  return {
    start: () => listen(server, options),
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    /** `http://127.0.0.1:9090`; after the start. */
    get url() {
      const { address, port } = server.address() as AddressInfo;
      return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
    },
  };
}

function listen(server: Server, { host, port }: HealthServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

function answerChecks(response: ServerResponse, checks: HealthChecks): void {
  const lines = Object.entries(checks).map(([name, holds]) => ({ name, ok: holds() }));
  const status = lines.every(({ ok }) => ok) ? 200 : 503;
  const text = lines.map(({ name, ok }) => `${ok ? '+' : '-'} ${name}\n`).join('');
  answer(response, status, 'text/plain', text);
}

async function answerMetrics(response: ServerResponse, metrics: HealthServerOptions['metrics']): Promise<void> {
  try {
    answer(response, 200, metrics.contentType, await metrics.render());
  } catch {
    answer(response, 500, 'text/plain', 'metrics could not be read\n');
  }
}

function answer(response: ServerResponse, status: number, contentType: string, text: string): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(text);
}

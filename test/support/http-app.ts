import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { type AppOptions, createApp } from '../../services/common/platform/http/app.ts';
import type { HttpSettings } from '../../services/common/platform/http/settings.ts';
import type { Credential } from '../../services/common/platform/messaging/messages.ts';
import { createLogger } from '../../services/common/platform/observability/logger.ts';
import { createMetrics, type Metrics } from '../../services/common/platform/observability/metrics.ts';
import { exchange } from './wire.ts';

/** A real server on a free port, with a log to look at. Key `user-key` is a user, `admin-key` a superuser. */
export interface RunningApp {
  readonly url: string;
  readonly port: number;
  readonly log: Record<string, unknown>[];
  readonly metrics: Metrics;
  readonly spoolDirectory: string;
  /** Credentials of every authentication, in order. */
  readonly asked: { readonly credentials: readonly Credential[]; readonly strict: boolean }[];
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** With headers that fetch would not send. */
  raw(path: string, headers: Record<string, string>, method?: string): Promise<RawAnswer>;
  /** Bytes as they are, until the server closes or the answer is enough. */
  wire(text: string, options?: { readonly enough?: (received: string) => boolean }): Promise<string>;
  spooled(): readonly string[];
  stop(): Promise<void>;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

type RunOptions = Partial<Omit<AppOptions, 'settings'>> & {
  readonly settings?: Partial<HttpSettings>;
  readonly port?: number;
};

export function principalOf(name: string, isSuperuser = false): Principal {
  return { id: asId(name), email: `${name}@example.com`, tenant: PERSONAL_TENANT, isSuperuser, parentId: null };
}

export async function runApp(options: RunOptions = {}): Promise<RunningApp> {
  const spoolDirectory = mkdtempSync(join(tmpdir(), 'engram-http-'));
  const log: Record<string, unknown>[] = [];
  const asked: { credentials: readonly Credential[]; strict: boolean }[] = [];
  const metrics = createMetrics();
  const app = createApp({
    routes: [],
    authenticate: async (credentials, strict) => {
      asked.push({ credentials, strict });
      const known = credentials.find(({ value }) => value === 'user-key' || value === 'admin-key');
      const principal = known === undefined ? null : principalOf(known.value, known.value === 'admin-key');
      return { principal, required: true, posture: 'explicit REQUIRE_AUTHENTICATION' };
    },
    logger: createLogger({
      level: 'debug',
      name: 'test',
      destination: { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) },
    }),
    metrics,
    ...options,
    settings: {
      spoolDirectory,
      uploadLimitBytes: 4 * 2 ** 20,
      jsonLimitBytes: 2 ** 20,
      corsOrigins: ['http://localhost:3000'],
      cookieName: 'auth_token',
      authRequired: true,
      guard: { isActive: false, refusesProxies: false, allowedHosts: [] },
      drainTimeoutMs: 2_000,
      ...options.settings,
    },
  });
  const { port } = await app.listen(options.port ?? 0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    log,
    metrics,
    spoolDirectory,
    asked,
    get: (path, headers = {}) => fetch(url + path, { headers: { 'x-api-key': 'user-key', ...headers } }),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          'x-api-key': 'user-key',
          ...(isPlain(body) ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        body: isPlain(body) ? JSON.stringify(body) : (body as string),
      }),
    raw: (path, headers, method = 'GET') => rawRequest({ port, path, method, headers }),
    wire: (text, options) => exchange(url, text, options),
    spooled: () => readdirSync(spoolDirectory),
    async stop() {
      await app.close();
      metrics.close();
      rmSync(spoolDirectory, { recursive: true, force: true });
    },
  };
}

function isPlain(body: unknown): boolean {
  return (
    body !== null &&
    typeof body === 'object' &&
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(body))
  );
}

function rawRequest(options: { port: number; path: string; method: string; headers: Record<string, string> }) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const request = openRequest({ host: '127.0.0.1', ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

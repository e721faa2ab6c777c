import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Metrics } from '../observability/metrics.ts';
import { NOT_FOUND } from './error-reply.ts';
import type { Health } from './health.ts';
import { mergeOpenApi, type OpenApiDocument, type OpenApiOptions, openApiDocument } from './openapi.ts';
import { proxyHeader } from './origin-guard.ts';
import { opensConsole, type Pages } from './pages.ts';
import { defineRoute, json, type Reply, type Route, type RouteRequest } from './route.ts';
import { NO_PERMISSION } from './route-permission.ts';

interface SystemRoutesOptions {
  readonly health: Health;
  readonly metrics: Metrics;
  readonly openApi: OpenApiOptions;
  /** Documents of the services in other processes that answered. */
  readonly describeOthers: () => Promise<readonly OpenApiDocument[]>;
  readonly isServing: () => boolean;
  /** Absent: `/` greets browsers as it greets programs. */
  readonly pages: Pages | undefined;
  /** Routes of the services. */
  readonly routes: readonly Route[];
}

const health = z.enum(['healthy', 'degraded', 'unhealthy']);
const healthSummary = z
  .object({ status: z.enum(['ready', 'not ready']), health, version: z.string() })
  .meta({ id: 'HealthSummary' });
const healthDetails = z
  .object({
    status: health,
    timestamp: z.string(),
    version: z.string(),
    uptime: z.int(),
    components: z.record(
      z.string(),
      z.object({ status: health, provider: z.string(), response_time_ms: z.number(), details: z.string() }),
    ),
  })
  .meta({ id: 'HealthDetails' });

/** Returns the routes of every process beside its services: liveness, health, metrics and the description of the API. */
export function systemRoutes(options: SystemRoutesOptions): Route[] {
  const alive = systemRoute('/', 'Says that the server runs', {
    operationId: 'greet',
    responses: { 200: { description: 'Alive', schema: z.object({ message: z.string() }) } },
    answer: async ({ headers }) => {
      if (options.pages !== undefined && opensConsole('GET', '/', headers['accept'])) return options.pages.page('/');
      return { json: { message: 'Hello, World, I am alive!' }, headers: { vary: 'Accept' } };
    },
  });
  const summary = systemRoute('/health', 'Whether requests can be served', {
    operationId: 'getHealth',
    responses: {
      200: { description: 'Ready', schema: healthSummary },
      503: { description: 'A critical component is down', schema: healthSummary },
    },
    answer: () => options.health.summary(),
  });
  const detailed = systemRoute('/health/detailed', 'Health by component', {
    operationId: 'getHealthDetails',
    responses: {
      200: { description: 'All components are healthy', schema: healthDetails },
      503: { description: 'At least one is not', schema: healthDetails },
    },
    answer: () => options.health.detailed(),
  });
  const described = [...options.routes, alive, summary, detailed];
  const pages = options.pages === undefined ? [] : [pageFiles(options.pages)];
  return [alive, summary, detailed, ...probeRoutes(options), ...pages, ...descriptionRoutes(options, described)];
}

interface SystemRoute {
  readonly operationId?: string;
  readonly responses: Route['responses'];
  readonly hidden?: boolean;
  answer(request: Pick<RouteRequest<unknown, unknown, unknown>, 'headers'>): Promise<Reply>;
}

function systemRoute(path: string, summary: string, options: SystemRoute): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag: 'health',
    summary,
    auth: 'none',
    permission: NO_PERMISSION,
    hidden: options.hidden ?? false,
    ...(options.operationId === undefined ? {} : { operationId: options.operationId }),
    responses: options.responses,
    handle: (request) => options.answer(request),
  });
}

function hiddenRoute(path: string, summary: string, answer: SystemRoute['answer']): Route {
  return systemRoute(path, summary, { responses: { 200: { description: summary } }, hidden: true, answer });
}

function pageFiles(pages: Pages): Route {
  return defineRoute<{ asset: string }>({
    method: 'GET',
    path: '/assets/:asset',
    tag: 'health',
    summary: 'Files of the console',
    auth: 'none',
    permission: NO_PERMISSION,
    hidden: true,
    params: z.object({ asset: z.string() }),
    responses: { 200: { description: 'The file' } },
    handle: ({ params, headers }) => pages.asset(params.asset, headers),
  });
}

function probeRoutes({ health, metrics, isServing }: SystemRoutesOptions): Route[] {
  return [
    hiddenRoute('/livez', 'The process runs', async () => json({ status: 'alive' })),
    hiddenRoute('/readyz', 'Requests may be sent here', () => health.readiness(isServing())),
    // A scraper asks the process itself: who comes through an ingress has no business with them.
    hiddenRoute('/metrics', 'Prometheus metrics', async ({ headers }) =>
      proxyHeader(headers) === undefined
        ? { text: await metrics.render(), headers: { 'content-type': metrics.contentType } }
        : NOT_FOUND,
    ),
  ];
}

/** A host name or an address, perhaps with a port. */
const HOST = /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i;

/** Returns the address by which the client reached the server; relative to the document when it is unknown. */
function serverUrl(headers: Readonly<Record<string, string | undefined>>): string {
  const host = headers['host'] ?? '';
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return HOST.test(host) ? `${scheme}://${host}` : '/';
}

function descriptionRoutes({ openApi, describeOthers }: SystemRoutesOptions, routes: readonly Route[]): Route[] {
  const page = createApiPage(openApi.title);
  // Made on demand: schemas cost 10–20 ms that no start should pay.
  let own: OpenApiDocument | null = null;
  return [
    hiddenRoute('/openapi.json', 'The OpenAPI document', async ({ headers }) => {
      own ??= openApiDocument(routes, openApi);
      const document = { ...mergeOpenApi(own, await describeOthers()), servers: [{ url: serverUrl(headers) }] };
      return { text: JSON.stringify(document), headers: { 'content-type': 'application/json' } };
    }),
    hiddenRoute('/docs', 'The OpenAPI document for people', async () => page.page()),
    hiddenRoute('/redoc', 'The same page under its other name', async () => page.page()),
    defineRoute<{ asset: string }>({
      method: 'GET',
      path: '/docs/:asset',
      tag: 'health',
      summary: 'Files of that page',
      auth: 'none',
      permission: NO_PERMISSION,
      hidden: true,
      params: z.object({ asset: z.string() }),
      responses: { 200: { description: 'The file' } },
      handle: ({ params }) => page.asset(params.asset),
    }),
  ];
}

/** The page works without a network: everything it loads comes from this server. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>TITLE</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

/** Files of swagger-ui-dist that the page loads. */
const ASSETS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    'swagger-ui.css': 'text/css; charset=utf-8',
    'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
    'favicon-32x32.png': 'image/png',
  }),
);

/** The OpenAPI document for people: `/docs` and `/redoc`. */
function createApiPage(title: string) {
  const html = PAGE.replace('TITLE', title.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
  return {
    page: (): Reply => ({
      text: html,
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY },
    }),
    async asset(name: string) {
      if (name === 'start.js') return file(Buffer.from(START), 'text/javascript; charset=utf-8');
      const type = ASSETS.get(name);
      if (type === undefined) return NOT_FOUND;
      return file(await readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))), type);
    },
  };
}

function file(content: Buffer, type: string): Reply {
  return { bytes: content, headers: { 'content-type': type, 'cache-control': 'public, max-age=86400' } };
}

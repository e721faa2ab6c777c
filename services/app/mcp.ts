import { type ServiceName, serviceOfPath } from '../common/domain/service-paths.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import type { App } from '../common/platform/http/app.ts';
import { headersOfCaller, type OutgoingRequest, sendRequest } from '../common/platform/http/local-requests.ts';
import type { Route } from '../common/platform/http/route.ts';
import { MCP_CANCELLED } from '../common/platform/messaging/messages.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import type { McpRequest, SendRequest } from '../mcp/api.ts';
import { mcpRoutes } from '../mcp/routes.ts';

type Settings = Pick<
  Config,
  'services' | 'serviceUrls' | 'publicUrl' | 'oidcProviders' | 'hosted' | 'corsOrigins' | 'allowedHosts'
>;

interface Mcp {
  readonly routes: readonly Route[];
  stop(): Promise<void>;
}

interface McpParts {
  readonly config: Settings;
  readonly messenger: Pick<Messenger, 'publish' | 'subscribe'>;
  readonly app: () => App;
}

/** MCP where this process serves it: with integrations, whose subject is other programs. */
export function createMcp({ config, messenger, app }: McpParts): Mcp {
  if (!config.services.includes('integrations')) return { routes: [], stop: async () => {} };
  let heard: Subscription | undefined;
  const routes = mcpRoutes({
    apiOf: (request) => apiInNameOf(request, { config, app }),
    cancellations: {
      publish: (cancelled) => messenger.publish('mcp', MCP_CANCELLED, cancelled),
      async subscribe(listener) {
        heard = await messenger.subscribe('mcp', MCP_CANCELLED, listener);
      },
    },
    publicUrl: config.publicUrl ?? null,
    // A token of another issuer would be refused, so nobody is sent there for one.
    issuers: config.oidcProviders.flatMap(({ issuer, audiences }) => (audiences.length === 0 ? [] : [issuer])),
    selectsTenantByHost: config.hosted,
    allowedOrigins: config.corsOrigins,
    allowedHosts: config.allowedHosts,
  });
  return { routes, stop: async () => heard?.stop() };
}

interface Surroundings {
  readonly config: Pick<Settings, 'services' | 'serviceUrls'>;
  readonly app: () => App;
}

/**
 * The HTTP API with the credentials of a request: each call passes through all that a request of its client would pass, so
 * that who may do what is decided in one place. Routes of this process are called without a connection.
 */
function apiInNameOf({ headers, remoteAddress }: McpRequest, { config, app }: Surroundings): SendRequest {
  const caller = headersOfCaller(headers);
  return async (path, init) => {
    const {
      method,
      headers: own,
      body,
      signal,
    } = new Request(`http://engram${path}`, { ...init, duplex: 'half' } as never);
    const request: OutgoingRequest = {
      method,
      path,
      body,
      signal,
      headers: { ...caller, ...Object.fromEntries(own), 'user-agent': 'engram-mcp' },
    };
    const service = serviceOfPath(new URL(path, 'http://engram').pathname);
    if (config.services.includes(service)) return app().request(request, remoteAddress);
    return sendRequest(addressOf(service, config.serviceUrls), request);
  };
}

function addressOf(service: ServiceName, urls: Config['serviceUrls']): string {
  if (urls !== undefined) return urls[service];
  throw new Error(`it does not know where the service ${service} is: set ENGRAM_SERVICE_URLS`);
}

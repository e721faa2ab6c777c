import { join } from 'node:path';
import { SERVICE_NAMES } from '../../common/domain/service-paths.ts';
import type { Config } from '../../common/platform/config/configuration.ts';
import type { Lifecycle } from '../../common/platform/lifecycle/lifecycle.ts';
import type { Logger } from '../../common/platform/observability/logger.ts';
import { createMetrics } from '../../common/platform/observability/metrics.ts';
import { loadOrCreateSecret } from '../../common/platform/system/generated-secret.ts';
import { makeDataDirectory } from '../data-directory.ts';
import { ROOT_KEY_FILE } from '../root-keys.ts';
import { createPathRouter } from './path-router.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** The services listen there, and only the router calls them. */
const LOOPBACK = '127.0.0.1';

interface ClusterOptions {
  readonly config: Config;
  /** Environment that the processes inherit; the address and the services of each are added. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly replicas: number;
  readonly logger: Logger;
  /** A service cannot be started, as the sentence says: the cluster is of no use. */
  readonly onFailure: (message: string) => void;
}

/**
 * `npm run cluster`: every service in processes of its own on free ports, and a router that sends requests to them by
 * path. For trying the cluster shape on one machine; in Kubernetes the operator does all this.
 */
export async function addCluster(options: ClusterOptions, lifecycle: Lifecycle): Promise<() => string> {
  const { config, replicas, logger, onFailure } = options;
  const variables = {
    ...options.variables,
    ENGRAM_STORES: 'cluster',
    ...postureBehind(config),
    ...(await sharedSecrets(config)),
  };
  const processes: ServiceProcess[] = [];
  let { port } = config;
  // The services call each other through the router, so its port is taken first; they are ended after it.
  lifecycle.add({
    name: 'port',
    async start() {
      ({ port } = await router.listen(config.port, config.host));
    },
  });
  const stopTimeoutMs = config.drainTimeoutMs + 5_000;
  lifecycle.add({
    name: 'services',
    start() {
      for (const service of SERVICE_NAMES) {
        for (let replica = 1; replica <= replicas; replica += 1) {
          const dataDir = join(config.dataDir, 'processes', `${service}-${replica}`);
          const failed = (reason: string) =>
            onFailure(`The service ${service} failed three times for the same reason, so the cluster ends: ${reason}`);
          const routed = { ...variables, ENGRAM_SERVICE_URLS: `http://${loopbackOf(config.host)}:${port}` };
          processes.push(startServiceProcess({ service, dataDir, variables: routed, logger, onFailure: failed }));
        }
      }
    },
    async stop() {
      for (const service of SERVICE_NAMES.toReversed()) {
        const replicasOfIt = processes.filter((process) => process.service === service);
        await Promise.all(replicasOfIt.map((process) => process.stop(stopTimeoutMs)));
      }
    },
  });
  const metrics = createMetrics();
  lifecycle.add({ name: 'metrics', stop: () => metrics.close() });
  const router = createPathRouter({
    forwardsAddresses: config.posture.required,
    replicasOf: (wanted) => processes.flatMap(({ service, origin }) => (service === wanted ? (origin() ?? []) : [])),
    logger,
    metrics,
  });
  lifecycle.add({ name: 'router', stop: () => router.close() });
  return () => `http://${config.host}:${port}`;
}

/** An address at which this machine reaches what listens on `host`. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}

/** The services listen on loopback, where they would be open by default; who may call is decided by the router's address. */
export function postureBehind({
  posture,
  trustedProxies,
}: Pick<Config, 'posture' | 'trustedProxies'>): Readonly<Record<string, string>> {
  if (!posture.required) return {};
  // Also whose address the router adds to a request is believed.
  return { REQUIRE_AUTHENTICATION: 'true', ENGRAM_TRUSTED_PROXIES: [...trustedProxies, LOOPBACK].join(',') };
}

/** Secrets that all processes must share; made once where none is configured. */
async function sharedSecrets({ dataDir, jwtSecret, rootKeys }: Config): Promise<Readonly<Record<string, string>>> {
  makeDataDirectory(dataDir);
  return {
    ...(jwtSecret === undefined
      ? { FASTAPI_USERS_JWT_SECRET: await loadOrCreateSecret(join(dataDir, 'jwt.secret')) }
      : {}),
    ...(rootKeys === undefined
      ? { ENGRAM_ROOT_KEYS: `generated:${await loadOrCreateSecret(join(dataDir, ROOT_KEY_FILE))}` }
      : {}),
  };
}

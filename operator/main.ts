import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import v8 from 'node:v8';
import type { Registry as RegistryType } from 'prom-client';
import { Registry } from 'prom-client';
import { isEngramError } from '../services/common/kernel/errors.ts';
import { withoutUndefined } from '../services/common/kernel/objects.ts';
import type { Config } from '../services/common/platform/config/configuration.ts';
import { ConfigurationError, loadProcessConfig } from '../services/common/platform/config/load-config.ts';
import { createLifecycle } from '../services/common/platform/lifecycle/lifecycle.ts';
import { createSignedMessenger } from '../services/common/platform/messaging/messenger.ts';
import { createLogger, type Logger } from '../services/common/platform/observability/logger.ts';
import { addProcessMetrics } from '../services/common/platform/observability/process-metrics.ts';
import { openNatsBus } from '../services/common/storage/bus/nats/nats-bus.ts';
import type { Bus } from '../services/common/storage/ports/bus.ts';
import { dedicatedOptions } from './dedicated/options.ts';
import { openDedicatedBus } from './dedicated/services.ts';
import { backendsOf, storesOf } from './installation/installation.ts';
import { createServices } from './installation/services.ts';
import { createHealthServer, type HealthChecks } from './kube-runtime/health.ts';
import { inClusterConnection, type KubeConnection, kubeconfigConnection } from './kube-runtime/kube-connection.ts';
import { createRuntimeClock } from './kube-runtime/runtime-clock.ts';
import { createOperator, type Operator } from './operator.ts';
import { openDedicatedStores } from './stores/dedicated-stores.ts';
import type { DedicatedStores } from './stores/store-administrator.ts';

// Limits the young generation, which Node would grow to 130 MB: most objects live for one reconcile only.
v8.setFlagsFromString('--max-semi-space-size=8');

const STOP_TIMEOUT_MS = 20_000;
const BUS_PAUSE_MS = { first: 1_000, most: 10_000 };

/** `node operator/main.ts`: reconciles Tenant and Dataset resources until a signal, or until the lease is lost. */
async function run(): Promise<void> {
  const { config, warnings } = loadProcessConfig();
  const logger = createLogger({ level: config.logLevel, name: 'engram-operator' });
  for (const warning of warnings) logger.warn('config.warning', { warning });
  const connection = await connectionOf(config);
  const registry = new Registry();
  const closeMetrics = addProcessMetrics([registry]);
  let operator: Operator | undefined;
  let bus: Bus | undefined;
  let stores: DedicatedStores | undefined;
  const stopping = new AbortController();
  const checks = (of: 'liveness' | 'readiness'): HealthChecks => operator?.[of] ?? {};
  const health = createHealthServer({
    host: config.operatorHost,
    port: config.operatorPort,
    liveness: () => checks('liveness'),
    readiness: () => ({ ...checks('readiness'), bus: () => bus !== undefined }),
    metrics: { contentType: registry.contentType, render: () => registry.metrics() },
  });
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: STOP_TIMEOUT_MS });
  lifecycle.add({
    name: 'health',
    async start() {
      await health.start();
      logger.info('operator.listening', { url: health.url });
    },
    async stop() {
      closeMetrics();
      await health.stop();
    },
  });
  lifecycle.add({
    name: 'bus',
    async start() {
      bus = await openBus(config, logger, stopping.signal);
    },
    stop: () => bus?.drain(),
  });
  lifecycle.add({
    name: 'stores',
    async start() {
      stores = await openDedicatedStores(config);
    },
    async stop() {
      if (stores?.available) await Promise.all(stores.administrators.map((each) => each.close()));
    },
  });
  lifecycle.add({
    name: 'operator',
    start() {
      if (bus === undefined || stores === undefined) throw new Error('The bus is not open.');
      operator = assemble({ config, logger, registry, connection, bus, stores });
      operator.start();
    },
    async stop() {
      await operator?.stop();
      operator?.close();
    },
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  lifecycle.handleSignals(process);
  try {
    await lifecycle.start();
  } catch (error) {
    // A stop during the start ends the process with its own code.
    if (stopping.signal.aborted) return;
    throw error;
  }
  logger.info('operator.started', { namespaces: config.operatorWatchNamespaces ?? 'all' });
}

function assemble(parts: {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: RegistryType;
  readonly connection: KubeConnection;
  readonly bus: Bus;
  readonly stores: DedicatedStores;
}): Operator {
  const { config, logger, registry, connection, bus, stores } = parts;
  const clock = createRuntimeClock();
  const messenger = createSignedMessenger(bus, clock);
  const instance = config.operatorName ?? hostname();
  return createOperator({
    connection,
    clock,
    logger,
    registry,
    instance,
    services: createServices(messenger, clock),
    lease: { name: config.operatorLease, namespace: config.operatorNamespace },
    // A restarted container in the same pod is another process.
    identity: `${instance}_${randomBytes(4).toString('hex')}`,
    watchNamespaces: config.operatorWatchNamespaces ?? null,
    trustedNamespaces: config.operatorTrustedNamespaces ?? [],
    workers: config.operatorWorkers,
    resyncMs: config.operatorResyncMs,
    isolationCheckMs: config.operatorIsolationCheckMs,
    stores: storesOf(config),
    backends: backendsOf(config),
    dedicated: {
      options: dedicatedOptions(config, stores),
      open: (address) => openDedicatedBus(address, { clock, connect: (ofTenant) => connect(ofTenant, logger) }),
    },
    onLost() {
      // Another process may lead already: end at once.
      logger.error('operator.lease.lost');
      process.exit(1);
    },
  });
}

async function connectionOf(config: Config): Promise<KubeConnection> {
  if (config.operatorKubeconfig !== undefined) return kubeconfigConnection(config.operatorKubeconfig);
  if (config.kubernetesHost !== undefined) {
    return inClusterConnection({ host: config.kubernetesHost, port: config.kubernetesPort });
  }
  throw new ConfigurationError(['ENGRAM_OPERATOR_KUBECONFIG: needed outside of a pod: a kubeconfig file.']);
}

/** Connects to the bus; waits without limit for a server that is not up yet. */
async function openBus(config: Config, logger: Logger, signal: AbortSignal): Promise<Bus> {
  if (config.natsUrl === undefined)
    throw new ConfigurationError(['ENGRAM_NATS_URL: needed: the services answer there.']);
  for (let pauseMs = BUS_PAUSE_MS.first; ; pauseMs = Math.min(BUS_PAUSE_MS.most, pauseMs * 2)) {
    try {
      return await connect(config, logger);
    } catch (error) {
      if (!isEngramError(error) || !error.retryable) throw error;
      logger.warn('bus.connect.retried', { reason: error.message, againInMs: pauseMs });
      await wait(pauseMs, undefined, { signal });
    }
  }
}

function connect(config: Config, logger: Logger): Promise<Bus> {
  const options = withoutUndefined({
    user: config.natsUser,
    password: config.natsPassword,
    token: config.natsToken,
    credentialsFile: config.natsCredentialsFile,
    nkeyFile: config.natsNkeyFile,
    caFile: config.natsCaFile,
    certFile: config.natsCertificateFile,
    keyFile: config.natsKeyFile,
  });
  return openNatsBus({
    ...options,
    url: config.natsUrl ?? '',
    prefix: config.natsPrefix,
    name: 'operator',
    onConnection: ({ kind, reason }) => logger.warn(`bus.connection.${kind}`, reason === undefined ? {} : { reason }),
  });
}

try {
  await run();
} catch (error) {
  const readable = error instanceof ConfigurationError || isEngramError(error);
  process.stderr.write(`${readable ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

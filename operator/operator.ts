import { engramError } from '../services/common/kernel/errors.ts';
import { GROUP } from './api/names.ts';
import { createCaches } from './caches.ts';
import { createDatasetController, createTenantController } from './controllers.ts';
import { createDedicatedServices, type OpenServices } from './dedicated/services.ts';
import { ownershipLabels } from './kube-runtime/applier.ts';
import { createEventRecorder } from './kube-runtime/events.ts';
import { createKubeClient } from './kube-runtime/http-kube-client.ts';
import { createKubeTransport } from './kube-runtime/kube-transport.ts';
import { createFencedClient, createLeaderElector, fencePort } from './kube-runtime/leader-election.ts';
import { createManager, type Manager } from './kube-runtime/manager.ts';
import { createRuntimeMetrics } from './kube-runtime/metrics.ts';
import { METRICS_PREFIX, OPERATOR_NAME, type OperatorOptions } from './operator-options.ts';

export interface Operator extends Manager {
  readonly isLeading: () => boolean;
  /** Closes connections. Call it after the stop. */
  close(): void;
}

/** Creates the operator: the controllers of both kinds, their caches and the election. */
export function createOperator(options: OperatorOptions): Operator {
  const { clock, logger } = options;
  const transport = createKubeTransport({ connection: options.connection, clock, userAgent: OPERATOR_NAME });
  const client = createKubeClient({ transport, fieldManager: OPERATOR_NAME });
  const metrics = createRuntimeMetrics(options.registry, METRICS_PREFIX);
  const elector = createLeaderElector({
    client,
    clock,
    logger,
    lease: options.lease,
    identity: options.identity,
    ...(options.leaseTimes === undefined ? {} : { times: options.leaseTimes }),
    onLeading: () => metrics.leading(true),
    onLost() {
      metrics.leading(false);
      options.onLost();
    },
  });
  const { isLeading } = elector;
  const fenced = createFencedClient(client, isLeading);
  const events = createEventRecorder({
    client: fenced,
    clock,
    logger,
    isLeading,
    controller: `${GROUP}/operator`,
    instance: options.instance,
  });
  const labels = ownershipLabels(GROUP);
  const caches = createCaches(options, { client, clock, logger, metrics, labels });
  const open = options.dedicated?.open ?? noBus;
  const dedicatedServices = createDedicatedServices({
    client,
    clock,
    open: async (bus) => {
      const services = await open(bus);
      return { ...fencePort(services, isLeading), close: () => services.close() };
    },
  });
  const frame = { client: fenced, clock, events, metrics, logger };
  const parts = { options, caches, frame, labels, dedicatedServices, isLeading };
  const { tenants, datasets, secrets, ingresses, deployments } = caches;
  const manager = createManager({
    informers: [tenants, datasets, secrets, ingresses, ...deployments],
    controllers: [createTenantController(parts), createDatasetController(parts)],
    elector,
    logger,
    events,
  });
  return {
    start: manager.start,
    async stop() {
      await manager.stop();
      await caches.stop();
      await dedicatedServices.close();
    },
    readiness: manager.readiness,
    liveness: manager.liveness,
    isLeading,
    close: transport.close,
  };
}

/** Never called without Dedicated tenants. */
async function noBus(): Promise<OpenServices> {
  throw engramError('ServiceUnavailableError', 'Dedicated tenants are not enabled.');
}

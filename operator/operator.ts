import type { Registry } from 'prom-client';
import { engramError } from '../services/common/domain/errors.ts';
import type { Logger } from '../services/common/observability/logger.ts';
import { DATASET_KIND, type Dataset } from './api/dataset.ts';
import { TENANT_KIND, type Tenant } from './api/tenant.ts';
import { createDatasetReconciler } from './dataset/dataset-reconciler.ts';
import { tenantName } from './dataset/resource.ts';
import type { DatasetServices } from './dataset/services.ts';
import { configMapsOf, secretsOf } from './references.ts';
import { createApplier, ownershipLabels } from './runtime/applier.ts';
import { createController, ownerKeys, ownKeys, source } from './runtime/controller.ts';
import { createEventRecorder } from './runtime/events.ts';
import { createFencedClient, fencePort } from './runtime/fenced-client.ts';
import { createKubeClient } from './runtime/http-kube-client.ts';
import {
  type Change,
  createInformer,
  type IndexFunction,
  type Informer,
  type InformerOptions,
} from './runtime/informer.ts';
import { groupInformers } from './runtime/informer-group.ts';
import type { KubeConnection } from './runtime/kube-connection.ts';
import { KINDS, type KubeObject, keyOf, type ResourceKind, type Secret } from './runtime/kube-object.ts';
import { createKubeTransport } from './runtime/kube-transport.ts';
import { lateSource } from './runtime/late-source.ts';
import { createLeaderElector, type LeaseTimes } from './runtime/leader-elector.ts';
import { createManager, type Manager } from './runtime/manager.ts';
import { createRuntimeMetrics } from './runtime/metrics.ts';
import type { FrameDependencies } from './runtime/reconcile-frame.ts';
import { createReferenceWatches, referenceSource } from './runtime/reference-watches.ts';
import type { RuntimeClock } from './runtime/runtime-clock.ts';
import { createProvisionMemory } from './tenant/dedicated/dedicated.ts';
import { type DedicatedOptions, NO_DEDICATED } from './tenant/dedicated/options.ts';
import { createOwnServices, type OpenBus, type OpenPorts } from './tenant/dedicated/own-services.ts';
import type { TenantOptions } from './tenant/dependencies.ts';
import { createIsolationChecks } from './tenant/isolation-checks.ts';
import { GROUP } from './tenant/names.ts';
import type { TenantServices } from './tenant/services.ts';
import { createTenantReconciler } from './tenant/tenant-reconciler.ts';

/** Field manager, value of the managed-by label, name in user agents. */
export const OPERATOR_NAME = 'engram-operator';

/** A failed key waits from half a second up to five minutes; after five times, about ten seconds, it is Stalled. */
const BACKOFF_MS = { first: 500, most: 300_000 };

const ISOLATION_CHECK_MS = 1_800_000;

const METRICS_PREFIX = 'engram_operator_';

export interface OperatorOptions {
  readonly connection: KubeConnection;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly tenantServices: TenantServices;
  readonly datasetServices: DatasetServices;
  readonly lease: { readonly name: string; readonly namespace: string };
  /** Default: 15, 10 and 2 s. */
  readonly leaseTimes?: LeaseTimes;
  /** Names this process: its pod, and something random. */
  readonly identity: string;
  /** Of the pod, for events. */
  readonly instance: string;
  /** Null: all. */
  readonly watchNamespaces: readonly string[] | null;
  /** Beside the operator's own; see `TenantOptions`. */
  readonly trustedNamespaces?: readonly string[];
  /** Of each kind. */
  readonly workers: number;
  readonly resyncMs: number;
  /** How often each tenant is compared with others. Default: half an hour. */
  readonly isolationCheckMs?: number;
  readonly stores: TenantOptions['stores'];
  readonly backends: TenantOptions['backends'];
  /** Absent: there are no Dedicated tenants. */
  readonly dedicated?: { readonly options: DedicatedOptions; readonly open: OpenBus };
  /** The lease is lost: the process must end. */
  onLost(): void;
}

export interface Operator extends Manager {
  readonly isLeading: () => boolean;
  /** Closes connections; after the stop. */
  close(): void;
}

/** The operator without what surrounds it: the reconcilers of both kinds, their caches and the election. */
export function createOperator(options: OperatorOptions): Operator {
  const { clock, logger, watchNamespaces } = options;
  const transport = createKubeTransport({ connection: options.connection, clock, userAgent: OPERATOR_NAME });
  const client = createKubeClient({ transport, fieldManager: OPERATOR_NAME });
  const metrics = createRuntimeMetrics(options.registry, METRICS_PREFIX);
  const elector = createLeaderElector({
    ...{ client, clock, logger, lease: options.lease, identity: options.identity },
    ...(options.leaseTimes === undefined ? {} : { times: options.leaseTimes }),
    onLeading: () => metrics.leading(true),
    onLost() {
      metrics.leading(false);
      options.onLost();
    },
  });
  const fenced = createFencedClient(client, elector.isLeading);
  const events = createEventRecorder({
    ...{ client: fenced, clock, logger, isLeading: elector.isLeading },
    ...{ controller: `${GROUP}/operator`, instance: options.instance },
  });
  const labels = ownershipLabels(GROUP);
  const frame: FrameDependencies = { client: fenced, clock, events, metrics, logger };
  const common = { manager: OPERATOR_NAME, labels, resyncMs: options.resyncMs };

  function informer<T extends KubeObject>(
    kind: ResourceKind,
    more: Pick<InformerOptions<T>, 'labelSelector' | 'indexes' | 'trim'> = {},
    namespaces = watchNamespaces ?? [],
  ): Informer<T> {
    const one = (place: { readonly namespace?: string }) =>
      createInformer<T>({ kind, client, clock, logger, metrics, ...more, ...place });
    const [first, ...others] = namespaces.map((namespace) => one({ namespace }));
    return first === undefined ? one({}) : groupInformers(first, ...others);
  }
  const tenants = informer<Tenant>(TENANT_KIND);
  const byTenant: IndexFunction<Dataset> = (dataset) => [keyOf(tenantName(dataset))];
  const datasets = informer<Dataset>(DATASET_KIND, { indexes: { tenant: byTenant } });
  const labelSelector = `${labels.managedBy}=${OPERATOR_NAME}`;
  // That one changed is enough to know: their values are read when they are needed, and kept nowhere.
  const secrets = informer<Secret>(KINDS.secret, { labelSelector, trim: ({ data: _, ...rest }) => rest });
  const hasDedicated = options.dedicated?.options.image !== undefined && options.dedicated.options.image !== null;
  // Those of Dedicated tenants are beside their own services.
  const routeNamespaces = hasDedicated
    ? watchNamespaces && [...new Set([...watchNamespaces, options.backends.namespace])]
    : [options.backends.namespace];
  const ingresses = informer<KubeObject>(KINDS.ingress, { labelSelector }, routeNamespaces ?? []);
  // No kind of every cluster.
  const httpRoutes = lateSource(tenants, ({ spec }) => spec.routing?.type === 'HTTPRoute', {
    make: () => informer<KubeObject>(KINDS.httpRoute, { labelSelector }, routeNamespaces ?? []),
    keysOf: ownerKeys(TENANT_KIND.kind, labels),
  });
  const references = { client, clock, logger, metrics };
  const givenSecrets = createReferenceWatches({ ...references, kind: KINDS.secret });
  const configMaps = createReferenceWatches({ ...references, kind: KINDS.configMap });
  const deployments = hasDedicated ? [informer<KubeObject>(KINDS.deployment, { labelSelector })] : [];
  const ownServices = createOwnServices({
    ...{ client, clock },
    async open(address) {
      const ports = await (options.dedicated?.open ?? noBus)(address);
      const { isLeading } = elector;
      return {
        tenant: fencePort(ports.tenant, isLeading),
        dataset: fencePort(ports.dataset, isLeading),
        close: () => ports.close(),
      };
    },
  });

  const control = { workers: options.workers, clock, logger, metrics, queue: { backoffMs: BACKOFF_MS } };
  const tenantController = createController({
    ...control,
    reconciler: createTenantReconciler(
      {
        client: fenced,
        applier: createApplier({ client: fenced, labels, manager: OPERATOR_NAME }),
        services: fencePort(options.tenantServices, elector.isLeading),
        options: {
          ...{ ...common, home: options.lease.namespace, stores: options.stores, backends: options.backends },
          watchNamespaces,
          trustedNamespaces: [options.lease.namespace, ...(options.trustedNamespaces ?? [])],
        },
        dedicated: {
          options: options.dedicated?.options ?? NO_DEDICATED,
          services: ownServices,
          provisions: createProvisionMemory(clock, options.resyncMs * 0.8),
          tenants: tenants.list,
        },
        isolation: createIsolationChecks({
          ...{ clock, registry: options.registry, prefix: METRICS_PREFIX, tenants: tenants.list },
          intervalMs: options.isolationCheckMs ?? ISOLATION_CHECK_MS,
        }),
      },
      frame,
    ),
    sources: [
      source(tenants, ownKeys),
      source(secrets, ownerKeys(TENANT_KIND.kind, labels)),
      source(ingresses, ownerKeys(TENANT_KIND.kind, labels)),
      httpRoutes,
      referenceSource(tenants, givenSecrets, (tenant) => secretsOf(tenant, secrets)),
      ...deployments.map((each) => source(each, ownerKeys(TENANT_KIND.kind, labels))),
      // A tenant that is being deleted may wait for them.
      source(datasets, ({ type, object }) => (type === 'deleted' ? byTenant(object) : [])),
    ],
  });
  const datasetController = createController({
    ...control,
    reconciler: createDatasetReconciler(
      {
        client: fenced,
        services: fencePort(options.datasetServices, elector.isLeading),
        dedicated: { tenantOf: (name) => tenants.get(keyOf(name)), services: ownServices },
        options: { ...common, home: options.lease.namespace },
        clock,
        logger,
      },
      frame,
    ),
    sources: [
      source(datasets, ownKeys),
      referenceSource(datasets, configMaps, configMapsOf),
      source(tenants, (change) =>
        concernsDatasets(change) ? datasets.byIndex('tenant', change.key).map(({ metadata }) => keyOf(metadata)) : [],
      ),
    ],
  });
  const manager = createManager({
    informers: [tenants, datasets, secrets, ingresses, ...deployments],
    controllers: [tenantController, datasetController],
    ...{ elector, logger, events },
  });
  return {
    start: manager.start,
    async stop() {
      await manager.stop();
      await Promise.all([httpRoutes.stop(), givenSecrets.stop(), configMaps.stop()]);
      await ownServices.close();
    },
    readiness: manager.readiness,
    liveness: manager.liveness,
    isLeading: elector.isLeading,
    close: transport.close,
  };
}

/** Without Dedicated tenants nobody comes to this. */
async function noBus(): Promise<OpenPorts> {
  throw engramError('ServiceUnavailableError', 'The operator makes no Dedicated tenants.');
}

/** Not its figures and conditions, which change often. */
function concernsDatasets({ type, object, previous }: Change<Tenant>): boolean {
  return (
    type !== 'modified' ||
    previous?.metadata.generation !== object.metadata.generation ||
    previous?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    previous?.status?.tenantId !== object.status?.tenantId ||
    previous?.status?.state !== object.status?.state
  );
}

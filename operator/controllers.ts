import type { Dataset } from './api/dataset.ts';
import { TENANT_KIND, type Tenant } from './api/tenant.ts';
import { byTenant, type Caches } from './caches.ts';
import { createDatasetReconciler } from './dataset-reconciler.ts';
import { createProvisionMemory } from './dedicated/model.ts';
import { NO_DEDICATED } from './dedicated/options.ts';
import type { DedicatedServices } from './dedicated/services.ts';
import { createApplier, type OwnershipLabels } from './kube-runtime/applier.ts';
import {
  type Controller,
  type ControllerOptions,
  createController,
  ownerKeys,
  ownKeys,
  source,
} from './kube-runtime/controller.ts';
import type { Cache, Change } from './kube-runtime/informer.ts';
import { type KubeObject, keyOf, type ObjectName } from './kube-runtime/kube-object.ts';
import { fencePort } from './kube-runtime/leader-election.ts';
import type { FrameDependencies } from './kube-runtime/reconcile-frame.ts';
import { referenceSource } from './kube-runtime/reference-watches.ts';
import { METRICS_PREFIX, OPERATOR_NAME, type OperatorOptions } from './operator-options.ts';
import { createIsolationChecks } from './tenant/isolation-checks.ts';
import { createTenantReconciler } from './tenant-reconciler.ts';

export interface ControllerParts {
  readonly options: OperatorOptions;
  readonly caches: Caches;
  /** Its client writes only while this process leads. */
  readonly frame: FrameDependencies;
  readonly labels: OwnershipLabels;
  readonly dedicatedServices: DedicatedServices;
  readonly isLeading: () => boolean;
}

/**
 * Back-off of a failed key. The maximum is short, so that the recovery of a store is noticed soon; after five failures, about
 * ten seconds, the resource is Stalled.
 */
const BACKOFF_MS = { first: 500, most: 30_000 };

const ISOLATION_CHECK_MS = 1_800_000;

/** Options that the controllers of both kinds have in common. */
export function controllerOptions({
  options: { workers },
  frame: { clock, logger, metrics },
}: ControllerParts): Omit<ControllerOptions, 'reconciler' | 'sources'> {
  return { workers, clock, logger, metrics, queue: { backoffMs: BACKOFF_MS } };
}

export function createTenantController(parts: ControllerParts): Controller {
  const { options, caches, frame, labels, dedicatedServices, isLeading } = parts;
  const { client, clock } = frame;
  const { tenants, datasets, secrets, ingresses, deployments, httpRoutes, givenSecrets } = caches;
  const { lease, stores, backends, dedicated, registry, resyncMs, watchNamespaces, trustedNamespaces = [] } = options;
  const keysOfOwner = ownerKeys(TENANT_KIND.kind, labels);
  const reconciler = createTenantReconciler(
    {
      client,
      applier: createApplier({ client, labels, manager: OPERATOR_NAME }),
      services: fencePort(options.services, isLeading),
      options: {
        manager: OPERATOR_NAME,
        labels,
        resyncMs,
        home: lease.namespace,
        stores,
        backends,
        watchNamespaces,
        trustedNamespaces: [lease.namespace, ...trustedNamespaces],
      },
      dedicated: {
        options: dedicated?.options ?? NO_DEDICATED,
        services: dedicatedServices,
        provisions: createProvisionMemory(clock, resyncMs * 0.8),
        tenants: tenants.list,
      },
      isolation: createIsolationChecks({
        clock,
        registry,
        prefix: METRICS_PREFIX,
        tenants: tenants.list,
        intervalMs: options.isolationCheckMs ?? ISOLATION_CHECK_MS,
      }),
    },
    frame,
  );
  return createController({
    ...controllerOptions(parts),
    reconciler,
    sources: [
      source(tenants, ownKeys),
      source(secrets, keysOfOwner),
      source(ingresses, keysOfOwner),
      httpRoutes,
      referenceSource(tenants, givenSecrets, (tenant) => secretsOf(tenant, secrets)),
      ...deployments.map((each) => source(each, keysOfOwner)),
      // A tenant that is being deleted may wait for them.
      source(datasets, ({ type, object }) => (type === 'deleted' ? byTenant(object) : [])),
    ],
  });
}

export function createDatasetController(parts: ControllerParts): Controller {
  const { options, caches, frame, labels, dedicatedServices, isLeading } = parts;
  const { client, clock, logger } = frame;
  const { tenants, datasets, configMaps, datasetSecrets } = caches;
  const { lease, resyncMs } = options;
  const reconciler = createDatasetReconciler(
    {
      client,
      clock,
      logger,
      services: fencePort(options.services, isLeading),
      dedicated: { tenantOf: (name) => tenants.get(keyOf(name)), servicesOf: dedicatedServices.of },
      options: { manager: OPERATOR_NAME, labels, resyncMs, home: lease.namespace },
    },
    frame,
  );
  return createController({
    ...controllerOptions(parts),
    reconciler,
    sources: [
      source(datasets, ownKeys),
      referenceSource(datasets, configMaps, configMapsOf),
      referenceSource(datasets, datasetSecrets, credentialsOf),
      source(tenants, (change) =>
        concernsDatasets(change) ? datasets.byIndex('tenant', change.key).map(({ metadata }) => keyOf(metadata)) : [],
      ),
    ],
  });
}

/** Whether the change can matter to the tenant's Datasets: usage and conditions, which change often, do not. */
function concernsDatasets({ type, object, previous }: Change<Tenant>): boolean {
  return (
    type !== 'modified' ||
    previous?.metadata.generation !== object.metadata.generation ||
    previous?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    previous?.status?.tenantId !== object.status?.tenantId ||
    previous?.status?.state !== object.status?.state
  );
}

/**
 * Names of the Secrets that users made for a Tenant; each is watched by itself. `managed`: those that the operator made, which
 * are watched together.
 */
export function secretsOf({ metadata, spec, status }: Tenant, managed: Pick<Cache<KubeObject>, 'get'>): ObjectName[] {
  const { namespace } = metadata;
  if (namespace === undefined || metadata.deletionTimestamp !== undefined) return [];
  const { owner, llm, embedding, backup } = spec;
  const references = [
    owner.passwordSecretRef,
    llm?.apiKeySecretRef,
    embedding?.apiKeySecretRef,
    backup?.destinationRef,
  ];
  const given = references.map((reference) => reference?.name);
  // Before the first reconcile it is unknown who makes the Secrets of API keys.
  const keys = status?.observedGeneration === undefined ? [] : (spec.apiKeys ?? []).map(({ secretName }) => secretName);
  const foreign = keys.filter((name) => managed.get(keyOf({ name, namespace })) === undefined);
  return [...given, ...foreign].flatMap((name) => (name === undefined ? [] : [{ name, namespace }]));
}

/** Names of the ConfigMaps with the graph model and the prompt of a Dataset. */
function configMapsOf({ metadata, spec }: Dataset): ObjectName[] {
  const { namespace } = metadata;
  if (namespace === undefined || metadata.deletionTimestamp !== undefined) return [];
  const names = [spec.graphModel?.configMapRef?.name, spec.prompt?.configMapRef?.name];
  return names.flatMap((name) => (name === undefined ? [] : [{ name, namespace }]));
}

/** Names of the Secrets with the credentials of a Dataset's sources. */
export function credentialsOf({ metadata, spec }: Dataset): ObjectName[] {
  const { namespace } = metadata;
  if (namespace === undefined || metadata.deletionTimestamp !== undefined) return [];
  const names = new Set((spec.sources ?? []).map(({ credentialsSecretRef }) => credentialsSecretRef?.name));
  return [...names].flatMap((name) => (name === undefined ? [] : [{ name, namespace }]));
}

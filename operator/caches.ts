import type { Logger } from '../services/common/platform/observability/logger.ts';
import { DATASET_KIND, type Dataset } from './api/dataset.ts';
import { TENANT_KIND, type Tenant } from './api/tenant.ts';
import { tenantName } from './dataset/model.ts';
import type { OwnershipLabels } from './kube-runtime/applier.ts';
import { lateSource, ownerKeys, type Source } from './kube-runtime/controller.ts';
import {
  createInformer,
  groupInformers,
  type IndexFunction,
  type Informer,
  type InformerOptions,
} from './kube-runtime/informer.ts';
import type { KubeClient } from './kube-runtime/kube-client.ts';
import { KINDS, type KubeObject, keyOf, type ResourceKind, type Secret } from './kube-runtime/kube-object.ts';
import type { RuntimeMetrics } from './kube-runtime/metrics.ts';
import { createReferenceWatches, type ReferenceWatches } from './kube-runtime/reference-watches.ts';
import type { RuntimeClock } from './kube-runtime/runtime-clock.ts';
import { OPERATOR_NAME, type OperatorOptions } from './operator-options.ts';

/** Caches and watches of the operator. */
export interface Caches {
  readonly tenants: Informer<Tenant>;
  /** Has the index `tenant`: the key of the Tenant. */
  readonly datasets: Informer<Dataset>;
  /** Secrets that the operator made, without their values. */
  readonly secrets: Informer<Secret>;
  readonly ingresses: Informer<KubeObject>;
  /** Empty without Dedicated tenants. */
  readonly deployments: readonly Informer<KubeObject>[];
  /** Starts with the first Tenant that has an HTTPRoute. */
  readonly httpRoutes: Source;
  /** Secrets and ConfigMaps that users made and that resources name: those of Tenants, then those of Datasets. */
  readonly givenSecrets: ReferenceWatches;
  readonly datasetSecrets: ReferenceWatches;
  readonly configMaps: ReferenceWatches;
  /** Stops the watches that start on demand; the manager starts and stops the informers. */
  stop(): Promise<void>;
}

interface CachesParts {
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly labels: OwnershipLabels;
}

export const byTenant: IndexFunction<Dataset> = (dataset) => [keyOf(tenantName(dataset))];

export function createCaches(options: OperatorOptions, { labels, ...parts }: CachesParts): Caches {
  const { watchNamespaces, backends, dedicated } = options;

  function informer<T extends KubeObject>(
    kind: ResourceKind,
    more: Pick<InformerOptions<T>, 'labelSelector' | 'indexes' | 'trim'> = {},
    namespaces = watchNamespaces ?? [],
  ): Informer<T> {
    const one = (place: { readonly namespace?: string }) => createInformer<T>({ ...parts, kind, ...more, ...place });
    const [first, ...others] = namespaces.map((namespace) => one({ namespace }));
    return first === undefined ? one({}) : groupInformers(first, ...others);
  }
  const labelSelector = `${labels.managedBy}=${OPERATOR_NAME}`;
  const hasDedicated = dedicated?.options.image !== undefined && dedicated.options.image !== null;
  // Routes of Dedicated tenants are in the namespaces of their Tenants.
  const routeNamespaces = hasDedicated
    ? watchNamespaces && [...new Set([...watchNamespaces, backends.namespace])]
    : [backends.namespace];
  const tenants = informer<Tenant>(TENANT_KIND);
  // Not every cluster has this kind.
  const httpRoutes = lateSource(tenants, ({ spec }) => spec.routing?.type === 'HTTPRoute', {
    make: () => informer<KubeObject>(KINDS.httpRoute, { labelSelector }, routeNamespaces ?? []),
    keysOf: ownerKeys(TENANT_KIND.kind, labels),
  });
  const givenSecrets = createReferenceWatches({ ...parts, kind: KINDS.secret });
  const datasetSecrets = createReferenceWatches({ ...parts, kind: KINDS.secret });
  const configMaps = createReferenceWatches({ ...parts, kind: KINDS.configMap });
  return {
    tenants,
    datasets: informer<Dataset>(DATASET_KIND, { indexes: { tenant: byTenant } }),
    // Values are read when they are needed and never cached.
    secrets: informer<Secret>(KINDS.secret, { labelSelector, trim: ({ data: _, ...rest }) => rest }),
    ingresses: informer<KubeObject>(KINDS.ingress, { labelSelector }, routeNamespaces ?? []),
    deployments: hasDedicated ? [informer<KubeObject>(KINDS.deployment, { labelSelector })] : [],
    httpRoutes,
    givenSecrets,
    datasetSecrets,
    configMaps,
    async stop() {
      await Promise.all([httpRoutes.stop(), givenSecrets.stop(), datasetSecrets.stop(), configMaps.stop()]);
    },
  };
}

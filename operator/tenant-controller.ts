import { TENANT_KIND } from './api/tenant.ts';
import { byTenant } from './caches.ts';
import { type ControllerParts, controlOf } from './controller-parts.ts';
import { createApplier } from './kube-runtime/applier.ts';
import { type Controller, createController, ownerKeys, ownKeys, source } from './kube-runtime/controller.ts';
import { fencePort } from './kube-runtime/leader-election.ts';
import { referenceSource } from './kube-runtime/reference-watches.ts';
import { METRICS_PREFIX, OPERATOR_NAME } from './operator-options.ts';
import { secretsOf } from './references.ts';
import { createProvisionMemory } from './tenant/dedicated/dedicated.ts';
import { NO_DEDICATED } from './tenant/dedicated/options.ts';
import type { TenantDependencies } from './tenant/dependencies.ts';
import { createIsolationChecks } from './tenant/isolation-checks.ts';
import { createTenantReconciler } from './tenant/tenant-reconciler.ts';

const ISOLATION_CHECK_MS = 1_800_000;

export function createTenantController(parts: ControllerParts): Controller {
  const { caches, frame, labels } = parts;
  const { tenants, datasets, secrets, ingresses, deployments, httpRoutes, givenSecrets } = caches;
  const keysOfOwner = ownerKeys(TENANT_KIND.kind, labels);
  return createController({
    ...controlOf(parts),
    reconciler: createTenantReconciler(dependenciesOf(parts), frame),
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

function dependenciesOf({
  options,
  caches: { tenants },
  frame: { client, clock },
  labels,
  ownServices,
  isLeading,
}: ControllerParts): TenantDependencies {
  const { lease, stores, backends, dedicated, registry, resyncMs, watchNamespaces, trustedNamespaces = [] } = options;
  return {
    client,
    applier: createApplier({ client, labels, manager: OPERATOR_NAME }),
    services: fencePort(options.tenantServices, isLeading),
    options: {
      ...{ manager: OPERATOR_NAME, labels, resyncMs, home: lease.namespace, stores, backends, watchNamespaces },
      trustedNamespaces: [lease.namespace, ...trustedNamespaces],
    },
    dedicated: {
      options: dedicated?.options ?? NO_DEDICATED,
      services: ownServices,
      provisions: createProvisionMemory(clock, resyncMs * 0.8),
      tenants: tenants.list,
    },
    isolation: createIsolationChecks({
      ...{ clock, registry, prefix: METRICS_PREFIX, tenants: tenants.list },
      intervalMs: options.isolationCheckMs ?? ISOLATION_CHECK_MS,
    }),
  };
}

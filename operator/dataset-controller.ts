import type { Tenant } from './api/tenant.ts';
import { type ControllerParts, controlOf } from './controller-parts.ts';
import { createDatasetReconciler } from './dataset/dataset-reconciler.ts';
import type { DatasetDependencies } from './dataset/dependencies.ts';
import { type Controller, createController, ownKeys, source } from './kube-runtime/controller.ts';
import type { Change } from './kube-runtime/informer.ts';
import { keyOf } from './kube-runtime/kube-object.ts';
import { fencePort } from './kube-runtime/leader-election.ts';
import { referenceSource } from './kube-runtime/reference-watches.ts';
import { OPERATOR_NAME } from './operator-options.ts';
import { configMapsOf } from './references.ts';

export function createDatasetController(parts: ControllerParts): Controller {
  const { tenants, datasets, configMaps } = parts.caches;
  return createController({
    ...controlOf(parts),
    reconciler: createDatasetReconciler(dependenciesOf(parts), parts.frame),
    sources: [
      source(datasets, ownKeys),
      referenceSource(datasets, configMaps, configMapsOf),
      source(tenants, (change) =>
        concernsDatasets(change) ? datasets.byIndex('tenant', change.key).map(({ metadata }) => keyOf(metadata)) : [],
      ),
    ],
  });
}

function dependenciesOf({
  options,
  caches: { tenants },
  frame: { client, clock, logger },
  labels,
  ownServices,
  isLeading,
}: ControllerParts): DatasetDependencies {
  const { lease, resyncMs } = options;
  return {
    ...{ client, clock, logger },
    services: fencePort(options.datasetServices, isLeading),
    dedicated: { tenantOf: (name) => tenants.get(keyOf(name)), services: ownServices },
    options: { manager: OPERATOR_NAME, labels, resyncMs, home: lease.namespace },
  };
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

import { DATASET_KIND, type Dataset } from '../../api/dataset.ts';
import type { Tenant } from '../../api/tenant.ts';
import { namesInMessage } from '../../kube-runtime/conditions.ts';
import { keyOf } from '../../kube-runtime/kube-object.ts';
import { done, progressing, stalled } from '../../kube-runtime/steps.ts';
import type { TenantDependencies, TenantStep } from '../model.ts';

const AGAIN_MS = 2000;
const STILL_THERE_MS = 30_000;

/** Waits until the tenant has no Datasets; with `datasetDeletion: Cascade` deletes them first. */
export function removeDatasets(deps: TenantDependencies): TenantStep {
  return {
    name: 'remove-datasets',
    async run({ object, event, signal }) {
      const datasets = await datasetsOf(deps, object, signal);
      if (datasets.length === 0) return done();
      const names = namesInMessage(datasets.map(({ metadata }) => keyOf(metadata)));
      if (object.spec.datasetDeletion === 'Block') {
        const message = `Delete the Datasets of the tenant first, or set datasetDeletion to Cascade: ${names}`;
        return stalled('DatasetsExist', message, { requeueAfterMs: STILL_THERE_MS });
      }
      for (const { metadata } of datasets) {
        if (metadata.deletionTimestamp !== undefined) continue;
        const { uid } = metadata;
        await deps.client.delete(DATASET_KIND, metadata, { signal, ...(uid === undefined ? {} : { uid }) });
        event({
          type: 'Normal',
          reason: 'DatasetDeleted',
          message: `Dataset ${keyOf(metadata)} is deleted with its tenant`,
        });
      }
      return progressing('DeletingDatasets', `Datasets ${names} are being deleted, each by its own policy`, {
        requeueAfterMs: AGAIN_MS,
      });
    },
  };
}

async function datasetsOf({ client, options }: TenantDependencies, tenant: Tenant, signal: AbortSignal) {
  const { metadata } = tenant;
  const fieldSelector = `spec.tenantRef.name=${metadata.name}`;
  const places = options.watchNamespaces === null ? [{}] : options.watchNamespaces.map((namespace) => ({ namespace }));
  const lists = await Promise.all(
    places.map((place) => client.list<Dataset>(DATASET_KIND, { ...place, fieldSelector, signal })),
  );
  return lists
    .flatMap(({ items }) => items)
    .filter(
      ({ spec: { tenantRef }, metadata: own }) =>
        tenantRef.name === metadata.name && (tenantRef.namespace ?? own.namespace) === metadata.namespace,
    )
    .filter((dataset) => isTaken(tenant, dataset));
}

/**
 * Whether the Dataset belongs to the tenant. Anybody can create a Dataset that names the tenant: one in a namespace that is
 * not allowed neither delays the deletion of the tenant nor is deleted with it, unless it was accepted before.
 */
function isTaken({ metadata, spec }: Tenant, dataset: Dataset): boolean {
  if (dataset.metadata.namespace === metadata.namespace || dataset.status?.datasetId !== undefined) return true;
  return spec.datasets.allowedNamespaces.from === 'All';
}

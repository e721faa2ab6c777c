import type { DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Dataset } from '../api/dataset.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import type { ObjectName } from '../kube-runtime/kube-object.ts';
import { progressing, StepFailure } from '../kube-runtime/steps.ts';
import { FRAME_ANNOTATIONS } from '../tenant/names.ts';
import type { DatasetContext } from './dependencies.ts';

/** Where the Tenant of a Dataset is. */
export function tenantName({ metadata, spec }: Pick<Dataset, 'metadata' | 'spec'>): ObjectName {
  const namespace = spec.tenantRef.namespace ?? metadata.namespace;
  return { name: spec.tenantRef.name, ...(namespace === undefined ? {} : { namespace }) };
}

/** As the dataset is called in the API. */
export function wireName({ metadata, spec }: Dataset): string {
  return spec.name ?? metadata.name;
}

export function uidOf({ metadata }: Dataset): string {
  return metadata.uid ?? '';
}

/** The last request to look at everything again. */
export function requestOf({ metadata }: Dataset): string {
  return metadata.annotations?.[FRAME_ANNOTATIONS.reconcileAt] ?? '';
}

/** What a check is of: another generation or a request to look again makes it another one. */
export function stateOf(dataset: Dataset): string {
  return `${dataset.metadata.generation ?? 0} ${requestOf(dataset)}`;
}

export function readTenant(
  client: Pick<KubeClient, 'get'>,
  dataset: Dataset,
  signal: AbortSignal,
): Promise<Tenant | null> {
  return client.get<Tenant>(TENANT_KIND, tenantName(dataset), { signal });
}

export interface DatasetIds {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
}

/** As the steps before found them. */
export function idsOf({ status }: Pick<DatasetContext, 'status'>): DatasetIds {
  const { tenantId, datasetId } = status;
  if (tenantId === undefined || datasetId === undefined) {
    throw new StepFailure(progressing('Provisioning', 'The dataset is being made'));
  }
  return { tenantId: asId<TenantId>(tenantId), datasetId: asId<DatasetId>(datasetId) };
}

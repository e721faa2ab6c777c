import type { Tenant } from '../api/tenant.ts';
import { keepReceipt } from '../keep-receipt.ts';
import type { ConfigMap } from '../runtime/kube-object.ts';
import type { TenantContext, TenantDependencies } from './dependencies.ts';
import { boundedName, GROUP } from './names.ts';

/** `Erased` or `Abandoned`. */
const RECEIPT_LABEL = `${GROUP}/receipt`;

/**
 * Writes what is left of a tenant: a ConfigMap beside it that nothing removes, or beside the operator when the whole
 * namespace is being deleted. Answers its name.
 */
export async function writeReceipt(
  { client, options }: TenantDependencies,
  { object, signal }: TenantContext,
  receipt: { readonly kind: 'Erased' | 'Abandoned'; readonly json: string },
): Promise<string> {
  const { name: tenant, namespace = '' } = object.metadata;
  const name = receiptName(object, receipt.kind);
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      labels: { [options.labels.managedBy]: options.manager, [RECEIPT_LABEL]: receipt.kind },
      annotations: { [options.labels.ownerAnnotation]: `Tenant/${namespace}/${tenant}` },
    },
    data: { 'receipt.json': receipt.json },
  };
  return keepReceipt(configMap, { client, home: options.home, signal });
}

export function receiptName({ metadata }: Pick<Tenant, 'metadata'>, kind: 'Erased' | 'Abandoned'): string {
  return boundedName(metadata.name, kind.toLowerCase(), (metadata.uid ?? '').slice(0, 8));
}

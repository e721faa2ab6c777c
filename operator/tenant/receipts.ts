import { isKubeError } from '../runtime/kube-error.ts';
import { type ConfigMap, KINDS } from '../runtime/kube-object.ts';
import type { TenantContext, TenantDependencies } from './dependencies.ts';
import { boundedName, GROUP } from './names.ts';

/** `Erased` or `Abandoned`. */
const RECEIPT_LABEL = `${GROUP}/receipt`;

/**
 * Writes what is left of a tenant: a ConfigMap beside it that nothing removes. Written once; a second writing finds it.
 * Answers its name.
 */
export async function writeReceipt(
  { client, options }: TenantDependencies,
  { object, signal }: TenantContext,
  receipt: { readonly kind: 'Erased' | 'Abandoned'; readonly json: string },
): Promise<string> {
  const { name: tenant, namespace = '', uid = '' } = object.metadata;
  const name = boundedName(tenant, receipt.kind.toLowerCase(), uid.slice(0, 8));
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
  try {
    await client.create(KINDS.configMap, configMap, { signal });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const held = await client.get<ConfigMap>(KINDS.configMap, { name, namespace }, { signal });
    if (held?.data?.['receipt.json'] !== receipt.json) throw error;
  }
  return name;
}

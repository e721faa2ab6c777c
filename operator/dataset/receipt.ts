import { isKubeError } from '../runtime/kube-error.ts';
import { type ConfigMap, KINDS } from '../runtime/kube-object.ts';
import { boundedName } from '../tenant/names.ts';
import type { DatasetContext, DatasetDependencies } from './dependencies.ts';

/**
 * Writes what is left of a dataset: a ConfigMap in its namespace that nothing removes. Written once; a second writing finds
 * it. Answers its name.
 */
export async function writeReceipt(
  { client, options }: DatasetDependencies,
  { object, signal }: DatasetContext,
  receipt: { readonly kind: 'Erased' | 'Abandoned'; readonly json: string },
): Promise<string> {
  const { name: dataset, namespace = '', uid = '' } = object.metadata;
  const name = boundedName('dataset', dataset, receipt.kind.toLowerCase(), uid.slice(0, 8));
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      labels: { [options.labels.managedBy]: options.manager, 'engram.dev/receipt': receipt.kind },
      annotations: { [options.labels.ownerAnnotation]: `Dataset/${namespace}/${dataset}` },
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

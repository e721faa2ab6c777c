import { keepReceipt } from '../keep-receipt.ts';
import type { ConfigMap } from '../runtime/kube-object.ts';
import { boundedName } from '../tenant/names.ts';
import type { DatasetContext, DatasetDependencies } from './dependencies.ts';

/**
 * Writes what is left of a dataset: a ConfigMap in its namespace that nothing removes, or beside the operator when the whole
 * namespace is being deleted. Answers its name.
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
  return keepReceipt(configMap, { client, home: options.home, signal });
}

import { boundedName, GROUP } from '../api/names.ts';
import type { OwnershipLabels } from '../kube-runtime/applier.ts';
import { isKubeError, type KubeClient, type KubeError } from '../kube-runtime/kube-client.ts';
import { type ConfigMap, KINDS, type KubeObject, keyOf } from '../kube-runtime/kube-object.ts';

/** `Erased` or `Abandoned`. */
const RECEIPT_LABEL = `${GROUP}/receipt`;

interface Receipt {
  readonly kind: 'Erased' | 'Abandoned';
  readonly json: string;
}

interface ReceiptOptions {
  /** Value of the managed-by label. */
  readonly manager: string;
  readonly labels: OwnershipLabels;
  /** The operator's namespace: takes receipts of a namespace that is itself being deleted and accepts no new objects. */
  readonly home: string;
}

/** Name of a receipt's ConfigMap. A Tenant and a Dataset of the same name have different ones. */
export function receiptName({ kind, metadata }: KubeObject, receiptKind: Receipt['kind']): string {
  const prefix = kind === 'Dataset' ? ['dataset'] : [];
  return boundedName(...prefix, metadata.name, receiptKind.toLowerCase(), (metadata.uid ?? '').slice(0, 8));
}

/**
 * Writes the receipt of a Tenant or Dataset: a ConfigMap in its namespace that the operator never deletes, or in the
 * operator's namespace when the namespace is being deleted. A second write finds the first. Returns the name, with the
 * namespace when it is the operator's.
 */
export async function writeReceipt(
  { client, options: { manager, labels, home } }: { readonly client: KubeClient; readonly options: ReceiptOptions },
  { object, signal }: { readonly object: KubeObject; readonly signal: AbortSignal },
  receipt: Receipt,
): Promise<string> {
  const { name, namespace = '' } = object.metadata;
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: receiptName(object, receipt.kind),
      namespace,
      labels: { [labels.managedBy]: manager, [RECEIPT_LABEL]: receipt.kind },
      annotations: { [labels.ownerAnnotation]: `${object.kind}/${namespace}/${name}` },
    },
    data: { 'receipt.json': receipt.json },
  };
  try {
    await writeOnce(client, configMap, signal);
    return configMap.metadata.name;
  } catch (error) {
    if (!isKubeError(error, 403) || namespace === home) throw error;
    const moved = { ...configMap, metadata: { ...configMap.metadata, namespace: home } };
    await writeOnce(client, moved, signal).catch((second: KubeError) => {
      // When both are forbidden, the first refusal names the namespace that the user knows.
      throw isKubeError(second, 403) ? error : second;
    });
    return keyOf(moved.metadata);
  }
}

async function writeOnce(client: KubeClient, receipt: ConfigMap, signal: AbortSignal): Promise<void> {
  try {
    await client.create(KINDS.configMap, receipt, { signal });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const held = await client.get<ConfigMap>(KINDS.configMap, receipt.metadata, { signal });
    if (held?.data?.['receipt.json'] !== receipt.data?.['receipt.json']) throw error;
  }
}

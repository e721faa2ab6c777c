import type { OwnershipLabels } from './kube-runtime/applier.ts';
import { isKubeError, type KubeClient, type KubeError } from './kube-runtime/kube-client.ts';
import { type ConfigMap, KINDS, type KubeObject, keyOf } from './kube-runtime/kube-object.ts';
import { GROUP } from './tenant/names.ts';

/** `Erased` or `Abandoned`. */
const RECEIPT_LABEL = `${GROUP}/receipt`;

interface ReceiptPlace {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  /** The operator's namespace: for receipts of a namespace that is being deleted itself, which takes nothing new. */
  readonly home: string;
  readonly signal: AbortSignal;
}

export interface Receipt {
  readonly kind: 'Erased' | 'Abandoned';
  readonly json: string;
}

export interface ReceiptOptions {
  /** Value of the managed-by label. */
  readonly manager: string;
  readonly labels: OwnershipLabels;
  readonly home: string;
}

/**
 * Writes what is left of a resource: a ConfigMap beside it that nothing removes, or beside the operator when the whole
 * namespace is being deleted. Once: a second writing finds it. Answers its name, with the namespace where it is the operator's.
 */
export async function keepReceipt(
  { client, options }: { readonly client: ReceiptPlace['client']; readonly options: ReceiptOptions },
  { object, signal }: { readonly object: Pick<KubeObject, 'metadata'>; readonly signal: AbortSignal },
  receipt: Receipt & { readonly name: string; readonly of: 'Tenant' | 'Dataset' },
): Promise<string> {
  const { manager, labels, home } = options;
  const { namespace = '' } = object.metadata;
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: receipt.name,
      namespace,
      labels: { [labels.managedBy]: manager, [RECEIPT_LABEL]: receipt.kind },
      annotations: { [labels.ownerAnnotation]: `${receipt.of}/${namespace}/${object.metadata.name}` },
    },
    data: { 'receipt.json': receipt.json },
  };
  return writeSomewhere(configMap, { client, home, signal });
}

async function writeSomewhere(receipt: ConfigMap, { client, home, signal }: ReceiptPlace): Promise<string> {
  const { name, namespace } = receipt.metadata;
  try {
    await writeOnce(receipt, { client, home, signal });
    return name;
  } catch (error) {
    if (!isKubeError(error, 403) || namespace === home) throw error;
    const moved = { ...receipt, metadata: { ...receipt.metadata, namespace: home } };
    await writeOnce(moved, { client, home, signal }).catch((second: KubeError) => {
      // Where that is not allowed, the first refusal is the one to read.
      throw isKubeError(second, 403) ? error : second;
    });
    return keyOf(moved.metadata);
  }
}

async function writeOnce(receipt: ConfigMap, { client, signal }: ReceiptPlace): Promise<void> {
  try {
    await client.create(KINDS.configMap, receipt, { signal });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const held = await client.get<ConfigMap>(KINDS.configMap, receipt.metadata, { signal });
    if (held?.data?.['receipt.json'] !== receipt.data?.['receipt.json']) throw error;
  }
}

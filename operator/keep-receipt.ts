import type { KubeClient } from './runtime/kube-client.ts';
import { isKubeError, type KubeError } from './runtime/kube-error.ts';
import { type ConfigMap, KINDS, keyOf } from './runtime/kube-object.ts';

export interface ReceiptPlace {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  /** The operator's namespace: for receipts of a namespace that is being deleted itself, which takes nothing new. */
  readonly home: string;
  readonly signal: AbortSignal;
}

/**
 * Writes a receipt where nothing removes it, once: a second writing finds it. Answers its name, with the namespace where it
 * is another one than was asked for.
 */
export async function keepReceipt(receipt: ConfigMap, { client, home, signal }: ReceiptPlace): Promise<string> {
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

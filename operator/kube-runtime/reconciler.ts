import type { ResourceKind } from './kube-object.ts';

export interface ReconcileResult {
  /** Look again after this long; absent: only when something changes. */
  readonly requeueAfterMs?: number;
  /** Look again after the key's back-off, as after an error that was said in the status already. */
  readonly retry?: boolean;
  /** For the metrics: success (default), progressing, retrying, stalled, suspended, gone. */
  readonly result?: string;
}

/**
 * Makes the world what one object says. Level-based: reads everything again, the key only says which object. Throwing means
 * try again with back-off.
 */
export interface Reconciler {
  readonly kind: ResourceKind;
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

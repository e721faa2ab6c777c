import type { KubeObject } from './kube-object.ts';

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, one word for a machine: `SecretCorrected`. */
  readonly reason: string;
  /** A sentence for people, no trailing period, at most 200 characters kept. Never a secret. */
  readonly message: string;
  /** What the operator did or tried: `Reconcile` by default. */
  readonly action?: string;
}

/**
 * Events about an object, as events.k8s.io/v1. The same object, reason and message within ten minutes is one event whose
 * series counts. Never throws and never waits: a lost event loses no work.
 */
export interface EventRecorder {
  record(object: KubeObject, note: EventNote): void;
  /** Sends what is under way. */
  flush(): Promise<void>;
}

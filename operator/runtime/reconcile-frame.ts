import type { Logger } from '../../services/common/ports/logger.ts';
import type { Condition, ConditionDraft } from './conditions.ts';
import type { EventRecorder } from './events.ts';
import type { KubeClient } from './kube-client.ts';
import type { CustomObject, ResourceKind } from './kube-object.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { Reconciler } from './reconciler.ts';
import type { RuntimeClock } from './runtime-clock.ts';
import type { Step, StepContext } from './step.ts';

/** What every status has, whatever the kind. */
export interface BaseStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  /** Value of the `reconcile-at` annotation that was handled last. */
  readonly lastHandledReconcileAt?: string;
}

/**
 * What is particular to a kind. The frame does the rest, in this order: fetch → deleted? → finalizer → suspended? →
 * validate → steps → summarise → one status patch.
 */
export interface ReconcileDefinition<T extends CustomObject<unknown, Partial<Status>>, Status extends BaseStatus> {
  readonly kind: ResourceKind;
  readonly finalizer: string;
  readonly annotations: FrameAnnotations;
  /** Normal-true conditions: `Unknown` at first sight, always there. `Ready` need not be named. */
  readonly conditionTypes: readonly string[];
  isSuspended(object: T): boolean;
  /** What the schema cannot say; the reason and message of a Stalled condition, or null. No I/O. */
  validate(object: T): { readonly reason: string; readonly message: string } | null;
  /** In order; one that is not done ends the reconcile, unless it says `continues`. */
  readonly steps: readonly Step<T, Status>[];
  /** While the object is being deleted, in place of `steps`; the finalizer goes when all of them are done. */
  readonly deletionSteps: readonly Step<T, Status>[];
  /** The abandon annotation names this object's uid: says so wherever it must be said, touches no data. */
  abandon(context: StepContext<T, Status>): Promise<void>;
  /** Ready, when all steps are done. Default: True, `Available`. */
  summarise?(object: T, status: Readonly<Partial<Status>>): Omit<ConditionDraft, 'type'>;
  /** Status fields that are times of looking: they alone are no reason to write. */
  readonly volatileStatus?: readonly (keyof Status & string)[];
  /** Every object is looked at again after this long, ± 10 %. */
  readonly resyncMs: number;
}

export interface FrameAnnotations {
  /** `<group>/reconcile-at`: any new value asks for a reconcile. */
  readonly reconcileAt: string;
  /** `<group>/abandon`: the object's uid releases the finalizer without touching data. */
  readonly abandon: string;
}

export interface FrameDependencies {
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly events: EventRecorder;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  /** 0 ≤ value < 1; for jitter. */
  readonly random?: () => number;
}

/** The reconciler of a kind. */
export function createReconciler<T extends CustomObject<unknown, Partial<Status>>, Status extends BaseStatus>(
  definition: ReconcileDefinition<T, Status>,
  dependencies: FrameDependencies,
): Reconciler {
  void dependencies;
  return {
    kind: definition.kind,
    reconcile: () => Promise.reject(new Error('Not built yet.')),
  };
}

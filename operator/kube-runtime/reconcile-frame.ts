import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../services/common/kernel/objects.ts';
import { nullIf } from '../../services/common/platform/async/null-if.ts';
import type { Logger } from '../../services/common/ports/logger.ts';
import {
  type Condition,
  type ConditionDraft,
  type ConditionState,
  findCondition,
  mergeConditions,
  unknownConditions,
} from './conditions.ts';
import type { ReconcileResult, Reconciler } from './controller.ts';
import type { EventRecorder } from './events.ts';
import { isKubeError, type KubeClient } from './kube-client.ts';
import { type CustomObject, type KubeObject, nameOfKey, type ResourceKind } from './kube-object.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { RuntimeClock } from './runtime-clock.ts';
import { runSteps, type Step, type StepContext, type StepsResult, stalled, summarise } from './steps.ts';

/** Fields that the status of every kind has. */
export interface BaseStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  /** Value of the `reconcile-at` annotation that was handled last. */
  readonly lastHandledReconcileAt?: string;
}

/**
 * The parts that differ between kinds. The frame does the rest, in this order: fetch → deleted? → finalizer → suspended? →
 * validate → steps → summarise → one status patch.
 */
export interface ReconcileDefinition<T extends CustomObject<unknown, Partial<Status>>, Status extends BaseStatus> {
  readonly kind: ResourceKind;
  readonly finalizer: string;
  readonly annotations: FrameAnnotations;
  /** Conditions whose normal status is True; `Unknown` before the first reconcile. `Ready` is implied. */
  readonly conditionTypes: readonly string[];
  isSuspended(object: T): boolean;
  /** Checks what the schema cannot express; returns the reason and message of a Stalled condition, or null. No I/O. */
  validate(object: T): { readonly reason: string; readonly message: string } | null;
  /** Run in this order; a step that is not done ends the reconcile, unless it sets `continues`. */
  readonly steps: readonly Step<T, Status>[];
  /** Run instead of `steps` while the object is being deleted; the finalizer is removed when all of them are done. */
  readonly deletionSteps: readonly Step<T, Status>[];
  /** Called when the abandon annotation has the uid of the object: reports it, and touches no data. */
  abandon(context: StepContext<T, Status>): Promise<void>;
  /** Returns the Ready condition for when all steps are done. Default: True, `Available`. */
  summarise?(object: T, status: Readonly<Partial<Status>>): ConditionState;
  /** Status fields that change with every reconcile: a change of these alone is not written. */
  readonly volatileStatus?: readonly (keyof Status & string)[];
  /** Each object is reconciled again after this time, ± 10 %. */
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

export function createReconciler<T extends CustomObject<unknown, Partial<Status>>, Status extends BaseStatus>(
  definition: ReconcileDefinition<T, Status>,
  dependencies: FrameDependencies,
): Reconciler {
  const { kind } = definition;
  const { client, clock, metrics, logger } = dependencies;
  const writeStatus = createStatusWriter(definition, dependencies);
  const random = dependencies.random ?? Math.random;
  /** Failures in a row, by key: reason and number. */
  const failures = new Map<string, { readonly reason: string; readonly tries: number }>();

  function contextOf(object: T, signal: AbortSignal): StepContext<T, Status> {
    return {
      object,
      status: (object.status ?? {}) as Partial<Status>,
      event: (note) => dependencies.events.record(object, note),
      now: clock.now(),
      signal,
    };
  }

  async function steady(key: string, object: T, signal: AbortSignal): Promise<ReconcileResult> {
    const held = await ensureFinalizer(client, definition, object, signal);
    if (definition.isSuspended(held)) {
      const status = (held.status ?? {}) as Partial<Status>;
      await writeStatus(key, held, status, [suspendedReady(status)], ['Reconciling', 'Stalled'], signal);
      return { result: 'suspended' };
    }
    const invalid = definition.validate(held);
    const context = contextOf(held, signal);
    const steps =
      invalid === null
        ? await runSteps(definition.steps, context, logger)
        : refusedSteps<Status>(invalid.reason, invalid.message, context.status);
    return conclude(key, held, steps, signal);
  }

  async function deleting(key: string, object: T, signal: AbortSignal): Promise<ReconcileResult> {
    const { finalizers = [], annotations = {}, uid } = object.metadata;
    if (!finalizers.includes(definition.finalizer)) return forget(key);
    const context = contextOf(object, signal);
    if (annotations[definition.annotations.abandon] === uid) {
      await definition.abandon(context);
      await removeFinalizer(client, definition, object, signal);
      return forget(key);
    }
    const steps = await runSteps(definition.deletionSteps, context, logger);
    if (steps.complete) {
      await removeFinalizer(client, definition, object, signal);
      return forget(key);
    }
    return conclude(key, object, steps, signal);
  }

  /** Writes the summary of the steps to the status, and returns when to reconcile again. */
  async function conclude(key: string, object: T, steps: StepsResult<Status>, signal: AbortSignal) {
    const previous = object.status?.conditions ?? [];
    const summary = summarise(steps.outcomes, {
      ready: definition.summarise?.(object, steps.status) ?? AVAILABLE,
      previous,
      tries: countTries(failures, key, steps),
    });
    const drafts = [...unknownConditions(previous, definition.conditionTypes), ...steps.drafts, ...summary.drafts];
    const handled = object.metadata.annotations?.[definition.annotations.reconcileAt];
    const next = {
      ...steps.status,
      ...(object.metadata.generation === undefined ? {} : { observedGeneration: object.metadata.generation }),
      ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
    };
    await writeStatus(key, object, next, drafts, [...steps.removed, ...summary.removed], signal);
    const resyncMs = definition.resyncMs * (0.9 + 0.2 * random());
    const wantedMs = (steps.requeueAfterMs ?? Number.POSITIVE_INFINITY) * (1 + 0.1 * random());
    // Retried also when another step is stalled: an unreachable service comes back without a change of the object.
    if (steps.outcomes.some(({ state }) => state === 'retrying')) return { retry: true, result: summary.result };
    return { requeueAfterMs: Math.min(resyncMs, wantedMs), result: summary.result };
  }

  function forget(key: string): ReconcileResult {
    failures.delete(key);
    metrics.conditions(kind.kind, key, []);
    return { result: 'gone' };
  }

  return {
    kind,
    async reconcile(key, signal) {
      const object = await client.get<T>(kind, nameOfKey(key), { signal });
      if (object === null) return forget(key);
      return object.metadata.deletionTimestamp === undefined
        ? steady(key, object, signal)
        : deleting(key, object, signal);
    },
  };
}

/** Writes the conditions and fields of a status in one patch, when they differ, and reports a change of Ready. */
function createStatusWriter<T extends CustomObject<unknown, Partial<Status>>, Status extends BaseStatus>(
  definition: ReconcileDefinition<T, Status>,
  { client, clock, events, metrics }: FrameDependencies,
) {
  return async function writeStatus(
    key: string,
    object: T,
    next: Partial<Status>,
    drafts: readonly ConditionDraft[],
    removed: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { kind: kindName, metadata } = object;
    const previous = object.status?.conditions ?? [];
    const conditions = mergeConditions(
      previous,
      drafts,
      { now: clock.now(), observedGeneration: metadata.generation ?? 0 },
      removed,
    );
    metrics.conditions(kindName, key, conditions);
    const patch = statusPatch({ ...object.status }, { ...next, conditions }, definition.volatileStatus);
    if (patch === null) return;
    await client.patchStatus(definition.kind, metadata, patch, { signal });
    metrics.statusWritten(kindName);
    emitReadyEvent(events, object, previous, conditions);
  };
}

const AVAILABLE: ConditionState = {
  status: 'True',
  reason: 'Available',
  message: 'All resources match the spec',
};

/** Keeps the status of Ready while the resource is suspended, with the reason `Suspended`. */
function suspendedReady(status: Partial<BaseStatus>): ConditionDraft {
  return {
    type: 'Ready',
    status: findCondition(status.conditions, 'Ready')?.status ?? 'Unknown',
    reason: 'Suspended',
    message: 'Reconciliation is suspended: set spec.suspend to false to continue',
  };
}

function refusedSteps<Status>(reason: string, message: string, status: Readonly<Partial<Status>>): StepsResult<Status> {
  const outcomes = [stalled<Status>(reason, message)];
  return { outcomes, status, drafts: [], removed: [], requeueAfterMs: undefined, complete: false };
}

function countTries(
  failures: Map<string, { readonly reason: string; readonly tries: number }>,
  key: string,
  { outcomes }: StepsResult<unknown>,
): number {
  const failed = outcomes.find(({ state }) => state === 'retrying');
  if (failed === undefined) {
    failures.delete(key);
    return 0;
  }
  const reason = failed.reason ?? '';
  const held = failures.get(key);
  const tries = held?.reason === reason ? held.tries + 1 : 1;
  failures.set(key, { reason, tries });
  return tries;
}

/** Adds the finalizer by compare-and-set, which keeps finalizers that others add at the same time. */
async function ensureFinalizer<T extends CustomObject>(
  client: KubeClient,
  { kind, finalizer }: { readonly kind: ResourceKind; readonly finalizer: string },
  object: T,
  signal: AbortSignal,
): Promise<T> {
  const { finalizers = [], resourceVersion } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  const metadata = { resourceVersion, finalizers: [...finalizers, finalizer] };
  return client.patch<T>(kind, object.metadata, { metadata }, { signal });
}

async function removeFinalizer<T extends CustomObject>(
  client: KubeClient,
  { kind, finalizer }: { readonly kind: ResourceKind; readonly finalizer: string },
  object: T,
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [], resourceVersion } = object.metadata;
  const metadata = { resourceVersion, finalizers: finalizers.filter((held) => held !== finalizer) };
  await nullIf((error) => isKubeError(error, 404), client.patch<T>(kind, object.metadata, { metadata }, { signal }));
}

/** Records an event when Ready changes or the resource becomes Stalled. */
function emitReadyEvent(
  events: EventRecorder,
  object: KubeObject,
  previous: readonly Condition[],
  next: readonly Condition[],
): void {
  const ready = findCondition(next, 'Ready');
  const before = findCondition(previous, 'Ready');
  const stuck = findCondition(next, 'Stalled');
  if (stuck !== undefined) {
    if (findCondition(previous, 'Stalled')?.reason === stuck.reason) return;
    events.record(object, { type: 'Warning', reason: stuck.reason, message: stuck.message });
    return;
  }
  if (ready?.status !== 'True' || (before?.status === 'True' && before.reason === ready.reason)) return;
  events.record(object, { type: 'Normal', reason: ready.reason, message: ready.message });
}

/**
 * Returns the merge patch (RFC 7386) that turns `previous` into `next`. Null when they are equal, or differ only in
 * `volatile` fields, which change with every reconcile. Removes fields that `next` lacks.
 */
export function statusPatch(
  previous: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
  volatile: readonly string[] = [],
): Record<string, unknown> | null {
  const patch: Record<string, unknown> = {};
  let worthWriting = false;
  for (const field of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    const before = previous[field];
    const after = next[field];
    if (isDeepStrictEqual(plain(before), plain(after))) continue;
    patch[field] = after === undefined ? null : replaced(before, after);
    worthWriting ||= !volatile.includes(field);
  }
  return worthWriting ? patch : null;
}

/** A merge patch of an object only adds fields, so removed fields are set to null. */
function replaced(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after;
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  return {
    ...Object.fromEntries(gone.map((key) => [key, null])),
    ...Object.fromEntries(Object.entries(after).map(([key, value]) => [key, replaced(before[key], value)])),
  };
}

/** Drops undefined values, as JSON does. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

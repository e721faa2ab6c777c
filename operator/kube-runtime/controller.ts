import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../services/common/ports/logger.ts';
import type { OwnershipLabels } from './applier.ts';
import type { Change, Informer } from './informer.ts';
import { KubeError, NotLeaderError } from './kube-client.ts';
import type { KubeObject, ResourceKind } from './kube-object.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { RuntimeClock } from './runtime-clock.ts';
import { createWorkQueue, type WorkQueueOptions } from './work-queue.ts';

/** Source of the keys of a controller; see `source`. */
export interface Source {
  /** Calls `add` with each key that a change affects. */
  subscribe(add: (key: string) => void): void;
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/** Makes a source of an informer. `keysOf` returns the keys that a change affects; empty to ignore the change. */
export function source<T extends KubeObject>(
  informer: Pick<Informer<T>, 'onChange' | 'whenSynced'>,
  keysOf: (change: Change<T>) => readonly string[],
): Source {
  return {
    subscribe: (add) =>
      informer.onChange((change) => {
        for (const key of keysOf(change)) add(key);
      }),
    whenSynced: (signal) => informer.whenSynced(signal),
  };
}

/**
 * Key of the changed object itself, unless only its status or its managed fields changed.
 */
export function ownKeys<T extends KubeObject>(change: Change<T>): readonly string[] {
  const { type, key, object, previous } = change;
  if (type !== 'modified' || previous === undefined) return [key];
  const [before, after] = [previous.metadata, object.metadata];
  const concerned =
    before.uid !== after.uid ||
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    !isDeepStrictEqual(before.annotations ?? {}, after.annotations ?? {}) ||
    // The reconcile adds its finalizer itself; a finalizer that was removed must be added again.
    (before.finalizers ?? []).some((finalizer) => !(after.finalizers ?? []).includes(finalizer));
  return concerned ? [key] : [];
}

/** Keys of the owner of an object that the applier made, if the owner is of the kind. */
export function ownerKeys<T extends KubeObject>(
  kind: string,
  { ownerAnnotation }: OwnershipLabels,
): (change: Change<T>) => readonly string[] {
  return ({ object, previous }) => {
    const keys = [object, previous].flatMap((each) => {
      const owner = each?.metadata.annotations?.[ownerAnnotation];
      return owner?.startsWith(`${kind}/`) ? [owner.slice(kind.length + 1)] : [];
    });
    return [...new Set(keys)];
  };
}

export type Controller = ReturnType<typeof createController>;

export interface ControllerOptions {
  readonly reconciler: Reconciler;
  readonly sources: readonly Source[];
  readonly workers: number;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly queue?: Pick<WorkQueueOptions, 'backoffMs' | 'rate'>;
}

/** A reconcile is aborted after this long. */
const RECONCILE_TIMEOUT_MS = 120_000;

/** Reconciles the objects of one kind with several workers; never one object with two. */
export function createController(options: ControllerOptions) {
  const { reconciler, sources, clock, logger, metrics } = options;
  const kind = reconciler.kind.kind;
  const queue = createWorkQueue({
    ...options.queue,
    clock,
    onAdd: () => metrics.queueAdded(kind),
    onRetry: () => metrics.queueRetried(kind),
  });
  metrics.watchQueueDepth(kind, () => queue.depth);
  const stopping = new AbortController();
  let working: Promise<unknown> | undefined;

  async function reconcileOnce(key: string): Promise<void> {
    const deadline = new AbortController();
    const cancel = clock.after(RECONCILE_TIMEOUT_MS, () => deadline.abort(new Error('The reconcile took too long.')));
    const begunAt = clock.monotonicMs();
    try {
      const result = await reconciler.reconcile(key, AbortSignal.any([stopping.signal, deadline.signal]));
      metrics.reconciled(kind, result.result ?? 'success', clock.monotonicMs() - begunAt);
      if (result.retry === true) queue.retry(key, result.requeueAfterMs);
      else {
        queue.forget(key);
        if (result.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
      }
    } catch (error) {
      // The next leader, or the next start of this process, reconciles the key again.
      if (error instanceof NotLeaderError || stopping.signal.aborted) return;
      metrics.reconciled(kind, 'error', clock.monotonicMs() - begunAt);
      metrics.reconcileError(kind, reasonOf(error));
      logger.warn('reconcile.failed', { kind, key, retries: queue.retriesOf(key), error });
      queue.retry(key, error instanceof KubeError ? error.retryAfterMs : undefined);
    } finally {
      cancel();
    }
  }

  async function work(): Promise<void> {
    for (let key = await queue.next(); key !== null; key = await queue.next()) {
      try {
        await reconcileOnce(key);
      } finally {
        queue.done(key);
      }
    }
  }

  return {
    kind,
    /** Begins to collect keys. */
    subscribe() {
      for (const { subscribe } of sources) subscribe(queue.add);
    },
    /** Begins to reconcile. Call it when the caches are synced and this process leads. */
    start() {
      working ??= Promise.all(Array.from({ length: options.workers }, work));
    },
    /** Aborts running reconciles and waits for them; starts no more. */
    async stop() {
      const drained = queue.stop();
      stopping.abort(new Error('The operator is stopping.'));
      await drained;
      await working;
    },
    /** Requests a reconcile from outside of the sources. */
    enqueue: queue.add,
    async whenSynced(signal?: AbortSignal) {
      await Promise.all(sources.map((each) => each.whenSynced(signal)));
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof KubeError ? error.reason : 'Internal';
}

export interface ReconcileResult {
  /** Reconcile again after this time. Absent: only after a change. */
  readonly requeueAfterMs?: number;
  /** Reconcile again after the back-off of the key, as after an error; the status shows the failure already. */
  readonly retry?: boolean;
  /** For the metrics: success (default), progressing, retrying, stalled, suspended, gone. */
  readonly result?: string;
}

/**
 * Brings the world to the state that one object declares. Level-based: reads everything again, the key only names the
 * object. When it throws, the key is retried with back-off.
 */
export interface Reconciler {
  readonly kind: ResourceKind;
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/**
 * A source that starts with the first object that needs it, for kinds that not every cluster has. Nothing waits for its
 * cache.
 */
export function lateSource<Trigger extends KubeObject, T extends KubeObject>(
  triggers: Pick<Informer<Trigger>, 'onChange'>,
  isNeeded: (object: Trigger) => boolean,
  { make, keysOf }: { readonly make: () => Informer<T>; readonly keysOf: (change: Change<T>) => readonly string[] },
): Source & { stop(): Promise<void> } {
  let informer: Informer<T> | undefined;
  return {
    subscribe(add) {
      triggers.onChange(({ object }) => {
        if (informer !== undefined || !isNeeded(object)) return;
        informer = make();
        source(informer, keysOf).subscribe(add);
        informer.start();
      });
    },
    whenSynced: async () => {},
    stop: async () => informer?.stop(),
  };
}

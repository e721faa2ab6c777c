import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../services/common/ports/logger.ts';
import type { OwnershipLabels } from './applier.ts';
import type { Change, Informer } from './informer.ts';
import { KubeError, NotLeaderError } from './kube-client.ts';
import type { KubeObject, ResourceKind } from './kube-object.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { RuntimeClock } from './runtime-clock.ts';
import { createWorkQueue, type WorkQueueOptions } from './work-queue.ts';

/** Where the keys of a controller come from. Made by `source`. */
export interface Source {
  /** Calls `add` for each key that a change concerns. */
  subscribe(add: (key: string) => void): void;
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/** Keys of the objects that a change concerns; none to ignore it. */
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
 * The own kind: everything but a write of the status (or of managed fields) concerns the object itself.
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
    // Own finalizers are added by the reconcile itself; one that was taken away has to come back.
    (before.finalizers ?? []).some((finalizer) => !(after.finalizers ?? []).includes(finalizer));
  return concerned ? [key] : [];
}

/** Children, made by the applier: every change of theirs concerns their owner, where that is of the kind. */
export function ownerKeys<T extends KubeObject>(
  kind: string,
  { ownerAnnotation }: Pick<OwnershipLabels, 'ownerAnnotation'>,
): (change: Change<T>) => readonly string[] {
  return ({ object, previous }) => {
    const keys = [object, previous].flatMap((each) => {
      const owner = each?.metadata.annotations?.[ownerAnnotation];
      return owner?.startsWith(`${kind}/`) ? [owner.slice(kind.length + 1)] : [];
    });
    return [...new Set(keys)];
  };
}

export interface Controller {
  readonly kind: string;
  /** Keys are collected from now on. */
  subscribe(): void;
  /** Begins to work; once the caches are full and this process leads. */
  start(): void;
  /** Aborts what is under way, waits for it, and begins nothing more. */
  stop(): Promise<void>;
  /** Asks for a reconcile, from outside of the sources. */
  enqueue(key: string): void;
  whenSynced(signal?: AbortSignal): Promise<void>;
}

export interface ControllerOptions {
  readonly reconciler: Reconciler;
  readonly sources: readonly Source[];
  readonly workers: number;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly queue?: Pick<WorkQueueOptions, 'backoffMs' | 'rate'>;
  /** A reconcile is aborted after this long. Default: two minutes. */
  readonly timeoutMs?: number;
}

const RECONCILE_TIMEOUT_MS = 120_000;

/** Works on the keys of one kind with several workers; never on one key with two. */
export function createController(options: ControllerOptions): Controller {
  const { reconciler, sources, clock, logger, metrics, timeoutMs = RECONCILE_TIMEOUT_MS } = options;
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
    const cancel = clock.after(timeoutMs, () => deadline.abort(new Error('The reconcile took too long.')));
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
      // Whoever leads now, or this process when it starts again, looks at the key anew.
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
    subscribe() {
      for (const { subscribe } of sources) subscribe(queue.add);
    },
    start() {
      working ??= Promise.all(Array.from({ length: options.workers }, work));
    },
    async stop() {
      const drained = queue.stop();
      stopping.abort(new Error('The operator is stopping.'));
      await drained;
      await working;
    },
    enqueue: queue.add,
    async whenSynced(signal) {
      await Promise.all(sources.map((each) => each.whenSynced(signal)));
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof KubeError ? error.reason : 'Internal';
}

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

/**
 * A source that begins with the first object that needs it: for kinds that not every cluster has. Nothing waits for its
 * caches.
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

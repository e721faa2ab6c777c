import type { Logger } from '../../services/common/ports/logger.ts';
import type { KubeClient } from './kube-client.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject, ResourceKind } from './kube-object.ts';
import type { RuntimeMetrics } from './metrics.ts';
import { createObjectCache, type ObjectCache } from './object-cache.ts';
import { pause, type RuntimeClock } from './runtime-clock.ts';

export interface Change<T extends KubeObject> {
  readonly type: 'added' | 'modified' | 'deleted';
  /** `namespace/name` */
  readonly key: string;
  readonly object: T;
  /** What the cache held before. */
  readonly previous?: T;
}

/** Names of an object under an index: the objects that name a Secret, the children of an owner, … */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** What the cache needs: read by everybody. */
export interface Cache<T extends KubeObject> {
  get(key: string): T | undefined;
  list(): readonly T[];
  byIndex(index: string, value: string): readonly T[];
}

/** A cache of all objects of a kind that heals itself: list, then watch; whatever ends a watch starts the next one. */
export interface Informer<T extends KubeObject> extends Cache<T> {
  readonly kind: ResourceKind;
  start(): void;
  stop(): Promise<void>;
  /** True once the first list is in the cache. */
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Listeners run after the cache changed and must only enqueue. What they throw is logged and dropped. */
  onChange(listener: (change: Change<T>) => void): void;
  /** Monotonic time of the last line or list that came; -Infinity before the first. */
  readonly lastEventAt: number;
  /** Heard from within its budget: a watch that is stuck beyond repair makes the process unhealthy. */
  isAlive(): boolean;
}

export interface InformerOptions<T extends KubeObject> {
  readonly kind: ResourceKind;
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'watchRestarted' | 'watchEventAge'>;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** What is kept of an object: without values that nobody needs in memory. */
  readonly trim?: (object: T) => T;
  /** 0 ≤ value < 1; for jitter. */
  readonly random?: () => number;
}

/** The server ends a watch after this long, ± 10 %. */
const WATCH_SECONDS = 290;
/** Bookmarks come every minute: a watch that says nothing for longer is a connection that is gone. */
const IDLE_MS = 90_000;
const RELIST_MS = 600_000;
const BACKOFF_MS = { first: 500, most: 30_000 };
const FAILURES_TO_RELIST = 3;
/** A watch that held for so long was a good one: the next begins at once. */
const GOOD_WATCH_MS = 5_000;
/** More than the longest honest pause: idle time, time of a call and back-off together. */
const ALIVE_MS = 180_000;

type EndCause = 'closed' | 'idle' | 'expired' | 'error' | 'resync' | 'stopped';

export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { kind, client, clock, logger, metrics } = options;
  const cache = createObjectCache<T>(options);
  const stopping = new AbortController();
  const firstList = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;
  let synced = false;
  let lastEventAt = Number.NEGATIVE_INFINITY;
  let lastTriedAt = clock.monotonicMs();
  let listedAt = 0;
  const scope = {
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
  };
  const jitter = (ms: number) => ms * (0.9 + 0.2 * (options.random ?? Math.random)());

  /** Answers the resource version to watch from. */
  async function relist(): Promise<string> {
    lastTriedAt = clock.monotonicMs();
    const list = await client.list<T>(kind, { ...scope, signal: stopping.signal });
    listedAt = clock.monotonicMs();
    lastEventAt = listedAt;
    cache.replaceAll(list.items);
    synced = true;
    firstList.resolve();
    return list.resourceVersion;
  }

  async function watchFrom(resourceVersion: string): Promise<{ cause: EndCause; resourceVersion: string }> {
    lastTriedAt = clock.monotonicMs();
    const timers = watchTimers(clock, stopping.signal, listedAt + jitter(RELIST_MS));
    let reached = resourceVersion;
    try {
      const timeoutSeconds = Math.round(jitter(WATCH_SECONDS));
      const watch = { ...scope, resourceVersion, timeoutSeconds, signal: timers.signal };
      for await (const event of client.watch<T>(kind, watch)) {
        lastEventAt = clock.monotonicMs();
        timers.heard();
        reached = event.object.metadata.resourceVersion ?? reached;
        receive(cache, event);
      }
      return { cause: timers.cause() ?? 'closed', resourceVersion: reached };
    } catch (error) {
      if (isKubeError(error, 410)) return { cause: 'expired', resourceVersion: reached };
      logger.debug('informer.watch-failed', { kind: kind.kind, error });
      return { cause: 'error', resourceVersion: reached };
    } finally {
      timers.end();
    }
  }

  async function run(): Promise<void> {
    let resourceVersion: string | undefined;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        if (resourceVersion === undefined || (failures > 0 && failures % FAILURES_TO_RELIST === 0)) {
          resourceVersion = await relist();
        }
        const begunAt = clock.monotonicMs();
        const end: { cause: EndCause; resourceVersion: string } = await watchFrom(resourceVersion);
        const good = clock.monotonicMs() - begunAt >= GOOD_WATCH_MS && end.cause !== 'error';
        failures = good || end.cause === 'resync' ? 0 : failures + 1;
        resourceVersion = end.cause === 'expired' || end.cause === 'resync' ? undefined : end.resourceVersion;
        if (end.cause !== 'stopped') metrics.watchRestarted(kind.kind, end.cause);
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures += 1;
        metrics.watchRestarted(kind.kind, 'error');
        logger.warn('informer.list-failed', { kind: kind.kind, failures, error });
        resourceVersion = undefined;
      }
      if (failures > 0) await pause(clock, jitter(backoff(failures)), stopping.signal);
    }
  }

  metrics.watchEventAge(kind.kind, () => Math.max(0, (clock.monotonicMs() - Math.max(lastEventAt, 0)) / 1000));
  return {
    kind,
    get: cache.get,
    list: cache.list,
    byIndex: cache.byIndex,
    onChange: cache.onChange,
    start() {
      lastTriedAt = clock.monotonicMs();
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
    get synced() {
      return synced;
    },
    whenSynced: (signal) => untilAborted(firstList.promise, signal),
    get lastEventAt() {
      return lastEventAt;
    },
    isAlive: () => clock.monotonicMs() - Math.max(lastEventAt, lastTriedAt) < ALIVE_MS,
  };
}

function receive<T extends KubeObject>(cache: ObjectCache<T>, event: { type: string; object: T }): void {
  if (event.type === 'DELETED') cache.remove(event.object);
  else if (event.type !== 'BOOKMARK') cache.put(event.object);
}

function backoff(failures: number): number {
  return Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** (failures - 1));
}

/** Ends a watch that is silent for too long, or when everything is to be listed again. */
function watchTimers(clock: RuntimeClock, stop: AbortSignal, relistAt: number) {
  const controller = new AbortController();
  let cause: EndCause | undefined;
  const end = (why: EndCause) => {
    cause ??= why;
    controller.abort();
  };
  const onStop = () => end('stopped');
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  let heardAt = clock.monotonicMs();
  let cancelIdle = () => {};
  // One timer that is set again when it fires early, not one for each line.
  const armIdle = (delayMs: number) => {
    cancelIdle = clock.after(delayMs, () => {
      const silentMs = clock.monotonicMs() - heardAt;
      if (silentMs >= IDLE_MS) end('idle');
      else armIdle(IDLE_MS - silentMs);
    });
  };
  armIdle(IDLE_MS);
  const cancelRelist = clock.after(Math.max(0, relistAt - clock.monotonicMs()), () => end('resync'));
  return {
    signal: controller.signal,
    cause: () => cause,
    heard() {
      heardAt = clock.monotonicMs();
    },
    end() {
      cancelIdle();
      cancelRelist();
      stop.removeEventListener('abort', onStop);
    },
  };
}

function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

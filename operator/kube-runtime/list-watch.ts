import type { Logger } from '../../services/common/ports/logger.ts';
import { isKubeError, type KubeClient, type WatchEvent } from './kube-client.ts';
import type { KubeObject, ResourceKind } from './kube-object.ts';
import type { RuntimeMetrics } from './metrics.ts';
import { pause, type RuntimeClock } from './runtime-clock.ts';

/** Lists the objects of a kind, then watches them; when a watch ends, starts the next watch, or a list when one is due. */
export interface ListWatch {
  start(): void;
  stop(): Promise<void>;
  /** Resolves after the first list. */
  readonly whenListed: Promise<void>;
  hasListed(): boolean;
  /** Monotonic time of the last line or list that came; -Infinity before the first. */
  lastEventAt(): number;
  /** Whether it received something, or tried to, within three minutes. */
  isAlive(): boolean;
}

export interface ListWatchOptions<T extends KubeObject> {
  readonly kind: ResourceKind;
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'watchRestarted'>;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** 0 ≤ value < 1; for jitter. */
  readonly random?: () => number;
  /** Receives the complete list. */
  onList(objects: readonly T[]): void;
  onEvent(event: WatchEvent<T>): void;
}

/** Bookmarks come every minute: a watch that is silent for longer has lost its connection. */
const IDLE_MS = 90_000;
/** The server ends a watch after this long, ± 10 %. */
const WATCH_SECONDS = 290;
const RELIST_MS = 600_000;
const BACKOFF_MS = { first: 500, most: 30_000 };
const FAILURES_TO_RELIST = 3;
/** A watch that lasted this long was healthy: the next one begins at once. */
const GOOD_WATCH_MS = 5_000;
/** Longer than the longest regular pause: idle time, a call and a back-off together. */
const ALIVE_MS = 180_000;

/** Reason for which this process ended a watch. */
type WatchEnd = 'idle' | 'resync' | 'stopped';

type EndCause = WatchEnd | 'closed' | 'expired' | 'error';

interface EndedWatch {
  readonly cause: EndCause;
  /** The last version that was received. */
  readonly resourceVersion: string;
  readonly durationMs: number;
}

export function createListWatch<T extends KubeObject>(options: ListWatchOptions<T>): ListWatch {
  const { kind, client, clock, logger, metrics, random = Math.random } = options;
  const stopping = new AbortController();
  const firstList = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;
  let hasListed = false;
  let listedAt = 0;
  const life = createSignsOfLife(clock);
  const scope = scopeOf(options);
  const jitter = (ms: number) => ms * (0.9 + 0.2 * random());

  /** Returns the resource version to watch from. */
  async function list(): Promise<string> {
    life.tried();
    const { items, resourceVersion } = await client.list<T>(kind, { ...scope, signal: stopping.signal });
    listedAt = life.heard();
    options.onList(items);
    hasListed = true;
    firstList.resolve();
    return resourceVersion;
  }

  async function watch(resourceVersion: string): Promise<EndedWatch> {
    const begunAt = clock.monotonicMs();
    life.tried();
    const timers = startWatchTimers(clock, stopping.signal, listedAt + jitter(RELIST_MS));
    let reached = resourceVersion;
    const ended = (cause: EndCause) => ({ cause, resourceVersion: reached, durationMs: clock.monotonicMs() - begunAt });
    try {
      const timeoutSeconds = Math.round(jitter(WATCH_SECONDS));
      const request = { ...scope, resourceVersion, timeoutSeconds, signal: timers.signal };
      for await (const event of client.watch<T>(kind, request)) {
        life.heard();
        timers.heard();
        reached = event.object.metadata.resourceVersion ?? reached;
        options.onEvent(event);
      }
      return ended(timers.cause() ?? 'closed');
    } catch (error) {
      if (isKubeError(error, 410)) return ended('expired');
      logger.debug('informer.watch.failed', { kind: kind.kind, error });
      return ended('error');
    } finally {
      timers.end();
    }
  }

  async function run(): Promise<void> {
    const next = createNextStep();
    while (!stopping.signal.aborted) {
      try {
        const from = next.watchFrom() ?? (await list());
        const end = await watch(from);
        next.watchEnded(end);
        if (end.cause !== 'stopped') metrics.watchRestarted(kind.kind, end.cause);
      } catch (error) {
        if (stopping.signal.aborted) return;
        next.listFailed();
        metrics.watchRestarted(kind.kind, 'error');
        logger.warn('informer.list.failed', { kind: kind.kind, failures: next.failures(), error });
      }
      if (next.failures() > 0) await pause(clock, jitter(backoff(next.failures())), stopping.signal);
    }
  }

  return {
    start() {
      life.tried();
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
    whenListed: firstList.promise,
    hasListed: () => hasListed,
    lastEventAt: life.heardAt,
    isAlive: life.isRecent,
  };
}

function createSignsOfLife(clock: RuntimeClock) {
  let heardAt = Number.NEGATIVE_INFINITY;
  let triedAt = clock.monotonicMs();
  return {
    heardAt: () => heardAt,
    /** Returns the time. */
    heard(): number {
      heardAt = clock.monotonicMs();
      return heardAt;
    },
    tried(): void {
      triedAt = clock.monotonicMs();
    },
    isRecent: () => clock.monotonicMs() - Math.max(heardAt, triedAt) < ALIVE_MS,
  };
}

/** Decides whether the next step is a watch from the last version, or a list first. */
function createNextStep() {
  let resourceVersion: string | undefined;
  let failures = 0;
  return {
    /** Number of failures in a row; 0 after a healthy watch. */
    failures: () => failures,
    /** Undefined: list first. */
    watchFrom: () => (failures > 0 && failures % FAILURES_TO_RELIST === 0 ? undefined : resourceVersion),
    watchEnded({ cause, resourceVersion: reached, durationMs }: EndedWatch): void {
      const isGood = cause === 'resync' || (cause !== 'error' && durationMs >= GOOD_WATCH_MS);
      failures = isGood ? 0 : failures + 1;
      resourceVersion = cause === 'expired' || cause === 'resync' ? undefined : reached;
    },
    listFailed(): void {
      failures += 1;
      resourceVersion = undefined;
    },
  };
}

function backoff(failures: number): number {
  return Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** (failures - 1));
}

type Selection = Pick<ListWatchOptions<never>, 'namespace' | 'labelSelector' | 'fieldSelector'>;

function scopeOf({ namespace, labelSelector, fieldSelector }: Selection) {
  return {
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
}

/**
 * Ends a watch that is silent for too long, when everything is to be listed again, and when the process stops. `relistAt` is
 * a time of the monotonic clock.
 */
function startWatchTimers(clock: RuntimeClock, stop: AbortSignal, relistAt: number) {
  const controller = new AbortController();
  let cause: WatchEnd | undefined;
  const end = (why: WatchEnd): void => {
    cause ??= why;
    controller.abort();
  };
  const onStop = () => end('stopped');
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  let heardAt = clock.monotonicMs();
  let cancelIdle = () => {};
  // One timer that is set again when it fires early, instead of one for each line.
  const armIdle = (delayMs: number): void => {
    cancelIdle = clock.after(delayMs, () => {
      const silentMs = clock.monotonicMs() - heardAt;
      if (silentMs >= IDLE_MS) end('idle');
      else armIdle(IDLE_MS - silentMs);
    });
  };
  armIdle(IDLE_MS);
  const cancelRelist = clock.after(Math.max(0, relistAt - clock.monotonicMs()), () => end('resync'));
  return {
    /** Aborted when the watch is to end. */
    signal: controller.signal,
    /** Undefined when the server ended the watch. */
    cause: () => cause,
    /** A line was received. */
    heard(): void {
      heardAt = clock.monotonicMs();
    },
    end(): void {
      cancelIdle();
      cancelRelist();
      stop.removeEventListener('abort', onStop);
    },
  };
}

import { abortable } from '../../services/common/platform/async/abortable.ts';
import type { WatchEvent } from './kube-client.ts';
import type { KubeObject, ResourceKind } from './kube-object.ts';
import { createListWatch, type ListWatchOptions } from './list-watch.ts';
import type { RuntimeMetrics } from './metrics.ts';
import { createObjectCache, type ObjectCache } from './object-cache.ts';

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

export interface InformerOptions<T extends KubeObject> extends Omit<ListWatchOptions<T>, 'onList' | 'onEvent'> {
  readonly metrics: Pick<RuntimeMetrics, 'watchRestarted' | 'watchEventAge'>;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** What is kept of an object: without values that nobody needs in memory. */
  readonly trim?: (object: T) => T;
}

export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { kind, clock, metrics } = options;
  const cache = createObjectCache<T>(options);
  const listWatch = createListWatch<T>({
    ...options,
    onList: cache.replaceAll,
    onEvent: (event) => receive(cache, event),
  });
  const { whenListed, lastEventAt } = listWatch;
  metrics.watchEventAge(kind.kind, () => Math.max(0, (clock.monotonicMs() - Math.max(lastEventAt(), 0)) / 1000));
  return {
    kind,
    get: cache.get,
    list: cache.list,
    byIndex: cache.byIndex,
    onChange: cache.onChange,
    start: listWatch.start,
    stop: listWatch.stop,
    get synced() {
      return listWatch.hasListed();
    },
    whenSynced: (signal) => abortable(whenListed, signal),
    get lastEventAt() {
      return lastEventAt();
    },
    isAlive: listWatch.isAlive,
  };
}

function receive<T extends KubeObject>(cache: ObjectCache<T>, event: WatchEvent<T>): void {
  if (event.type === 'DELETED') cache.remove(event.object);
  else if (event.type !== 'BOOKMARK') cache.put(event.object);
}

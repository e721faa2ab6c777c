import { abortable } from '../../services/common/platform/async/abortable.ts';
import type { Logger } from '../../services/common/ports/logger.ts';
import type { WatchEvent } from './kube-client.ts';
import { type KubeObject, keyOf, type ResourceKind } from './kube-object.ts';
import { createListWatch, type ListWatchOptions } from './list-watch.ts';
import type { RuntimeMetrics } from './metrics.ts';

export interface Change<T extends KubeObject> {
  readonly type: 'added' | 'modified' | 'deleted';
  /** `namespace/name` */
  readonly key: string;
  readonly object: T;
  /** Content of the cache before. */
  readonly previous?: T;
}

/** Names of an object under an index: the objects that name a Secret, the children of an owner, … */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** Read access to a cache. */
export interface Cache<T extends KubeObject> {
  get(key: string): T | undefined;
  list(): readonly T[];
  byIndex(index: string, value: string): readonly T[];
}

/** A cache of all objects of a kind: lists, then watches; when a watch ends, the next one starts. */
export interface Informer<T extends KubeObject> extends Cache<T> {
  readonly kind: ResourceKind;
  start(): void;
  stop(): Promise<void>;
  /** True once the first list is in the cache. */
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Listeners run after the cache changed and must only enqueue. Their errors are logged and dropped. */
  onChange(listener: (change: Change<T>) => void): void;
  /** Monotonic time of the last line or list that came; -Infinity before the first. */
  readonly lastEventAt: number;
  /** Whether the watch made progress in time; false makes the process unhealthy. */
  isAlive(): boolean;
}

export interface InformerOptions<T extends KubeObject> extends Omit<ListWatchOptions<T>, 'onList' | 'onEvent'> {
  readonly metrics: Pick<RuntimeMetrics, 'watchRestarted' | 'watchEventAge'>;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Removes fields that need not be kept in memory. */
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

type ObjectCache<T extends KubeObject> = ReturnType<typeof createObjectCache<T>>;

/** The objects of one kind by key, with indexes; notifies listeners of changes. */
function createObjectCache<T extends KubeObject>(options: {
  readonly logger: Logger;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Removes fields that need not be kept in memory. */
  readonly trim?: (object: T) => T;
}) {
  const { trim = (object: T) => object } = options;
  const objects = new Map<string, T>();
  const listeners: ((change: Change<T>) => void)[] = [];
  const indexes = new Map(
    Object.entries(options.indexes ?? {}).map(([name, valuesOf]) => [name, createIndex(valuesOf)] as const),
  );

  function tell(change: Change<T>): void {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        options.logger.error('informer.listener.failed', { key: change.key, error });
      }
    }
  }

  function put(received: T): void {
    const object = trim(withoutManagedFields(received));
    const key = keyOf(object.metadata);
    const previous = objects.get(key);
    if (previous?.metadata.resourceVersion === object.metadata.resourceVersion && previous !== undefined) return;
    objects.set(key, object);
    for (const index of indexes.values()) index.move(key, previous, object);
    tell({ type: previous === undefined ? 'added' : 'modified', key, object, ...(previous ? { previous } : {}) });
  }

  function removeKey(key: string, last: T): void {
    const previous = objects.get(key);
    if (previous === undefined) return;
    objects.delete(key);
    for (const index of indexes.values()) index.move(key, previous, undefined);
    tell({ type: 'deleted', key, object: last, previous });
  }

  return {
    get: (key: string) => objects.get(key),
    list: (): readonly T[] => [...objects.values()],
    byIndex(name: string, value: string): readonly T[] {
      const index = indexes.get(name);
      if (index === undefined) throw new TypeError(`The cache has no index ${name}.`);
      return index.keys(value).flatMap((key) => objects.get(key) ?? []);
    },
    put,
    remove: (object: T) => removeKey(keyOf(object.metadata), trim(withoutManagedFields(object))),
    /** Replaces everything by the result of a list. */
    replaceAll(received: readonly T[]): void {
      const present = new Set(received.map(({ metadata }) => keyOf(metadata)));
      for (const [key, object] of [...objects]) if (!present.has(key)) removeKey(key, object);
      for (const object of received) put(object);
    },
    onChange: (listener: (change: Change<T>) => void) => void listeners.push(listener),
  };
}

function createIndex<T extends KubeObject>(valuesOf: IndexFunction<T>) {
  const keysByValue = new Map<string, Set<string>>();
  return {
    keys: (value: string): readonly string[] => [...(keysByValue.get(value) ?? [])],
    move(key: string, before: T | undefined, after: T | undefined) {
      for (const value of before === undefined ? [] : valuesOf(before)) {
        const keys = keysByValue.get(value);
        keys?.delete(key);
        if (keys?.size === 0) keysByValue.delete(value);
      }
      for (const value of after === undefined ? [] : valuesOf(after)) {
        const keys = keysByValue.get(value) ?? new Set();
        keysByValue.set(value, keys.add(key));
      }
    },
  };
}

/** Managed fields are half of the size of an object and are not used. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { readonly managedFields?: unknown };
  return { ...object, metadata };
}

/** Combines informers of one kind, one for each namespace, for an operator that may not read all namespaces. */
export function groupInformers<T extends KubeObject>(
  first: Informer<T>,
  ...others: readonly Informer<T>[]
): Informer<T> {
  const all = [first, ...others];
  if (others.length === 0) return first;
  return {
    kind: first.kind,
    get(key) {
      for (const informer of all) {
        const object = informer.get(key);
        if (object !== undefined) return object;
      }
      return undefined;
    },
    list: () => all.flatMap((informer) => informer.list()),
    byIndex: (index, value) => all.flatMap((informer) => informer.byIndex(index, value)),
    start() {
      for (const informer of all) informer.start();
    },
    async stop() {
      await Promise.all(all.map((informer) => informer.stop()));
    },
    get synced() {
      return all.every(({ synced }) => synced);
    },
    async whenSynced(signal) {
      await Promise.all(all.map((informer) => informer.whenSynced(signal)));
    },
    onChange(listener) {
      for (const informer of all) informer.onChange(listener);
    },
    get lastEventAt() {
      return Math.min(...all.map(({ lastEventAt }) => lastEventAt));
    },
    isAlive: () => all.every((informer) => informer.isAlive()),
  };
}

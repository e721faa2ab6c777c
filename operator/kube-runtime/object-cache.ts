import type { Logger } from '../../services/common/ports/logger.ts';
import type { Cache, Change, IndexFunction } from './informer.ts';
import { type KubeObject, keyOf } from './kube-object.ts';

/** The objects of one kind by key, with indexes; says what changes. */
export interface ObjectCache<T extends KubeObject> extends Cache<T> {
  put(object: T): void;
  remove(object: T): void;
  /** In place of everything: what a list answered. Says what is new, changed and gone. */
  replaceAll(objects: readonly T[]): void;
  onChange(listener: (change: Change<T>) => void): void;
}

export function createObjectCache<T extends KubeObject>(options: {
  readonly logger: Logger;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** What is kept of an object, where not all of it is wanted in memory. */
  readonly trim?: (object: T) => T;
}): ObjectCache<T> {
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
        options.logger.error('informer.listener-failed', { key: change.key, error });
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
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    byIndex(name, value) {
      const index = indexes.get(name);
      if (index === undefined) throw new TypeError(`There is no index ${name}.`);
      return index.keys(value).flatMap((key) => objects.get(key) ?? []);
    },
    put,
    remove: (object) => removeKey(keyOf(object.metadata), trim(withoutManagedFields(object))),
    replaceAll(received) {
      const present = new Set(received.map(({ metadata }) => keyOf(metadata)));
      for (const [key, object] of [...objects]) if (!present.has(key)) removeKey(key, object);
      for (const object of received) put(object);
    },
    onChange: (listener) => void listeners.push(listener),
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

/** They are half of an object, and nobody here reads them. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { readonly managedFields?: unknown };
  return { ...object, metadata };
}

import { isDeepStrictEqual } from 'node:util';
import type { Change, Informer } from './informer.ts';
import type { KubeObject } from './kube-object.ts';
import type { Reconciler } from './reconciler.ts';

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
    !isDeepStrictEqual(before.finalizers ?? [], after.finalizers ?? []);
  return concerned ? [key] : [];
}

export interface ControllerOptions {
  readonly reconciler: Reconciler;
  readonly sources: readonly Source[];
  readonly workers: number;
}

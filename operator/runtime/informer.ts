import type { KubeObject, ResourceKind } from './kube-object.ts';

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

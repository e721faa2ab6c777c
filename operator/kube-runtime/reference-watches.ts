import type { Logger } from '../../services/common/ports/logger.ts';
import type { Source } from './controller.ts';
import type { Informer } from './informer.ts';
import type { KubeClient } from './kube-client.ts';
import { type KubeObject, keyOf, type ObjectName, type ResourceKind } from './kube-object.ts';
import { createListWatch, type ListWatch } from './list-watch.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { RuntimeClock } from './runtime-clock.ts';

/**
 * Watches single objects of a kind that others refer to by name – a Secret, a ConfigMap – each by its own watch, so that no
 * other object of the kind is ever listed. An object with several owners is watched once. Changes of objects beyond the
 * maximum are noticed with the next reconcile of their owner.
 */
export type ReferenceWatches = ReturnType<typeof createReferenceWatches>;

interface ReferenceWatchesOptions {
  readonly kind: ResourceKind;
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'watchRestarted'>;
  /** Maximum number of watches; each needs a connection. Default: 200. */
  readonly most?: number;
}

const MOST = 200;

export function createReferenceWatches(options: ReferenceWatchesOptions) {
  const { kind, most = MOST } = options;
  // A watch that is forbidden or fails is only logged for debugging: the object is read with its owner anyway.
  const logger = { ...options.logger, warn: options.logger.debug };
  const owners = new Map<string, ReadonlySet<string>>();
  const wanted = new Map<string, { readonly name: ObjectName; readonly owners: Set<string> }>();
  const open = new Map<string, ListWatch>();
  const ending = new Set<Promise<void>>();
  const listeners: ((owner: string) => void)[] = [];
  let isTold = false;

  function tell(key: string): void {
    for (const owner of wanted.get(key)?.owners ?? []) for (const listener of listeners) listener(owner);
  }

  function close(key: string): void {
    const stopped = open.get(key)?.stop();
    open.delete(key);
    if (stopped === undefined) return;
    ending.add(stopped);
    void stopped.finally(() => ending.delete(stopped));
  }

  /** Opens watches in the order of the requests. */
  function openWanted(): void {
    for (const [key, { name }] of wanted) {
      if (open.has(key)) continue;
      if (open.size >= most) {
        if (!isTold) options.logger.info('references.watch.limit_reached', { kind: kind.kind, watched: most });
        isTold = true;
        return;
      }
      const begun = watchOne({ ...options, logger }, name, () => tell(key));
      open.set(key, begun);
      begun.start();
    }
  }

  function leave(owner: string, key: string): void {
    const reference = wanted.get(key);
    if (!reference?.owners.delete(owner) || reference.owners.size > 0) return;
    wanted.delete(key);
    close(key);
  }

  return {
    /** Sets the objects that the owner refers to. */
    refer(owner: string, names: readonly ObjectName[]) {
      const before = owners.get(owner) ?? new Set<string>();
      const after = new Map(names.map((name) => [keyOf(name), name]));
      for (const key of before) if (!after.has(key)) leave(owner, key);
      for (const [key, name] of after) {
        const reference = wanted.get(key) ?? { name, owners: new Set() };
        reference.owners.add(owner);
        wanted.set(key, reference);
      }
      if (after.size === 0) owners.delete(owner);
      else owners.set(owner, new Set(after.keys()));
      openWanted();
    },
    /** Calls back with each owner of an object that was added, changed or deleted. */
    onChange: (listener: (owner: string) => void): void => void listeners.push(listener),
    /** Number of watched objects. */
    get size() {
      return open.size;
    },
    async stop() {
      for (const key of [...open.keys()]) close(key);
      wanted.clear();
      owners.clear();
      await Promise.all(ending);
    },
  };
}

/** Calls back when the object was added, changed or deleted. */
function watchOne(
  { kind, client, clock, logger, metrics }: ReferenceWatchesOptions,
  { name, namespace }: ObjectName,
  onChange: () => void,
): ListWatch {
  let seen: string | undefined;
  const see = (version: string | undefined) => {
    if (version === seen) return;
    seen = version;
    onChange();
  };
  return createListWatch<KubeObject>({
    kind,
    client,
    clock,
    logger,
    metrics,
    fieldSelector: `metadata.name=${name}`,
    ...(namespace === undefined ? {} : { namespace }),
    onList: ([object]) => see(object?.metadata.resourceVersion),
    onEvent({ type, object }) {
      if (type !== 'BOOKMARK') see(type === 'DELETED' ? undefined : object.metadata.resourceVersion);
    },
  });
}

/** Makes a source of the objects whose references changed. `namesOf` returns the objects that one of them refers to. */
export function referenceSource<T extends KubeObject>(
  informer: Pick<Informer<T>, 'onChange'>,
  watches: ReferenceWatches,
  namesOf: (object: T) => readonly ObjectName[],
): Source {
  return {
    subscribe(add) {
      watches.onChange(add);
      informer.onChange(({ type, key, object }) => watches.refer(key, type === 'deleted' ? [] : namesOf(object)));
    },
    // References are read by the reconcile itself.
    whenSynced: async () => {},
  };
}

import { type Source, source } from './controller.ts';
import type { Change, Informer } from './informer.ts';
import type { KubeObject } from './kube-object.ts';

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

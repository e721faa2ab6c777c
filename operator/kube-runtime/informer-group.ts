import type { Informer } from './informer.ts';
import type { KubeObject } from './kube-object.ts';

/** Several informers of one kind, each of its namespace, as one: for an operator that may not see all of them. */
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

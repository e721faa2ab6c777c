import type { KubeClient } from './kube-client.ts';
import { NotLeaderError } from './kube-error.ts';

/**
 * Reads pass; each write first asks whether this process still leads, and throws `NotLeaderError` when it does not: also in
 * the middle of a reconcile that began before the lease was lost.
 */
export function createFencedClient(client: KubeClient, isLeading: () => boolean): KubeClient {
  const fenced =
    <Parameters extends unknown[], Result>(write: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (!isLeading()) throw new NotLeaderError();
      return write(...parameters);
    };
  return {
    get: client.get,
    list: client.list,
    watch: client.watch,
    create: fenced(client.create) as KubeClient['create'],
    replace: fenced(client.replace) as KubeClient['replace'],
    apply: fenced(client.apply) as KubeClient['apply'],
    patch: fenced(client.patch) as KubeClient['patch'],
    patchStatus: fenced(client.patchStatus) as KubeClient['patchStatus'],
    delete: fenced(client.delete),
  };
}

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

/**
 * The same for a port outside of the cluster: each of its methods, all of them asynchronous, first asks whether this process
 * leads. What another process may be doing by now must not be done twice, there either.
 */
export function fencePort<Port extends object>(port: Port, isLeading: () => boolean): Port {
  const members = Object.entries(port).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member];
    const call = async (...parameters: unknown[]): Promise<unknown> => {
      if (!isLeading()) throw new NotLeaderError();
      return member(...parameters);
    };
    return [name, call];
  });
  return Object.fromEntries(members) as Port;
}

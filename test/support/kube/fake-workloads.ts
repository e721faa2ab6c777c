import { KINDS, type KubeObject, type ResourceKind } from '../../../operator/kube-runtime/kube-object.ts';
import type { FakeKube } from './fake-kube.ts';

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } };
  };
}

function listed<T extends KubeObject>(kube: FakeKube, { apiVersion, plural }: ResourceKind): readonly T[] {
  const path = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/${plural}`;
  return kube.store.list(path, undefined) as unknown as T[];
}

/** Gives every Deployment available pods, by default as many as it wants. */
export function runEverything(kube: FakeKube, pods?: number): void {
  for (const pod of listed(kube, KINDS.pod)) drop(kube, pod);
  for (const deployment of listed<Deployment>(kube, KINDS.deployment)) {
    const count = pods ?? deployment.spec.replicas ?? 1;
    const { generation } = deployment.metadata;
    const status = {
      observedGeneration: generation,
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
    };
    writeStatus(kube, deployment, status);
  }
}

/** Gives the Deployment one pod that does not start. */
export function stopEverything(
  kube: FakeKube,
  name: string,
  why: { readonly waiting?: string; readonly unschedulable?: string },
): void {
  const deployment = listed<Deployment>(kube, KINDS.deployment).find(({ metadata }) => metadata.name === name);
  if (deployment === undefined) throw new Error(`No Deployment ${name}.`);
  const { namespace = '', generation } = deployment.metadata;
  writeStatus(kube, deployment, {
    observedGeneration: generation,
    replicas: 1,
    updatedReplicas: 1,
    availableReplicas: 0,
  });
  for (const pod of listed(kube, KINDS.pod)) drop(kube, pod);
  kube.put(KINDS.pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-5d6f-x7k2p`, namespace, labels: deployment.spec.template.metadata.labels },
    status: {
      conditions:
        why.unschedulable === undefined
          ? []
          : [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: why.unschedulable }],
      containerStatuses:
        why.waiting === undefined ? [] : [{ ready: false, state: { waiting: { reason: why.waiting } } }],
    },
  } as KubeObject);
}

/** Lets the activator exit with this code and restart. */
export function endActivator(kube: FakeKube, exitCode: number): void {
  const name = 'tenant-acme-asleep';
  const sleeper = listed<Deployment>(kube, KINDS.deployment).find(({ metadata }) => metadata.name === name);
  if (sleeper === undefined) throw new Error(`No Deployment ${name}.`);
  const { namespace = '' } = sleeper.metadata;
  kube.put(KINDS.pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-${exitCode}`, namespace, labels: sleeper.spec.template.metadata.labels },
    status: { containerStatuses: [{ ready: true, lastState: { terminated: { exitCode } } }] },
  } as KubeObject);
}

/** Completes every Job. */
export function endJobs(kube: FakeKube, how: 'Complete' | 'Failed'): void {
  const { apiVersion, plural } = KINDS.job;
  const status = { conditions: [{ type: how, status: 'True' }] };
  for (const { metadata } of listed(kube, KINDS.job)) {
    const place = { namespace: metadata.namespace, name: metadata.name };
    kube.store.update(`/apis/${apiVersion}/${plural}`, place, (held) => ({ ...held, status }), 'status');
  }
}

function writeStatus(kube: FakeKube, { metadata }: Deployment, status: object): void {
  const { apiVersion, plural } = KINDS.deployment;
  const place = { namespace: metadata.namespace, name: metadata.name };
  kube.store.update(`/apis/${apiVersion}/${plural}`, place, (held) => ({ ...held, status }), 'status');
}

function drop(kube: FakeKube, { metadata }: KubeObject): void {
  kube.remove(KINDS.pod, metadata);
}

/** Removes terminating pods. */
export function endPods(kube: FakeKube): void {
  for (const pod of listed(kube, KINDS.pod)) drop(kube, pod);
}

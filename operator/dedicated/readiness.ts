import { SERVICE_NAMES } from '../../services/common/domain/service-paths.ts';
import { WAKE_REQUESTED_EXIT_CODE } from '../activator/answer.ts';
import type { Tenant } from '../api/tenant.ts';
import { conditionMessage } from '../kube-runtime/conditions.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import { KINDS, type KubeObject } from '../kube-runtime/kube-object.ts';
import { ACTIVATOR, commonLabels, MIGRATION, objectName, SECRETS_ANNOTATION, SETTINGS } from './names.ts';

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly metadata?: KubeObject['metadata'];
      readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

interface ContainerStatus {
  readonly ready?: boolean;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly exitCode?: number };
  };
  readonly lastState?: { readonly terminated?: { readonly exitCode?: number } };
}

interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface Readiness {
  /** Images of the services. Empty before they were first applied. */
  readonly images: readonly string[];
  /** Every service has an available pod. */
  readonly available: boolean;
  /** Every service has all its pods, and all of them are up to date. */
  readonly complete: boolean;
  /** Problem of the first Deployment whose pods do not start. */
  readonly problem: { readonly reason: string; readonly message: string } | null;
  /** The Deployment of the activator exists. */
  readonly hasActivator: boolean;
  /** The activator has an available pod. */
  readonly isActivatorAvailable: boolean;
  /** The activator received a request that wakes the tenant. */
  readonly hasWakeRequest: boolean;
}

/** Reads the state of the Deployments of a Dedicated tenant, and the problems of their pods. */
export async function readReadiness(client: KubeClient, tenant: Tenant, signal: AbortSignal): Promise<Readiness> {
  const all = { ...placeOf(tenant), signal };
  const { items } = await client.list<Deployment>(KINDS.deployment, all);
  const live = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const services = SERVICE_NAMES.map((service) => ({
    service,
    deployment: live.find(({ metadata }) => metadata.name === objectName(tenant, service)),
  }));
  const available = services.every(({ deployment }) => (deployment?.status?.availableReplicas ?? 0) > 0);
  const complete = services.every(({ deployment }) => isComplete(deployment));
  const activator = live.find(({ metadata }) => metadata.name === objectName(tenant, ACTIVATOR));
  const isActivatorAvailable = (activator?.status?.availableReplicas ?? 0) > 0;
  const images = services.flatMap(({ deployment }) => deployment?.spec?.template?.spec?.containers?.[0]?.image ?? []);
  const seen = { images, available, complete, hasActivator: activator !== undefined, isActivatorAvailable };
  if (complete && activator === undefined) return { ...seen, hasWakeRequest: false, problem: null };
  const pods = (await client.list<Pod>(KINDS.pod, all)).items;
  const hasWakeRequest = pods.some(hasRequestedWake);
  if (complete) return { ...seen, hasWakeRequest, problem: null };
  const problems = services.flatMap(({ service, deployment }) => {
    if (deployment === undefined || isComplete(deployment)) return [];
    const own = pods.filter(({ metadata }) => metadata.labels?.[COMPONENT] === service);
    return problemOf(deployment, own) ?? [];
  });
  return { ...seen, hasWakeRequest, problem: problems[0] ?? null };
}

/**
 * Whether all services are complete with the present Secrets, and no pod of a service or a migration with other ones is left,
 * not even a terminating one. Ignores pods that have ended, for example evicted ones, which may stay in the list for long.
 */
export async function haveAllPodsChanged(client: KubeClient, tenant: Tenant, signal: AbortSignal): Promise<boolean> {
  const all = { ...placeOf(tenant), signal };
  const { namespace } = all;
  const present = await client.get(KINDS.secret, { name: objectName(tenant, SETTINGS), namespace }, { signal });
  const wanted = present?.metadata.annotations?.[SECRETS_ANNOTATION];
  const hasWanted = (metadata: KubeObject['metadata'] | undefined) =>
    wanted !== undefined && metadata?.annotations?.[SECRETS_ANNOTATION] === wanted;
  const deployments = (await client.list<Deployment>(KINDS.deployment, all)).items;
  const pods = (await client.list<Pod>(KINDS.pod, all)).items;
  const areMade = SERVICE_NAMES.every((service) => {
    const deployment = deployments.find(({ metadata }) => metadata.name === objectName(tenant, service));
    return isComplete(deployment) && hasWanted(deployment?.spec?.template?.metadata);
  });
  const readers = pods.filter((pod) => pod.metadata.labels?.[COMPONENT] !== ACTIVATOR && !hasEnded(pod));
  return areMade && readers.every(({ metadata }) => hasWanted(metadata));
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

const COMPONENT = 'app.kubernetes.io/component';

function placeOf(tenant: Tenant): { readonly namespace: string; readonly labelSelector: string } {
  const labels = Object.entries(commonLabels(tenant)).map(([label, value]) => `${label}=${value}`);
  return { namespace: tenant.metadata.namespace ?? '', labelSelector: labels.join(',') };
}

function isComplete(deployment: Deployment | undefined): boolean {
  if (deployment?.status === undefined) return false;
  const { spec, status, metadata } = deployment;
  const wanted = spec?.replicas ?? 1;
  return (
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status.updatedReplicas ?? 0) >= wanted &&
    (status.availableReplicas ?? 0) >= wanted &&
    (status.replicas ?? 0) <= Math.max(wanted, status.updatedReplicas ?? 0)
  );
}

/** Whether the activator exited to wake the tenant. The pod keeps that, so a request while no operator ran is found, too. */
function hasRequestedWake({ metadata, status }: Pod): boolean {
  const isActivator = metadata.labels?.[COMPONENT] === ACTIVATOR && metadata.deletionTimestamp === undefined;
  const [container] = isActivator ? (status?.containerStatuses ?? []) : [];
  return [container?.lastState?.terminated, container?.state?.terminated].some(
    (end) => end?.exitCode === WAKE_REQUESTED_EXIT_CODE,
  );
}

function problemOf({ metadata, status }: Deployment, pods: readonly Pod[]): Readiness['problem'] {
  const refused = status?.conditions?.find(({ type, status: holds }) => type === 'ReplicaFailure' && holds === 'True');
  if (refused !== undefined) {
    return {
      reason: 'PodsRefused',
      message: conditionMessage(`Deployment ${metadata.name} gets no pods: ${refused.message ?? ''}`),
    };
  }
  return problemOfPods(`Deployment ${metadata.name}`, pods);
}

/** Problem of the newest pod that does not start. */
function problemOfPods(subject: string, pods: readonly Pod[]): Readiness['problem'] {
  for (const pod of pods.toSorted(newestFirst)) {
    const reason = waitingReason(pod);
    if (reason === null) continue;
    const hint = HINTS.get(reason.word) ?? 'see kubectl describe';
    const said = reason.said === '' ? '' : ` (${reason.said})`;
    const message = conditionMessage(`${subject} waits for its pod: ${reason.word}${said}; ${hint}`);
    return { reason: reason.word, message };
  }
  return null;
}

/** Problem of the pod of a migration. */
export async function readMigrationProblem(
  client: KubeClient,
  tenant: Tenant,
  { job, signal }: { readonly job: string; readonly signal: AbortSignal },
): Promise<Readiness['problem']> {
  const pods = (await client.list<Pod>(KINDS.pod, { ...placeOf(tenant), signal })).items;
  const own = pods.filter((pod) => pod.metadata.labels?.[COMPONENT] === MIGRATION && !hasEnded(pod));
  return problemOfPods(`Job ${job}`, own);
}

const HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ImagePullBackOff: 'check the image and the pull Secrets',
    CrashLoopBackOff: 'see the log of the pod',
    Unschedulable: 'free or add room, or lower the requests',
  }),
);

/** Maps reasons that alternate to one of them, so that no condition flaps. */
const SAME: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ ErrImagePull: 'ImagePullBackOff', Error: 'CrashLoopBackOff' }),
);

function waitingReason({ status }: Pod): { readonly word: string; readonly said: string } | null {
  const unscheduled = status?.conditions?.find(
    ({ type, status: holds, reason }) => type === 'PodScheduled' && holds === 'False' && reason === 'Unschedulable',
  );
  if (unscheduled !== undefined) return { word: 'Unschedulable', said: unscheduled.message ?? '' };
  for (const { ready, state, lastState } of status?.containerStatuses ?? []) {
    const word = state?.waiting?.reason;
    if (word !== undefined && word !== 'ContainerCreating' && word !== 'PodInitializing') {
      return { word: SAME.get(word) ?? word, said: '' };
    }
    // The container runs for a moment between two crashes.
    if (ready !== true && lastState?.terminated !== undefined) return { word: 'CrashLoopBackOff', said: '' };
  }
  return null;
}

function newestFirst(one: Pod, other: Pod): number {
  return (one.metadata.creationTimestamp ?? '') < (other.metadata.creationTimestamp ?? '') ? 1 : -1;
}

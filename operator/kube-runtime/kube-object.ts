/** `metadata` of an object, as the API server sends it. Unknown fields are kept. */
export interface ObjectMeta {
  readonly name: string;
  /** Absent for cluster-wide kinds. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Counts changes of `spec`; status writes leave it alone. */
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object as plain JSON: no field is dropped or converted, so new fields and custom kinds pass through. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface CustomObject<Spec = unknown, Status = unknown> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Plain; only ever sent, never received. */
  readonly stringData?: Readonly<Record<string, string>>;
}

/** Plain text under a key of a Secret; undefined when it has no such key. */
export function secretText({ data = {} }: Pick<Secret, 'data'>, key: string): string | undefined {
  const value = data[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** A kind of objects, with the parts of its address. */
export interface ResourceKind {
  /** `v1`, `apps/v1`, `engram.dev/v1alpha1` */
  readonly apiVersion: string;
  readonly kind: string;
  /** As in paths: `configmaps`. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** One object of a kind. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

/** Key of an object in queues and caches: `namespace/name`, or `name` when it is cluster-scoped. */
export function keyOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Built-in kinds that the operator uses. */
export const KINDS = {
  configMap: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  secret: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  pod: { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
  service: { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true },
  serviceAccount: { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true },
  namespace: { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  deployment: { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
  job: { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs', namespaced: true },
  ingress: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', plural: 'ingresses', namespaced: true },
  networkPolicy: {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    namespaced: true,
  },
  httpRoute: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true },
  horizontalPodAutoscaler: {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
  },
  podDisruptionBudget: {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    namespaced: true,
  },
  lease: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true },
  event: { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', namespaced: true },
} as const satisfies Record<string, ResourceKind>;

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly Expression[];
}

type Labels = Readonly<Record<string, string>>;

interface Expression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** Whether labels match a selector: all its conditions must hold; an empty selector matches all labels. */
export function matchesSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

function holds({ key, operator, values = [] }: Expression, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** Formats a time as `MicroTime` of Kubernetes: with six decimals of the second. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

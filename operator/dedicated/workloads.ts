import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import type { Tenant } from '../api/tenant.ts';
import type { Desired } from '../kube-runtime/applier.ts';
import { KINDS, type KubeObject, type ResourceKind } from '../kube-runtime/kube-object.ts';
import type { Provision } from '../stores/store-administrator.ts';
import { hashOf, type InstallationKeys } from './keys.ts';
import {
  ACTIVATOR,
  type Component,
  commonLabels,
  HTTP_PORT,
  MIGRATION,
  objectName,
  SECRETS_ANNOTATION,
  SETTINGS,
  selectorOf,
} from './names.ts';
import type { Installation, KubeJson } from './options.ts';
import { filePath, type Process, podTemplate, type Variable } from './pod.ts';

/** Kinds of the objects of a Dedicated tenant; the applier deletes unwanted objects of these. */
export const WORKLOAD_KINDS: readonly ResourceKind[] = [
  KINDS.deployment,
  KINDS.horizontalPodAutoscaler,
  KINDS.podDisruptionBudget,
  KINDS.service,
  KINDS.networkPolicy,
  KINDS.serviceAccount,
  KINDS.job,
];

/** Makes all objects of a Dedicated tenant, in the order in which they are applied. */
export function workloads(installation: Installation): readonly Desired[] {
  const { tenant, mode } = installation;
  const isHibernated = mode === 'hibernated';
  const scaled = SERVICE_NAMES.filter((service) => tenant.spec.scaling?.[service] !== undefined && !isHibernated);
  return [
    ...surroundings(installation),
    ...SERVICE_NAMES.map((name) => ({ kind: KINDS.service, object: service(installation, name) })),
    ...(mode === 'serving' ? [] : [{ kind: KINDS.deployment, object: activator(installation) }]),
    ...SERVICE_NAMES.map((name) => ({ kind: KINDS.deployment, object: deployment(installation, name) })),
    ...SERVICE_NAMES.map((name) => ({ kind: KINDS.podDisruptionBudget, object: disruptionBudget(tenant, name) })),
    ...scaled.map((name) => ({ kind: KINDS.horizontalPodAutoscaler, object: autoscaler(tenant, name) })),
  ];
}

/** Makes the Job that migrates the stores before the services of another release run, and the objects that it needs. */
export function migration(installation: Installation): readonly Desired[] {
  const process = { ...serviceProcess(installation, 'auth'), component: MIGRATION, ends: true } as const;
  const template = podTemplate(installation, { ...process, args: ['services/start.mjs', 'migrate'] });
  // Jobs are immutable, so the name contains a hash of the template.
  const part = `${MIGRATION}-${hashOf(JSON.stringify(template)).slice(0, 8)}`;
  const spec = { backoffLimit: MIGRATION_TRIES, template };
  const job = object(installation.tenant, KINDS.job, part, { spec });
  return [...surroundings(installation), { kind: KINDS.job, object: job }];
}

const MIGRATION_TRIES = 3;

/** Objects that every pod needs. */
function surroundings(installation: Installation): readonly Desired[] {
  const { tenant } = installation;
  return [
    { kind: KINDS.serviceAccount, object: object(tenant, KINDS.serviceAccount, ACCOUNT, NO_TOKEN) },
    { kind: KINDS.secret, object: settingsSecret(installation) },
    ...networkPolicies(installation),
  ];
}

const ACCOUNT = 'services';

const NO_TOKEN = { automountServiceAccountToken: false };

function object(tenant: Tenant, { apiVersion, kind }: ResourceKind, part: string, content: object) {
  const { namespace = '' } = tenant.metadata;
  const metadata = { name: objectName(tenant, part), namespace, labels: commonLabels(tenant) };
  return { apiVersion, kind, metadata, ...content };
}

/** Makes the Secret with the settings of the stores; some addresses contain a password. */
function settingsSecret({ tenant, keys, provision }: Installation): KubeObject {
  const texts = { ...provision.settings, ...provision.secrets, ...provision.files };
  const data = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
  const made = object(tenant, KINDS.secret, SETTINGS, { type: 'Opaque', data });
  const annotations = { [SECRETS_ANNOTATION]: secretsHash(keys, provision) };
  return { ...made, metadata: { ...made.metadata, annotations } };
}

function service({ tenant, mode, port }: Installation, name: ServiceName): KubeObject {
  const selector = selectorOf(tenant, mode === 'serving' || mode === 'draining' ? name : ACTIVATOR);
  const ports = [{ name: 'http', port, targetPort: 'http', protocol: 'TCP', appProtocol: 'http' }];
  return object(tenant, KINDS.service, name, { spec: { type: 'ClusterIP', selector, ports } });
}

function secretsHash({ hash }: InstallationKeys, { settings, secrets, files }: Provision): string {
  return hashOf(JSON.stringify([hash, settings, secrets, files]));
}

function serviceProcess(installation: Installation, name: ServiceName): Process {
  const { tenant, keys, provision } = installation;
  const settings = { ...installation.options.settings, ...ownSettings(installation, name) };
  const variables: readonly Variable[] = [
    ...Object.entries(settings)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([variable, value]) => ({ name: variable, value })),
    ...secretVariables(keys.secretName, name === 'auth' ? KEYS_OF_AUTH : KEYS_OF_ALL),
    ...secretVariables(objectName(tenant, SETTINGS), [
      ...Object.keys(provision.settings).toSorted(),
      ...Object.keys(provision.secrets).toSorted(),
    ]),
    ...Object.keys(provision.files)
      .toSorted()
      .map((variable) => ({ name: variable, value: filePath(variable) })),
  ];
  const files = Object.keys(provision.files).toSorted();
  const hash = secretsHash(keys, provision);
  return { component: name, args: ['services/start.mjs'], variables, files, hash };
}

function deployment(installation: Installation, name: ServiceName): KubeObject {
  const { tenant } = installation;
  const replicas = replicasOf(installation, name);
  const template = podTemplate(installation, serviceProcess(installation, name));
  return object(tenant, KINDS.deployment, name, {
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...rollout(selectorOf(tenant, name)),
      template,
    },
  });
}

/** Number of replicas; undefined when an autoscaler sets it. */
function replicasOf({ tenant, mode }: Installation, name: ServiceName): number | undefined {
  if (mode === 'hibernated') return 0;
  return tenant.spec.scaling?.[name] === undefined ? 1 : undefined;
}

const KEYS_OF_ALL = ['ENGRAM_ROOT_KEYS'];
const KEYS_OF_AUTH = [...KEYS_OF_ALL, 'FASTAPI_USERS_JWT_SECRET'];

/** Variables that the chart sets for its own services, too. */
function ownSettings({ tenant, port }: Installation, name: ServiceName): Readonly<Record<string, string>> {
  const urls = SERVICE_NAMES.map((each) => [each, `http://${objectName(tenant, each)}:${port}`]);
  return {
    // It calls the API for MCP clients.
    ...(name === 'integrations' ? { ENGRAM_SERVICE_URLS: JSON.stringify(Object.fromEntries(urls)) } : {}),
    ENGRAM_SERVICES: name,
    ENGRAM_STORES: 'cluster',
    ENGRAM_DATA_DIR: '/data',
    HTTP_API_HOST: '0.0.0.0',
    HTTP_API_PORT: String(HTTP_PORT),
    REQUIRE_AUTHENTICATION: 'true',
    ENGRAM_SIGN_UP: 'closed',
    ENGRAM_HOSTED: 'true',
  };
}

function secretVariables(secret: string, names: readonly string[]): readonly Variable[] {
  return names.map((name) => ({ name, valueFrom: { secretKeyRef: { name: secret, key: name } } }));
}

const WAKE_ARGUMENTS = ['OnRequest', '/tmp/rung'];

/** Deployment of the activator, which answers every request with 503. It has no stores and no keys. */
function activator(installation: Installation): KubeObject {
  const { tenant } = installation;
  const { state, hibernation } = tenant.spec;
  const wakesOnRequest = state === 'Active' && hibernation?.wake === 'OnRequest';
  const template = podTemplate(installation, {
    component: ACTIVATOR,
    args: ['operator/activator/main.ts', String(HTTP_PORT), ...(wakesOnRequest ? WAKE_ARGUMENTS : [])],
    variables: [],
    files: [],
    hash: '',
  });
  const spec = { replicas: 1, ...rollout(selectorOf(tenant, ACTIVATOR)), template };
  return object(tenant, KINDS.deployment, ACTIVATOR, { spec });
}

function rollout(matchLabels: Readonly<Record<string, string>>): KubeJson {
  return {
    revisionHistoryLimit: 3,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    selector: { matchLabels },
  };
}

function disruptionBudget(tenant: Tenant, name: Component): KubeObject {
  return object(tenant, KINDS.podDisruptionBudget, name, {
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selectorOf(tenant, name) },
    },
  });
}

function autoscaler(tenant: Tenant, name: ServiceName): KubeObject {
  const { min, max, targetCPU } = tenant.spec.scaling?.[name] ?? { min: 1, max: 1, targetCPU: 75 };
  return object(tenant, KINDS.horizontalPodAutoscaler, name, {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: objectName(tenant, name) },
      minReplicas: min,
      maxReplicas: max,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: targetCPU } },
        },
      ],
    },
  });
}

const DNS = [
  { port: 53, protocol: 'UDP' },
  { port: 53, protocol: 'TCP' },
];
const HTTP = [{ port: 'http', protocol: 'TCP' }];

/**
 * Makes one policy that denies all traffic and one that lists the allowed traffic. The operator is not listed: it calls the
 * services over the bus.
 */
function networkPolicies({ tenant, options }: Installation): readonly Desired[] {
  const { policy = 'Managed', egress } = tenant.spec.network ?? {};
  if (policy === 'None') return [];
  const podSelector = { matchLabels: commonLabels(tenant) };
  const { clients, stores } = options.network;
  const made = (part: string, spec: KubeJson): Desired => ({
    kind: KINDS.networkPolicy,
    object: object(tenant, KINDS.networkPolicy, part, {
      spec: { podSelector, policyTypes: ['Ingress', 'Egress'], ...spec },
    }),
  });
  return [
    made('deny', { egress: [{ ports: DNS }] }),
    made('allow', {
      ingress: [{ ...(clients.length === 0 ? {} : { from: clients }), ports: HTTP }, { from: [{ podSelector }] }],
      egress: [{ to: [{ podSelector }] }, ...stores, ...outside(egress?.allowCIDRs)],
    }),
  ];
}

/** Egress to model providers and web pages. */
function outside(allowed: readonly string[] | undefined): readonly KubeJson[] {
  if (allowed === undefined) return [{ ports: [{ port: 443, protocol: 'TCP' }] }];
  return allowed.length === 0 ? [] : [{ to: allowed.map((cidr) => ({ ipBlock: { cidr } })) }];
}

import type { Tenant } from '../api/tenant.ts';
import {
  type Component,
  commonLabels,
  HTTP_PORT,
  objectName,
  SECRETS_ANNOTATION,
  SETTINGS,
  selectorOf,
} from './names.ts';
import type { Installation, KubeJson } from './options.ts';
import PROCESS from './process.json' with { type: 'json' };

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

export interface Process {
  readonly component: Component;
  readonly args: readonly string[];
  readonly variables: readonly Variable[];
  /** Variables whose content is mounted as a file. */
  readonly files: readonly string[];
  /** Hash of the Secrets that the pod reads: pods are replaced when it changes. */
  readonly hash: string;
  /** The process runs to completion and serves no requests. */
  readonly ends?: boolean;
}

const FILES = '/files';

/** Path of the file of a variable. */
export function filePath(variable: string): string {
  return `${FILES}/${variable}`;
}

/** Makes a pod as the chart does (`_pod.tpl`): restricted Pod Security, no token, only two scratch volumes are writable. */
export function podTemplate({ tenant, options }: Installation, process: Process): KubeJson {
  const { pods } = options;
  const settings = objectName(tenant, SETTINGS);
  return {
    metadata: {
      labels: { ...pods.podLabels, ...selectorOf(tenant, process.component), ...commonLabels(tenant) },
      annotations: { ...pods.podAnnotations, [SECRETS_ANNOTATION]: process.hash },
    },
    spec: {
      serviceAccountName: objectName(tenant, 'services'),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(pods.imagePullSecrets.length === 0
        ? {}
        : { imagePullSecrets: pods.imagePullSecrets.map((name) => ({ name })) }),
      securityContext: pods.podSecurityContext,
      terminationGracePeriodSeconds: pods.preStopSeconds + pods.drainSeconds + PROCESS.graceMarginSeconds,
      ...(process.ends ? { restartPolicy: 'Never' } : {}),
      ...placement(pods, selectorOf(tenant, process.component)),
      containers: [container({ tenant, options }, process)],
      volumes: [
        { name: 'data', emptyDir: { sizeLimit: pods.scratchSize } },
        { name: 'tmp', emptyDir: { sizeLimit: pods.scratchSize } },
        ...(process.files.length === 0
          ? []
          : [
              {
                name: 'files',
                secret: { secretName: settings, items: process.files.map((key) => ({ key, path: key })) },
              },
            ]),
      ],
    },
  };
}

function placement(
  { nodeSelector, tolerations, affinity, priorityClassName, runtimeClassName }: Installation['options']['pods'],
  matchLabels: Readonly<Record<string, string>>,
): KubeJson {
  const present = (value: object) => Object.keys(value).length > 0;
  return {
    ...(present(nodeSelector) ? { nodeSelector } : {}),
    ...(present(tolerations) ? { tolerations } : {}),
    ...(present(affinity) ? { affinity } : {}),
    ...(priorityClassName === '' ? {} : { priorityClassName }),
    ...(runtimeClassName === '' ? {} : { runtimeClassName }),
    topologySpreadConstraints: PROCESS.spread.map(({ topologyKey, maxSkew, matchLabelKeys }) => ({
      topologyKey,
      maxSkew,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels },
      matchLabelKeys,
    })),
  };
}

function container({ tenant, options }: Pick<Installation, 'tenant' | 'options'>, process: Process): KubeJson {
  const { image, pods } = options;
  const { component, args, variables, files, ends = false } = process;
  return {
    name: component,
    image,
    imagePullPolicy: pods.imagePullPolicy,
    args,
    env: variables,
    ...(ends ? {} : answering(pods.preStopSeconds)),
    resources: resourcesOf(tenant, options, component),
    securityContext: pods.securityContext,
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'tmp', mountPath: '/tmp' },
      ...(files.length === 0 ? [] : [{ name: 'files', mountPath: FILES, readOnly: true }]),
    ],
  };
}

/** Resources of a component: those of the Tenant override the chart's. */
function resourcesOf({ spec }: Tenant, { pods }: Installation['options'], component: Component): KubeJson {
  const own = Object.entries(spec.resources ?? {}).find(([service]) => service === component)?.[1] as
    | PodResources
    | undefined;
  const { requests, limits } = pods.resources as PodResources;
  return {
    ...pods.resources,
    ...(own?.requests === undefined ? {} : { requests: { ...requests, ...own.requests } }),
    ...(own?.limits === undefined ? {} : { limits: { ...limits, ...own.limits } }),
  };
}

type PodResources = { readonly requests?: KubeJson; readonly limits?: KubeJson };

function answering(preStopSeconds: number): KubeJson {
  return {
    ports: [{ name: 'http', containerPort: HTTP_PORT, protocol: 'TCP' }],
    ...PROCESS.probes,
    lifecycle: { preStop: { sleep: { seconds: preStopSeconds } } },
  };
}

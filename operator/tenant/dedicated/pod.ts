import type { Component } from './names.ts';
import { commonLabels, HTTP_PORT, objectName, SECRETS_ANNOTATION, selectorOf } from './names.ts';
import type { KubeJson } from './options.ts';
import type { Installation } from './workloads.ts';

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

export interface Process {
  readonly component: Component;
  readonly args: readonly string[];
  readonly variables: readonly Variable[];
  /** Variables whose content is a file. */
  readonly files: readonly string[];
  /** Of what the pod reads from Secrets: another one makes new pods. */
  readonly hash: string;
}

/** Seconds beyond those of the end itself. */
const GRACE_MARGIN_SECONDS = 10;

const FILES = '/files';

/** Where the file of a variable is. */
export function filePath(variable: string): string {
  return `${FILES}/${variable}`;
}

/** A pod as the chart makes its own (`_pod.tpl`): restricted Pod Security, no token, nothing writable but two scratch volumes. */
export function podTemplate({ tenant, options }: Installation, process: Process): KubeJson {
  const { pods } = options;
  const settings = objectName(tenant, 'settings');
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
      terminationGracePeriodSeconds: pods.preStopSeconds + pods.drainSeconds + GRACE_MARGIN_SECONDS,
      ...placement(pods, selectorOf(tenant, process.component)),
      containers: [container(options, process)],
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
    topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels },
      matchLabelKeys: ['pod-template-hash'],
    })),
  };
}

function container({ image, pods }: Installation['options'], { component, args, variables, files }: Process): KubeJson {
  const probe = (path: string) => ({ httpGet: { path, port: 'http' } });
  return {
    name: component,
    image,
    imagePullPolicy: pods.imagePullPolicy,
    args,
    env: variables,
    ports: [{ name: 'http', containerPort: HTTP_PORT, protocol: 'TCP' }],
    startupProbe: { ...probe('/livez'), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 120 },
    livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 15 },
    lifecycle: { preStop: { sleep: { seconds: pods.preStopSeconds } } },
    resources: pods.resources,
    securityContext: pods.securityContext,
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'tmp', mountPath: '/tmp' },
      ...(files.length === 0 ? [] : [{ name: 'files', mountPath: FILES, readOnly: true }]),
    ],
  };
}

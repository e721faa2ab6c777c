import {
  ACTIVATOR,
  type Component,
  commonLabels,
  objectName,
  SECRETS_ANNOTATION,
  SETTINGS,
  selectorOf,
} from './names.ts';
import type { Installation, KubeJson, PodContainer } from './options.ts';

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

export function filePath(variable: string): string {
  return `${FILES}/${variable}`;
}

/** Makes a pod from the chart's template: sets what differs from tenant to tenant and between its processes. */
export function podTemplate({ tenant, options }: Installation, process: Process): KubeJson {
  const { metadata, spec } = options.pods;
  const { component, hash, files } = process;
  const matchLabels = selectorOf(tenant, component);
  const items = files.map((key) => ({ key, path: key }));
  const secret = { secretName: objectName(tenant, SETTINGS), items };
  return {
    metadata: {
      labels: { ...metadata.labels, ...matchLabels, ...commonLabels(tenant) },
      annotations: { ...metadata.annotations, [SECRETS_ANNOTATION]: hash },
    },
    spec: {
      ...spec,
      serviceAccountName: objectName(tenant, 'services'),
      ...(process.ends ? { restartPolicy: 'Never' } : {}),
      topologySpreadConstraints: spec.topologySpreadConstraints?.map((each) => ({
        ...each,
        labelSelector: { matchLabels },
      })),
      containers: spec.containers.map((template) => container(template, { tenant, options }, process)),
      volumes: [...spec.volumes, ...(files.length === 0 ? [] : [{ name: 'files', secret }])],
    },
  };
}

function container(
  template: PodContainer,
  { tenant, options }: Pick<Installation, 'tenant' | 'options'>,
  { component, args, variables, files, ends = false }: Process,
): KubeJson {
  const { ports, startupProbe, livenessProbe, readinessProbe, lifecycle, ...others } = template;
  const answers = { ports, startupProbe, livenessProbe, readinessProbe, lifecycle };
  // Resources of the Tenant override those of the chart.
  const resources = Object.entries(tenant.spec.resources ?? {}).find(([service]) => service === component)?.[1];
  const { requests, limits } = template.resources;
  return {
    ...others,
    ...(ends ? {} : answers),
    name: component,
    image: options.image,
    args,
    env: component === ACTIVATOR ? variables : [...template.env, ...variables],
    resources: {
      ...template.resources,
      ...(resources?.requests && { requests: { ...requests, ...resources.requests } }),
      ...(resources?.limits && { limits: { ...limits, ...resources.limits } }),
    },
    volumeMounts: [
      ...template.volumeMounts,
      ...(files.length === 0 ? [] : [{ name: 'files', mountPath: FILES, readOnly: true }]),
    ],
  };
}

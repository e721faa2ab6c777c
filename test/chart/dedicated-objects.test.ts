import { expect } from 'chai';
import { dedicatedOptions, type Installation, POD_DEFAULTS } from '../../operator/dedicated/options.ts';
import { migration, workloads } from '../../operator/dedicated/workloads.ts';
import type { KubeObject } from '../../operator/kube-runtime/kube-object.ts';
import type { ServiceName } from '../../services/common/domain/service-paths.ts';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { completeSpec } from '../support/kube/tenant-world.ts';
import { at, find, type Rendered, render } from './render.ts';

/** Values that must reach the pods of Dedicated tenants as they reach the chart's own. */
const VALUES = {
  operator: { dedicated: { enabled: true } },
  image: { pullPolicy: 'Always', pullSecrets: ['registry'] },
  shutdown: { preStopSeconds: 7, drainSeconds: 33 },
  defaults: {
    resources: { requests: { cpu: '50m', memory: '100Mi' }, limits: { memory: '2Gi' } },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    priorityClassName: 'high',
    runtimeClassName: 'gvisor',
    podLabels: { team: 'memory' },
    podAnnotations: { note: 'yes' },
    scratchSize: '3Gi',
  },
};

/** The settings for Dedicated tenants that the chart gives the operator. */
function dedicatedSettings(release: readonly Rendered[]): Readonly<Record<string, string>> {
  const variables = at(find(release, 'Deployment', '-operator'), 'spec.template.spec.containers.0.env') as readonly {
    readonly name: string;
    readonly value?: string;
  }[];
  const own = variables.filter(
    ({ name, value }) => name.startsWith('ENGRAM_OPERATOR_DEDICATED_') && value !== undefined,
  );
  return Object.fromEntries(own.map(({ name, value = '' }) => [name, value]));
}

/** The objects that the operator of this release makes for a Dedicated tenant. */
function dedicatedObjects(release: readonly Rendered[]): readonly KubeObject[] {
  const { config } = loadConfig(dedicatedSettings(release));
  const options = dedicatedOptions(config, { available: false, reason: '' });
  const installation = {
    tenant: {
      metadata: { name: 'acme', namespace: 'memory', uid: 'uid' },
      spec: completeSpec({ isolation: 'Dedicated', scaling: { search: { min: 1, max: 4, targetCPU: 75 } } }),
    },
    options: { ...options, image: options.image ?? '' },
    keys: { secretName: 'keys', hash: 'hash' },
    provision: { settings: {}, secrets: {}, files: {}, stores: [] },
    mode: 'serving',
    port: 80,
  } as unknown as Installation;
  return [...workloads(installation), ...migration(installation)].map(({ object }) => object);
}

/** Without what differs between the two: names, labels that select, variables, checksums. */
function comparable(object: unknown): unknown {
  const text = JSON.stringify(object, (key, value) => {
    if (['env', 'matchLabels', 'selector', 'serviceAccountName', 'image'].includes(key)) return undefined;
    if (key === 'labels' || key === 'annotations') {
      const entries = Object.entries(value as Record<string, string>);
      const added = entries.filter(([name]) => !/^(app\.kubernetes\.io|engram\.dev|helm\.sh|checksum)\//.test(name));
      return Object.fromEntries(added);
    }
    return value;
  });
  return JSON.parse(text);
}

describe('objects of Dedicated tenants', () => {
  it('are made from the committed pod template when the operator has none, and from no other settings', async () => {
    const settings = dedicatedSettings(await render({ ci: 'dedicated' }));
    const rendered = JSON.parse(settings['ENGRAM_OPERATOR_DEDICATED_PODS'] ?? '{}') as object;
    expect(rendered, 'write this to operator/dedicated/pod-template.json').to.deep.equal(POD_DEFAULTS);
    const former = loadConfig({ ENGRAM_OPERATOR_DEDICATED_PODS: '{"resources":{}}' }).config;
    expect(() => dedicatedOptions(former, { available: false, reason: '' })).to.throw('must be a pod template');
  });

  for (const [name, values] of [
    ['the default values', { operator: VALUES.operator }],
    ['other values', VALUES],
  ] as const) {
    it(`have the same specs as those of the chart with ${name}`, async () => {
      const service: ServiceName = 'search';
      const release = await render({ ci: 'dedicated', values });
      const made = dedicatedObjects(release);
      const autoscaled = await render({
        ci: 'dedicated',
        values: { ...values, services: { search: { autoscaling: { type: 'hpa' } } } },
      });
      const pairs = [
        ['Deployment', autoscaled, 'spec'],
        ['Service', release, 'spec'],
        ['PodDisruptionBudget', release, 'spec'],
        ['HorizontalPodAutoscaler', autoscaled, 'spec.metrics'],
      ] as const;
      for (const [kind, chart, path] of pairs) {
        const ofChart = at(find(chart, kind, `-${service}`), path);
        const ofOperator = made.find((object) => object.kind === kind && object.metadata.name.endsWith(`-${service}`));
        expect(comparable(at(ofOperator, path)), kind).to.deep.equal(comparable(ofChart));
      }
      // The operator spreads the only pod of its Job, too, which has no effect.
      const podOf = (object: unknown) => {
        const { topologySpreadConstraints: _, ...pod } = at(object, 'spec.template.spec') as Record<string, unknown>;
        return comparable(pod);
      };
      const job = made.find(({ kind }) => kind === 'Job');
      expect(podOf(job)).to.deep.equal(podOf(find(release, 'Job', '-migration')));
    });
  }
});

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { freePorts } from '../support/free-ports.ts';
import { withCluster } from './cluster.ts';
import { clusterProgram } from './image.ts';
import { CHART, type RunOptions, run } from './programs.ts';
import { CI_VALUES } from './render.ts';

/** Kinds of operators that a cluster may have; here only so that there are objects of them. */
const FOREIGN = [
  ['monitoring.coreos.com', 'v1', 'ServiceMonitor', 'servicemonitors'],
  ['monitoring.coreos.com', 'v1', 'PodMonitor', 'podmonitors'],
  ['monitoring.coreos.com', 'v1', 'PrometheusRule', 'prometheusrules'],
  ['keda.sh', 'v1alpha1', 'ScaledObject', 'scaledobjects'],
] as const;

const NAMESPACES = ['memory', 'memory-apps'];
const IN_MEMORY = ['--namespace', 'memory'];

// A control plane of its own: definitions are of a whole cluster, and these tests bring, keep and replace them.
withCluster('api-server', 'Helm on a cluster of its own', () => {
  let env: Readonly<Record<string, string>>;
  const helm = (words: readonly string[], options: RunOptions = {}) => run('helm', words, { ...options, env });
  const kubectl = (words: readonly string[], options: RunOptions = {}) => run('kubectl', words, { ...options, env });

  before(async function starts() {
    this.timeout(120_000);
    env = {
      ENGRAM_CLUSTER_INSTANCE: `chart-${randomBytes(3).toString('hex')}`,
      ENGRAM_CLUSTER_PORT: String(await freePorts(1)),
    };
    await run(clusterProgram, ['up', '--nodes', '0'], { env });
    env = { ...env, KUBECONFIG: (await run(clusterProgram, ['kubeconfig'], { env })).trim() };
    const definitions = [...FOREIGN.map(foreignDefinition), ...NAMESPACES.map(namespace)];
    await kubectl(['create', '--filename', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: definitions }),
    });
    await kubectl(['apply', '--server-side', '--filename', process.env['ENGRAM_TEST_GATEWAY_API'] ?? '']);
    const all = FOREIGN.map(([group, , , plural]) => `crd/${plural}.${group}`);
    await kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...all]);
  });

  after(async function ends() {
    this.timeout(60_000);
    await run(clusterProgram, ['down', '--wipe'], { env });
  });

  for (const ci of CI_VALUES) {
    it(`installs, upgrades and uninstalls ci/${ci}-values.yaml`, async function installs() {
      this.timeout(240_000);
      // No pods run here: hooks that wait for theirs are left out.
      const words = ['rel', CHART, ...IN_MEMORY, '--no-hooks', '--values', `${CHART}/ci/${ci}-values.yaml`];
      await helm(['install', ...words]);
      const pods = ['deployment/rel-engram-search', ...IN_MEMORY];
      // Without a word from pods the autoscaler sees to its minimum alone.
      if (ci === 'ha') await kubectl(['wait', ...pods, '--for=jsonpath={.spec.replicas}=3', '--timeout=100s']);
      await helm(['upgrade', ...words, '--set', 'commonLabels.round=two']);
      if (ci === 'ha') expect(await kubectl(['get', ...pods, '--output', 'jsonpath={.spec.replicas}'])).to.equal('3');
      const labelled = await kubectl(['get', 'services', ...IN_MEMORY, '--selector', 'round=two', '--output', 'name']);
      expect(labelled.trim().split('\n').length).to.be.at.least(ci === 'embedded' ? 1 : 6);
      await helm(['uninstall', 'rel', ...IN_MEMORY, '--no-hooks', '--wait']);
      const left = await kubectl(['get', 'deployments,statefulsets,services', ...IN_MEMORY, '--output', 'name']);
      expect(left).to.equal('');
    });
  }

  it('keeps the CRDs and their resources on uninstall', async () => {
    const flags = [...IN_MEMORY, '--no-hooks'];
    await helm(['install', 'rel', CHART, ...flags]);
    const tenant = {
      apiVersion: 'engram.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'acme', namespace: 'memory' },
      spec: { owner: { email: 'owner@example.com' } },
    };
    await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd/tenants.engram.dev']);
    await kubectl(['create', '--filename', '-'], { input: JSON.stringify(tenant) });
    await helm(['uninstall', 'rel', ...flags]);
    expect(await kubectl(['get', 'tenants', ...IN_MEMORY, '--output', 'name'])).to.equal('tenant.engram.dev/acme\n');
    await helm(['install', 'rel', CHART, ...flags]);
    await helm(['uninstall', 'rel', ...flags]);
  });
});

function foreignDefinition([group, version, kind, plural]: (typeof FOREIGN)[number]): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

function namespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

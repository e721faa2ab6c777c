import { expect } from 'chai';
import { attemptHelm, attemptKubectl, helm, kubectl, ownNamespace, withCluster } from './cluster.ts';
import { CHART } from './programs.ts';
import { CI_VALUES, type Rendered, render } from './render.ts';

/** Of operators that this cluster does not have: rendered, not validated. */
const FOREIGN = ['monitoring.coreos.com', 'keda.sh'];
const isForeign = ({ apiVersion }: Rendered) => FOREIGN.some((group) => apiVersion.startsWith(`${group}/`));

withCluster('api-server', 'a real API server', () => {
  before(async () => {
    const gatewayApi = process.env['ENGRAM_TEST_GATEWAY_API'];
    const present = await attemptKubectl(['get', 'crd', 'httproutes.gateway.networking.k8s.io']);
    if (present.code !== 0 && gatewayApi !== undefined) {
      await kubectl(['apply', '--server-side', '--filename', gatewayApi]);
    }
  });

  for (const ci of CI_VALUES) {
    it(`accepts every object of ci/${ci}-values.yaml, with restricted Pod Security`, async () => {
      await using namespace = await ownNamespace('chart-dry');
      const values = ci === 'restricted' ? { operator: { watchNamespaces: [namespace.name] } } : {};
      const objects = await render({ ci, values, namespace: namespace.name });
      // A pod is refused before its account exists, also in a dry run.
      for (const account of ['rel-engram', 'engram']) {
        await kubectl(['create', 'serviceaccount', account, '--namespace', namespace.name]);
      }
      const list = { apiVersion: 'v1', kind: 'List', items: objects.filter((object) => !isForeign(object)) };
      const { code, stdout, stderr } = await attemptKubectl(
        [
          ...['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict'],
          ...['--namespace', namespace.name, '--filename', '-'],
        ],
        { input: JSON.stringify(list) },
      );
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      expect(stdout.trim().split('\n')).to.have.length(list.items.length);
    });
  }

  it('keeps generated passwords and keys over upgrades, and over an uninstall', async () => {
    await using namespace = await ownNamespace('chart-keys');
    // Definitions are of the whole cluster, and here not this release's; without pods no hook can run.
    const flags = ['--namespace', namespace.name, '--set', 'crds.enabled=false,operator.enabled=false', '--no-hooks'];
    const secrets = async () => {
      const all = await kubectl(['get', 'secrets', '--namespace', namespace.name, '--output', 'json']);
      const { items } = JSON.parse(all) as { items: { type: string; metadata: { name: string }; data: object }[] };
      const own = items.filter(({ type }) => type === 'Opaque');
      return Object.fromEntries(own.map(({ metadata, data }) => [metadata.name, data]));
    };
    await helm(['install', 'rel', CHART, ...flags]);
    const first = await secrets();
    expect(Object.keys(first)).to.deep.equal(
      ['elasticsearch', 'keys', 'mongodb', 'nats', 'neo4j'].map((name) => `rel-engram-${name}`),
    );
    await helm(['upgrade', 'rel', CHART, ...flags, '--set', 'defaults.replicas=2']);
    expect(await secrets()).to.deep.equal(first);
    await helm(['uninstall', 'rel', '--namespace', namespace.name, '--no-hooks']);
    expect(await secrets()).to.deep.equal(first);
    await helm(['install', 'rel', CHART, ...flags]);
    expect(await secrets()).to.deep.equal(first);
    await helm(['uninstall', 'rel', '--namespace', namespace.name, '--no-hooks']);
  });

  it('shows the access to the installation in the notes of Helm', async () => {
    await using namespace = await ownNamespace('chart-notes');
    const { stdout, code } = await attemptHelm([
      ...['install', 'rel', CHART, '--namespace', namespace.name, '--dry-run=server'],
      ...['--set', 'crds.enabled=false,ingress.enabled=true,ingress.hosts={engram.test}'],
    ]);
    expect(code).to.equal(0);
    expect(stdout).to.include('API: http://engram.test/docs').and.include('get secret rel-engram-keys');
    expect(stdout).to.include('For trying out only').and.include('trustedProxies is empty');
  });
});

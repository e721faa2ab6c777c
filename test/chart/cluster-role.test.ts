import { expect } from 'chai';
import { kubectl, ownNamespace, withCluster } from './cluster.ts';
import { type Installation, install, RELEASE } from './installation.ts';

/** What would make more of these rights, or show more than the operator's work needs. */
const REFUSED = [
  ...['get nodes', 'get pods/exec', 'create pods/exec', 'create serviceaccounts/token', 'delete configmaps'],
  ...['create roles', 'create rolebindings', 'create clusterroles', 'create clusterrolebindings', 'bind clusterroles'],
  ...['escalate roles', 'impersonate users', 'patch customresourcedefinitions', 'create mutatingwebhookconfigurations'],
];

withCluster('nodes', 'an operator with a ClusterRole', () => {
  if (process.env['ENGRAM_TEST_CLUSTER_ALONE'] !== '1') {
    // It would take the Tenants of everybody else here for its own.
    it.skip('ENGRAM_TEST_CLUSTER_ALONE is not 1: somebody else may use this cluster');
    return;
  }
  let installation: Installation;

  before(async function installs() {
    this.timeout(900_000);
    installation = await install({ operator: {}, ingress: { enabled: false } });
    await installation.apply();
  });
  after(async function uninstalls() {
    this.timeout(120_000);
    await installation?.[Symbol.asyncDispose]();
  });

  it('creates and erases tenants and datasets in any namespace', async function lives() {
    this.timeout(180_000);
    await using tenants = await ownNamespace('chart-tenants');
    await using datasets = await ownNamespace('chart-datasets');
    const group = { apiVersion: 'engram.dev/v1alpha1' };
    const tenant = {
      owner: { email: `owner@${tenants.name}.example.com` },
      deletionPolicy: 'Delete',
      datasetDeletion: 'Cascade',
      apiKeys: [{ name: 'default', secretName: 'acme-key' }],
      datasets: { allowedNamespaces: { from: 'All' } },
    };
    const items = [
      { ...group, kind: 'Tenant', metadata: { name: 'acme', namespace: tenants.name }, spec: tenant },
      {
        ...group,
        kind: 'Dataset',
        metadata: { name: 'notes', namespace: datasets.name },
        spec: { tenantRef: { name: 'acme', namespace: tenants.name }, deletionPolicy: 'Delete' },
      },
    ];
    await kubectl(['apply', '--filename', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
    const inTenants = ['--namespace', tenants.name];
    const ready = ['--for=condition=Ready', '--timeout=120s'];
    await kubectl(['wait', 'tenant/acme', ...inTenants, ...ready]);
    await kubectl(['wait', 'dataset/notes', '--namespace', datasets.name, ...ready]);
    expect(await kubectl(['get', 'secrets', ...inTenants, '--output', 'name'])).to.include('secret/acme-key');

    await kubectl(['delete', 'tenant', 'acme', ...inTenants, '--timeout=120s']);
    expect(await kubectl(['get', 'datasets', '--namespace', datasets.name, '--output', 'name'])).to.equal('');
    const receipts = ['get', 'configmaps', ...inTenants, '--selector', 'engram.dev/receipt=Erased', '--output', 'name'];
    expect(await kubectl(receipts)).to.include('configmap/');
    expect(await kubectl(['get', 'secrets', ...inTenants, '--output', 'name'])).to.not.include('acme-key');
  });

  it('has no wildcard and no right to escalate', async () => {
    const account = `system:serviceaccount:${installation.namespace}:${RELEASE}-engram-operator`;
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'kube-system' },
    };
    const answer = await kubectl(
      ['create', '--validate=false', '--as', account, '--output', 'json', '--filename', '-'],
      {
        input: JSON.stringify(review),
      },
    );
    const { resourceRules } = (JSON.parse(answer) as { status: { resourceRules: readonly Rule[] } }).status;
    const granted = resourceRules.flatMap(({ verbs, resources }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    expect(granted).to.include.members(['list tenants', 'get secrets']);
    expect(granted.filter((right) => right.includes('*') || REFUSED.includes(right))).to.deep.equal([]);
  });
});

interface Rule {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
}

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { DATASET_KIND } from '../../operator/api/dataset.ts';
import { TENANT_KIND, type Tenant } from '../../operator/api/tenant.ts';
import { createKubeClient } from '../../operator/runtime/http-kube-client.ts';
import type { KubeConnection } from '../../operator/runtime/kube-connection.ts';
import { KINDS, type KubeObject, type Secret } from '../../operator/runtime/kube-object.ts';
import { createKubeTransport } from '../../operator/runtime/kube-transport.ts';
import { createRuntimeClock } from '../../operator/runtime/runtime-clock.ts';
import { type Rendered, render } from '../chart/render.ts';
import { until } from '../support/until.ts';
import type { ApiServer } from './api-server.ts';
import { createOperatorWorld, isReady, type OperatorWorld } from './operator-world.ts';
import { describeWithCluster } from './with-cluster.ts';

const LIMIT = { limitMs: 45_000, everyMs: 50 };
const ROLES = '/apis/rbac.authorization.k8s.io/v1';

/** Where the rights of the operator's service account are, by kind. */
const PLURALS: Readonly<Record<string, string>> = {
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};

/** The operator as the chart installs it: as its own service account, with the rights of the chart and no others. */
describeWithCluster("the operator with the chart's rights", (server) => {
  let api: ApiServer;
  let home: string;
  let namespace: string;
  let world: OperatorWorld;
  let clusterWide: string[] = [];

  before(async () => {
    api = server();
    await api.applyCrds();
  });
  beforeEach(async () => {
    home = await api.newNamespace();
    namespace = await api.newNamespace({ 'example.com/tenant': 'yes' });
    world = await createOperatorWorld(namespace);
  });
  afterEach(async () => {
    await world.close();
    const [datasets, tenants] = [await world.datasets(), await world.tenants()];
    for (const { metadata } of datasets) await world.client.patch(DATASET_KIND, metadata, NO_FINALIZERS);
    for (const { metadata } of tenants) await world.client.patch(TENANT_KIND, metadata, NO_FINALIZERS);
    await Promise.all(clusterWide.map((path) => api.send('DELETE', path)));
    clusterWide = [];
  });

  async function install(values: object): Promise<KubeConnection> {
    const release = `r-${randomBytes(4).toString('hex')}`;
    const objects = await render({ ci: 'minimal', release, namespace: home, values });
    const rights = objects.filter(({ kind, metadata }) => kind in PLURALS && metadata.name.includes('operator'));
    expect(rights).not.to.deep.equal([]);
    for (const object of rights) await apply(object);
    const account = rights.flatMap((object) => (object['subjects'] as { name: string }[] | undefined) ?? [])[0]?.name;
    const accounts = `/api/v1/namespaces/${home}/serviceaccounts`;
    await api.send('POST', accounts, { metadata: { name: account } });
    const { body } = await api.send('POST', `${accounts}/${account}/token`, { spec: { expirationSeconds: 3600 } });
    const { token } = body['status'] as { token: string };
    const { tls } = await world.connection.credentials();
    return {
      server: world.connection.server,
      credentials: async () => ({
        headers: { authorization: `Bearer ${token}` },
        tls: tls.ca === undefined ? {} : { ca: tls.ca },
      }),
    };
  }

  async function apply(object: Rendered): Promise<void> {
    const place = object.metadata.namespace === undefined ? '' : `/namespaces/${object.metadata.namespace}`;
    const path = `${ROLES}${place}/${PLURALS[object.kind]}/${object.metadata.name}`;
    if (place === '') clusterWide.push(path);
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const { status, body } = await api.send('PATCH', `${path}?fieldManager=engram-tests&force=true`, object, headers);
    expect(status, JSON.stringify(body)).to.be.lessThan(300);
  }

  async function seesEverything(connection: KubeConnection): Promise<void> {
    const transport = createKubeTransport({ connection, clock: createRuntimeClock(), userAgent: 'engram-tests' });
    const client = createKubeClient({ transport, fieldManager: 'engram-tests' });
    const labelSelector = 'app.kubernetes.io/managed-by=nobody';
    for (const kind of [TENANT_KIND, DATASET_KIND, KINDS.secret]) {
      const { resourceVersion } = await client.list(kind, { labelSelector });
      const watch = { labelSelector, resourceVersion, timeoutSeconds: 1, signal: new AbortController().signal };
      for await (const _ of client.watch(kind, watch)) break;
    }
    transport.close();
  }

  const tenant = () => world.client.get<Tenant>(TENANT_KIND, { name: 'acme', namespace });

  /** All that a tenant and its datasets ask of the API server. */
  async function live(allowedNamespaces: Tenant['spec']['datasets']['allowedNamespaces']): Promise<void> {
    const secretName = 'acme-key';
    await world.createTenant('acme', {
      ...{ apiKeys: [{ name: 'default', secretName }], quotas: { items: 5, action: 'Enforce' } },
      ...{ deletionPolicy: 'Delete', datasetDeletion: 'Cascade', datasets: { allowedNamespaces } },
      routing: { type: 'Ingress', hostname: 'acme.example.com' },
    });
    await world.createDataset('tickets', 'acme', { deletionPolicy: 'Delete', prompt: { inline: 'Find tickets.' } });
    await until(
      'tenant and dataset are ready',
      async () => [...(await world.tenants()), ...(await world.datasets())].every(isReady),
      LIMIT,
    );
    const { routeObject } = (await tenant())?.status ?? {};
    expect(routeObject).to.deep.include({ kind: 'Ingress', namespace: home });
    const key = await world.client.get<Secret>(KINDS.secret, { name: secretName, namespace });
    expect(key?.data).to.have.all.keys('apiKey');

    const routing = { type: 'HTTPRoute', parentRefs: [{ name: 'nobodys' }] };
    await world.client.patch(TENANT_KIND, { name: 'acme', namespace }, { spec: { routing } });
    await until('it has an HTTPRoute', async () => (await tenant())?.status?.routeObject?.kind === 'HTTPRoute', LIMIT);
    const { items } = await world.client.list<KubeObject>(KINDS.event, { namespace });
    expect(items.length).to.be.greaterThan(0);

    await world.client.delete(TENANT_KIND, { name: 'acme', namespace });
    await until(
      'all are gone',
      async () => (await world.tenants()).length + (await world.datasets()).length === 0,
      LIMIT,
    );
    const receipts = await world.client.list(KINDS.configMap, { namespace, labelSelector: 'engram.dev/receipt' });
    expect(receipts.items).to.have.length(2);
    expect((await world.client.list(KINDS.httpRoute, { namespace: home })).items).to.deep.equal([]);
  }

  it('works in the whole cluster', async () => {
    const connection = await install({});
    // What others have in the cluster is left alone: it may only see it.
    await seesEverything(connection);
    world.run({ connection, home });
    await live({ from: 'Selector', selector: { matchLabels: { 'example.com/tenant': 'yes' } } });
  });

  it('works in some namespaces with Roles alone', async () => {
    const connection = await install({ operator: { watchNamespaces: [namespace] } });
    expect(clusterWide).to.deep.equal([]);
    world.run({ connection, home });
    await live({ from: 'Same' });
  });
});

const NO_FINALIZERS = { metadata: { finalizers: null } };

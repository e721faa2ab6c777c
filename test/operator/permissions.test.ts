import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DATASET_KIND } from '../../operator/api/dataset.ts';
import { TENANT_KIND, type Tenant } from '../../operator/api/tenant.ts';
import { POD_DEFAULTS } from '../../operator/dedicated/options.ts';
import { findCondition } from '../../operator/kube-runtime/conditions.ts';
import { createKubeClient } from '../../operator/kube-runtime/http-kube-client.ts';
import type { KubeConnection } from '../../operator/kube-runtime/kube-connection.ts';
import { KINDS, type KubeObject, type ResourceKind, type Secret } from '../../operator/kube-runtime/kube-object.ts';
import { createKubeTransport } from '../../operator/kube-runtime/kube-transport.ts';
import { createRuntimeClock } from '../../operator/kube-runtime/runtime-clock.ts';
import { type Rendered, render } from '../chart/render.ts';
import { createFakeAdministrators } from '../support/kube/fake-administrators.ts';
import { until } from '../support/until.ts';
import type { ApiServer } from './api-server.ts';
import { createOperatorWorld, isReady, type OperatorWorld } from './operator-world.ts';
import { describeWithCluster } from './with-cluster.ts';

const LIMIT = { limitMs: 45_000, everyMs: 50 };
const ROLES = '/apis/rbac.authorization.k8s.io/v1';

/** Namespaces of the permissions of the operator's service account, by kind. */
const PLURALS: Readonly<Record<string, string>> = {
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};

/** The operator with the service account and permissions of the chart. */
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

  /** Exercises all requests that a tenant and its datasets cause. */
  async function live(allowedNamespaces: Tenant['spec']['datasets']['allowedNamespaces']): Promise<void> {
    const secretName = 'acme-key';
    await world.createTenant('acme', {
      apiKeys: [{ name: 'default', secretName }],
      quotas: { items: 5, action: 'Enforce' },
      deletionPolicy: 'Delete',
      datasetDeletion: 'Cascade',
      datasets: { allowedNamespaces },
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

  it('works with a ClusterRole', async () => {
    const connection = await install({});
    // What others have in the cluster is left alone: it may only see it.
    await seesEverything(connection);
    world.run({ connection, home });
    await live({ from: 'Selector', selector: { matchLabels: { 'example.com/tenant': 'yes' } } });
  });

  it('works in some namespaces with Roles only', async () => {
    const connection = await install({ operator: { watchNamespaces: [namespace] } });
    expect(clusterWide).to.deep.equal([]);
    world.run({ connection, home });
    await live({ from: 'Same' });
  });

  it('runs a Dedicated tenant with Roles only, and reports problems of its pods', async () => {
    const dedicated = { enabled: true, existingSecret: 'administrators' };
    const connection = await install({ operator: { watchNamespaces: [namespace], dedicated } });
    const administrators = createFakeAdministrators();
    let image = 'localhost/engram/nobody:made-this';
    world.run({
      connection,
      home,
      dedicated: {
        get image() {
          return image;
        },
        settings: { LOG_LEVEL: 'info' },
        pods: POD_DEFAULTS,
        network: { clients: [], stores: [] },
        stores: { available: true, administrators },
      },
    });
    await world.createTenant('acme', {
      isolation: 'Dedicated',
      scaling: { search: { min: 1, max: 3, targetCPU: 70 } },
      routing: { type: 'Ingress', hostname: 'acme.example.com' },
      deletionPolicy: 'Delete',
    });
    const workloads = () => condition('WorkloadsReady');
    // Without a node there is no room; with one there is no such image.
    const isHeldUp = async () =>
      /^(Unschedulable|ImagePullBackOff|ErrImageNeverPull)$/.test((await workloads())?.reason ?? '');
    await until('the condition names what holds up its pods', isHeldUp, LIMIT);
    expect((await workloads())?.message).to.match(/^Deployment tenant-acme-auth waits for its pod: /);
    const deployments = await owned(KINDS.deployment);
    expect(deployments.map(({ metadata }) => metadata.name)).to.have.length(6);
    for (const [kind, count] of OBJECTS) expect(await owned(kind), kind.kind).to.have.length(count);
    const search = deployments.find(({ metadata }) => metadata.name === 'tenant-acme-search');
    expect(search?.metadata.managedFields?.[0]).to.include({ operation: 'Apply' });

    // What it applies again is what is there: a server that fills in defaults has nothing to write.
    const before = new Map(deployments.map(({ metadata }) => [metadata.name, metadata.generation]));
    const lookAgain = async (value: string) => {
      const annotations = { 'engram.dev/reconcile-at': value };
      await world.client.patch(TENANT_KIND, { name: 'acme', namespace }, { metadata: { annotations } });
      await until('it looked again', async () => (await tenant())?.status?.lastHandledReconcileAt === value, LIMIT);
    };
    await lookAgain('now');
    for (const { metadata } of await owned(KINDS.deployment)) {
      expect(metadata.generation, metadata.name).to.equal(before.get(metadata.name));
    }

    // Another release migrates the stores first, by one Job, which is not changed by looking again.
    image = 'localhost/engram/nobody:made-that';
    await lookAgain('for the new release');
    await lookAgain('once more');
    expect(await owned(KINDS.job)).to.have.length(1);
    const migration = async () => (await condition('Reconciling'))?.message ?? '';
    await until(
      'the condition names what holds up the migration',
      async () => /^Job \S+ waits for its pod: /.test(await migration()),
      LIMIT,
    );
    for (const { metadata } of await owned(KINDS.deployment)) {
      expect(metadata.generation, metadata.name).to.equal(before.get(metadata.name));
    }

    await world.client.delete(TENANT_KIND, { name: 'acme', namespace });
    await until('it is gone', async () => (await tenant()) === null, LIMIT);
    expect(administrators.flatMap(({ realms }) => [...realms.keys()])).to.deep.equal([]);
    for (const kind of [...OBJECTS.map(([one]) => one), KINDS.job]) {
      expect(await owned(kind), kind.kind).to.deep.equal([]);
    }
    expect((await world.client.list(KINDS.secret, { namespace })).items).to.deep.equal([]);
  });

  it('keeps the keys of a Dedicated tenant whose namespace is deleted, for adoption', async () => {
    const dedicated = { enabled: true, existingSecret: 'administrators' };
    const connection = await install({ operator: { dedicated } });
    const administrators = createFakeAdministrators();
    world.run({
      connection,
      home,
      dedicated: {
        image: 'localhost/engram/nobody:made-this',
        settings: {},
        pods: POD_DEFAULTS,
        network: { clients: [], stores: [] },
        stores: { available: true, administrators },
      },
    });
    const keys = async () => {
      const { items } = await world.client.list<Secret>(KINDS.secret, { namespace, labelSelector: 'engram.dev/realm' });
      return items[0]?.data?.['ENGRAM_ROOT_KEYS'];
    };
    await world.createTenant('acme', { isolation: 'Dedicated' });
    await until('it has Deployments', async () => (await owned(KINDS.deployment)).length === 6, LIMIT);
    const before = await keys();
    expect(before).to.be.a('string');
    // As its services would say, if there were any.
    const tenantId = randomUUID();
    await world.client.patchStatus(TENANT_KIND, { name: 'acme', namespace }, { tenantId });
    const annotations = { 'engram.dev/reconcile-at': 'now' };
    await world.client.patch(TENANT_KIND, { name: 'acme', namespace }, { metadata: { annotations } });
    const records = async () =>
      (
        await world.client.list(KINDS.secret, {
          namespace: home,
          labelSelector: `engram.dev/realm-of-tenant=${tenantId}`,
        })
      ).items;
    await until('its id is known', async () => (await records()).length === 1, LIMIT);

    await api.send('DELETE', `/api/v1/namespaces/${namespace}`);
    const isGone = async () => (await api.send('GET', `/api/v1/namespaces/${namespace}`)).status === 404;
    await until('the namespace is gone', isGone, { ...LIMIT, limitMs: 120_000 });
    expect(administrators.map(({ realms }) => realms.size)).to.deep.equal([1, 1, 1, 1]);
    const metadata = { name: namespace };
    expect((await api.send('POST', '/api/v1/namespaces', { metadata })).status).to.equal(201);
    await world.createTenant('acme', { isolation: 'Dedicated', tenantId });
    await until('the keys are back', async () => (await keys()) !== undefined, LIMIT);
    expect(await keys()).to.equal(before);
    await until('its processes are made', async () => (await owned(KINDS.deployment)).length === 6, LIMIT);
  });

  const condition = async (type: string) => findCondition((await tenant())?.status?.conditions, type);
  const owned = async (kind: ResourceKind) =>
    (await world.client.list<Managed>(kind, { namespace, labelSelector: 'app.kubernetes.io/name=engram-tenant' }))
      .items;
});

interface Managed extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly managedFields?: readonly { readonly operation: string }[] };
}

/** How many of each kind a tenant with one autoscaler has. */
const OBJECTS: readonly (readonly [ResourceKind, number])[] = [
  [KINDS.deployment, 6],
  [KINDS.service, 6],
  [KINDS.podDisruptionBudget, 6],
  [KINDS.horizontalPodAutoscaler, 1],
  [KINDS.networkPolicy, 2],
  [KINDS.serviceAccount, 1],
];

const NO_FINALIZERS = { metadata: { finalizers: null } };

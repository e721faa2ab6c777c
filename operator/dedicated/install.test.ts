import { expect } from 'chai';
import { SERVICE_NAMES } from '../../services/common/domain/service-paths.ts';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createFakeAdministrators, type FakeAdministrator } from '../../test/support/kube/fake-administrators.ts';
import { runEverything, stopEverything } from '../../test/support/kube/fake-workloads.ts';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND } from '../api/tenant.ts';
import { KINDS, type KubeObject, type ResourceKind } from '../kube-runtime/kube-object.ts';
import { type DedicatedOptions, POD_DEFAULTS } from './options.ts';

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: Readonly<Record<string, string>>;
    readonly template?: { readonly metadata: KubeObject['metadata']; readonly spec: PodSpec };
  };
}

interface PodSpec {
  readonly containers: readonly {
    readonly image: string;
    readonly resources?: object;
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  }[];
}

const apiKeys = [{ name: 'default', secretName: 'key' }];

describe('installation of a Dedicated tenant', () => {
  let world: TenantWorld;
  let administrators: readonly FakeAdministrator[];
  const options = (more: Partial<DedicatedOptions> = {}): DedicatedOptions => ({
    image: 'registry.example.com/engram:1',
    settings: { LOG_LEVEL: 'debug' },
    pods: POD_DEFAULTS,
    network: { clients: [], stores: [{ ports: [{ port: 27017, protocol: 'TCP' }] }] },
    stores: { available: true, administrators },
    ...more,
  });
  beforeEach(async () => {
    administrators = createFakeAdministrators();
    world = await createTenantWorld({ dedicated: options() });
  });
  afterEach(() => world.close());

  const named = <T extends KubeObject = Workload>(kind: ResourceKind, name: string) =>
    world.kube.read<T>(kind, { ...PLACE, name });
  const live = (kind: ResourceKind) => world.live<Workload>(kind);
  const names = (kind: ResourceKind) => live(kind).map(({ metadata }) => metadata.name);
  const variablesOf = (service: string) =>
    named(KINDS.deployment, `tenant-acme-${service}`)?.spec.template?.spec.containers[0]?.env ?? [];
  const keysSecret = () =>
    live(KINDS.secret).find(({ metadata }) => metadata.labels?.['engram.dev/realm'] !== undefined);
  const becomeReady = async () => {
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
  };
  const dedicated = { isolation: 'Dedicated', apiKeys } as const;

  it('provisions the stores, then applies the objects, then calls the services', async () => {
    world.put(dedicated);
    await world.reconcile();
    expect(world.conditions()).to.include({
      Ready: 'False ProvisioningStores',
      Reconciling: 'True ProvisioningStores',
      StoresProvisioned: 'True Provisioned',
      WorkloadsReady: 'False Starting',
    });
    expect(world.own.calls).to.deep.equal([]);
    runEverything(world.kube);
    await world.reconcile();
    expect(world.conditions()).to.include({
      Ready: 'True Available',
      StoresProvisioned: 'True Provisioned',
      CredentialsReady: 'True Issued',
      Routed: 'True NotRequested',
      WorkloadsReady: 'True Available',
    });
    expect(world.services.calls).to.deep.equal([]);
    expect([...world.own.tenants.values()].map(({ name }) => name)).to.deep.equal(['acme']);
    expect(world.secretValue('key', 'apiKey')).to.match(/^[0-9a-f]{64}$/);
    const { realm, stores, secrets } = world.read()?.status ?? {};
    expect(stores?.find(({ role }) => role === 'Documents')).to.deep.equal({
      role: 'Documents',
      driver: 'mongodb',
      name: realm,
      isolation: 'Database',
      ownCredentials: true,
    });
    expect(secrets?.map(({ purpose }) => purpose)).to.have.members(['InstallationKeys', 'OwnerPassword', 'ApiKey']);
  });

  it('creates a Deployment, a Service and a disruption budget for each service', async () => {
    world.put(dedicated);
    await world.reconcile();
    const wanted = SERVICE_NAMES.map((service) => `tenant-acme-${service}`);
    for (const kind of [KINDS.deployment, KINDS.service, KINDS.podDisruptionBudget]) {
      expect(names(kind), kind.kind).to.have.members(wanted);
    }
    expect(names(KINDS.networkPolicy)).to.have.members(['tenant-acme-deny', 'tenant-acme-allow']);
    expect(named(KINDS.serviceAccount, 'tenant-acme-services')).to.include({ automountServiceAccountToken: false });
    for (const { metadata } of [...live(KINDS.deployment), ...live(KINDS.service)]) {
      expect(metadata.ownerReferences?.[0]).to.include({
        kind: 'Tenant',
        name: 'acme',
        uid: world.read()?.metadata.uid,
      });
    }
    expect(variablesOf('search')).to.deep.include.members([
      { name: 'ENGRAM_SERVICES', value: 'search' },
      { name: 'ENGRAM_STORES', value: 'cluster' },
      { name: 'LOG_LEVEL', value: 'debug' },
      { name: 'ENGRAM_NATS_CA_FILE', value: '/files/ENGRAM_NATS_CA_FILE' },
    ]);
    const urls = variablesOf('integrations').find(({ name }) => name === 'ENGRAM_SERVICE_URLS')?.value ?? '{}';
    expect(JSON.parse(urls)).to.include({ search: 'http://tenant-acme-search:8000' }).and.have.all.keys(SERVICE_NAMES);
  });

  it('writes secrets only into Secrets, and gives each service only those that it needs', async () => {
    world.put(dedicated);
    await becomeReady();
    const secrets = live(KINDS.secret).flatMap(({ data = {} }: Workload & { readonly data?: Record<string, string> }) =>
      Object.entries(data)
        .filter(([key]) => /PASSWORD|password|SECRET|ROOT_KEYS|apiKey/.test(key))
        .map(([, value]) => Buffer.from(value, 'base64').toString()),
    );
    expect(secrets.length).to.be.greaterThan(8);
    const rest = [KINDS.deployment, KINDS.service, KINDS.networkPolicy].flatMap((kind) => live(kind));
    const shown = JSON.stringify([rest, world.read(), world.notes, live(KINDS.secret).map(({ metadata }) => metadata)]);
    for (const secret of secrets) expect(shown).not.to.include(secret);
    const has = (service: string, name: string) => variablesOf(service).some((variable) => variable.name === name);
    expect(has('auth', 'FASTAPI_USERS_JWT_SECRET')).to.equal(true);
    expect(has('search', 'FASTAPI_USERS_JWT_SECRET')).to.equal(false);
    expect(SERVICE_NAMES.every((service) => has(service, 'ENGRAM_ROOT_KEYS'))).to.equal(true);
  });

  it('calls no store while nothing changes, and provisions again every ten minutes', async () => {
    world.put(dedicated);
    await becomeReady();
    await world.reconcile();
    const [writes, statusWrites] = [world.kube.store.version(), world.statusWrites()];
    const ensured = administrators[0]?.ensured;
    await world.reconcile();
    expect(administrators[0]?.ensured).to.equal(ensured);
    await world.clock.advance(600_000);
    await world.reconcile();
    expect(administrators[0]?.ensured).to.equal((ensured ?? 0) + 1);
    expect([world.kube.store.version(), world.statusWrites()]).to.deep.equal([writes, statusWrites]);
  });

  it('keeps generated values and passwords of stores', async () => {
    world.put(dedicated);
    await world.reconcile();
    const [before, given] = [keysSecret(), [...(administrators[0]?.realms.values() ?? [])][0]];
    await world.clock.advance(600_000);
    await world.reconcile();
    expect((keysSecret() as { data?: unknown } | undefined)?.data).to.deep.equal((before as { data?: unknown }).data);
    expect([...(administrators[0]?.realms.values() ?? [])][0]).to.deep.equal(given);
  });

  it('does not take the name of its realm from a label', async () => {
    world.put(dedicated);
    await world.reconcile();
    const { realm } = world.read()?.status ?? {};
    const labels = { 'engram.dev/realm': 'tofanothertenant' };
    world.kube.change(KINDS.secret, { ...PLACE, name: keysSecret()?.metadata.name ?? '' }, { metadata: { labels } });
    await world.clock.advance(600_000);
    await world.reconcile();
    expect(world.read()?.status?.realm).to.equal(realm);
    expect([...(administrators[0]?.realms.keys() ?? [])]).to.deep.equal([realm]);
  });

  it('replaces pods and reconnects when the Secrets change', async () => {
    world.put(dedicated);
    await becomeReady();
    const annotation = () =>
      named(KINDS.deployment, 'tenant-acme-auth')?.spec.template?.metadata.annotations?.['checksum/secrets'];
    const before = annotation();
    expect(world.opened).to.have.length(1);
    const [mongodb] = administrators;
    if (mongodb === undefined) throw new Error('No administrator.');
    const name = keysSecret()?.metadata.name ?? '';
    const data = { 'nats-password': Buffer.from('another-password-than-before').toString('base64') };
    world.kube.change(KINDS.secret, { ...PLACE, name }, { data });
    await world.reconcile();
    expect(annotation()).not.to.equal(before);
    await world.reconcile();
    expect(world.opened).to.have.length(2);
    expect(world.opened[1]?.secrets['ENGRAM_NATS_PASSWORD']).to.equal('another-password-than-before');
    expect(world.opened[1]?.secrets['ENGRAM_MONGODB_PASSWORD']).to.equal(undefined);
  });

  it('reports missing settings and creates nothing', async () => {
    await world.close();
    for (const [more, says] of [
      [{ image: null }, 'operator.dedicated.enabled'],
      [
        { stores: { available: false, reason: 'ENGRAM_X is not set: it names an administrator' } },
        'ENGRAM_X is not set',
      ],
    ] as const) {
      world = await createTenantWorld({ dedicated: options(more) });
      world.put(dedicated);
      await world.reconcile();
      expect(world.conditions()).to.include({
        Ready: 'False IsolationUnsupported',
        Stalled: 'True IsolationUnsupported',
      });
      expect(world.condition('StoresProvisioned')?.message).to.include(says);
      expect(live(KINDS.secret)).to.deep.equal([]);
      // And it can be deleted.
      world.kube.remove(TENANT_KIND, PLACE);
      await world.reconcile();
      expect(world.read()).to.equal(undefined);
      await world.close();
    }
    world = await createTenantWorld({ dedicated: options() });
  });

  it('waits for a store that does not answer, and stalls when one refuses its administrator', async () => {
    const [, , elasticsearch] = administrators;
    if (elasticsearch === undefined) throw new Error('No administrator.');
    world.put(dedicated);
    elasticsearch.failure = engramError('ServiceUnavailableError', 'Elasticsearch is away.', { retryable: true });
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({ StoresProvisioned: 'False StoreUnreachable' });
    expect(names(KINDS.deployment)).to.deep.equal([]);
    for (const [name, says] of [
      ['ServiceUnavailableError', 'It refuses: look at ENGRAM_Y.'],
      ['UnsupportedOperationError', 'It has no users: turn ENGRAM_Y on.'],
    ] as const) {
      elasticsearch.failure = engramError(name, says);
      await world.reconcile();
      expect(world.conditions()).to.include({ Stalled: 'True IsolationUnsupported' });
      expect(world.condition('StoresProvisioned')?.message).to.include('ENGRAM_Y');
    }
    elasticsearch.failure = null;
    await becomeReady();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });

  it('checks the isolation of its stores before any pod is created', async () => {
    world.put({ ...dedicated, minimumIsolation: 'Index' });
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True IsolationUnsupported' });
    expect(world.condition('Stalled')?.message).to.include('Bus (nats: Label), Graph (neo4j: Label)');
    expect(world.read()?.status?.stores).to.have.length(6);
    expect(names(KINDS.deployment)).to.deep.equal([]);
  });

  it('reports the Deployment whose pods do not start, and why', async () => {
    world.put(dedicated);
    await world.reconcile();
    runEverything(world.kube);
    stopEverything(world.kube, 'tenant-acme-auth', { waiting: 'ErrImagePull' });
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({
      WorkloadsReady: 'False ImagePullBackOff',
      Ready: 'False ImagePullBackOff',
    });
    expect(world.condition('WorkloadsReady')?.message).to.equal(
      'Deployment tenant-acme-auth waits for its pod: ImagePullBackOff; check the image and the pull Secrets',
    );
    const writes = world.statusWrites();
    stopEverything(world.kube, 'tenant-acme-auth', { waiting: 'ImagePullBackOff' });
    await world.reconcile();
    expect(world.statusWrites()).to.equal(writes);
    stopEverything(world.kube, 'tenant-acme-auth', { unschedulable: '0/1 nodes are available: 1 Insufficient cpu.' });
    await world.reconcile();
    expect(world.condition('WorkloadsReady')?.message).to.include('Unschedulable (0/1 nodes are available');
    runEverything(world.kube);
    await world.reconcile();
    expect(world.conditions()).to.include({ WorkloadsReady: 'True Available', Ready: 'True Available' });
  });

  it('leaves the number of replicas to a declared autoscaler', async () => {
    const scaling = { search: { min: 2, max: 5, targetCPU: 60 } };
    world.put({ ...dedicated, scaling });
    await world.reconcile();
    expect(named(KINDS.deployment, 'tenant-acme-search')?.spec.replicas).to.equal(undefined);
    expect(named(KINDS.deployment, 'tenant-acme-auth')?.spec.replicas).to.equal(1);
    expect(named(KINDS.horizontalPodAutoscaler, 'tenant-acme-search')?.spec).to.deep.include({
      minReplicas: 2,
      maxReplicas: 5,
    });
    world.kube.change(KINDS.deployment, { ...PLACE, name: 'tenant-acme-search' }, { spec: { replicas: 4 } });
    await world.reconcile();
    expect(named(KINDS.deployment, 'tenant-acme-search')?.spec.replicas).to.equal(4);
    world.change({ spec: { scaling: null } });
    await world.reconcile();
    expect(names(KINDS.horizontalPodAutoscaler)).to.deep.equal([]);
    expect(named(KINDS.deployment, 'tenant-acme-search')?.spec.replicas).to.equal(1);
  });

  it('uses resources of the Tenant for a service, otherwise those of the chart', async () => {
    const resources = (service: string) =>
      named(KINDS.deployment, `tenant-acme-${service}`)?.spec.template?.spec.containers[0]?.resources;
    world.put({ ...dedicated, resources: { cognify: { requests: { cpu: '500m' }, limits: { memory: '2Gi' } } } });
    await world.reconcile();
    expect(resources('search')).to.deep.equal(POD_DEFAULTS.spec.containers[0]?.resources);
    expect(resources('cognify')).to.deep.equal({
      requests: { cpu: '500m', memory: '192Mi' },
      limits: { memory: '2Gi' },
    });
  });

  it('denies all traffic that is not listed, unless policy is None', async () => {
    world.put({ ...dedicated, network: { policy: 'Managed', egress: { allowCIDRs: ['10.1.0.0/16'] } } });
    await world.reconcile();
    const allow = named<KubeObject & { readonly spec: unknown }>(KINDS.networkPolicy, 'tenant-acme-allow')?.spec;
    expect(allow)
      .to.have.nested.property('egress[1]')
      .that.deep.equals({ ports: [{ port: 27017, protocol: 'TCP' }] });
    expect(allow)
      .to.have.nested.property('egress[2]')
      .that.deep.equals({ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] });
    const deny = named<KubeObject & { readonly spec: object }>(KINDS.networkPolicy, 'tenant-acme-deny')?.spec;
    expect(deny)
      .to.deep.include({ policyTypes: ['Ingress', 'Egress'] })
      .and.not.have.property('ingress');
    world.change({ spec: { network: { policy: 'None', egress: null } } });
    await world.reconcile();
    expect(names(KINDS.networkPolicy)).to.deep.equal([]);
  });

  it('routes to the Services in its own namespace', async () => {
    world.put({ ...dedicated, routing: { type: 'Ingress', hostname: 'acme.example.com' } });
    await becomeReady();
    const [ingress] = world.objects('ingresses');
    expect(ingress?.metadata).to.include({ namespace: 'memory' });
    expect(JSON.stringify(ingress)).to.include('"tenant-acme-search"').and.not.include('"engram-search"');
    expect(world.read()?.status?.url).to.equal('http://acme.example.com');
  });

  it('scales to zero while hibernated, with the activator answering, and wakes without a gap', async () => {
    world.put({ ...dedicated, routing: { type: 'Ingress', hostname: 'acme.example.com' } });
    await becomeReady();
    const target = () => named(KINDS.service, 'tenant-acme-search')?.spec.selector?.[COMPONENT];
    expect(target()).to.equal('search');
    world.change({ spec: { state: 'Hibernated' } });
    const calls = world.own.calls.length;
    await world.reconcile();
    expect([target(), world.condition('Ready')?.reason]).to.deep.equal(['search', 'Hibernating']);
    runEverything(world.kube);
    await world.reconcile();
    expect(
      live(KINDS.deployment)
        .filter(({ spec }) => spec.replicas !== 0)
        .map(({ metadata }) => metadata.name),
    ).to.deep.equal(['tenant-acme-asleep']);
    expect(target()).to.equal('asleep');
    expect(world.conditions()).to.include({ Ready: 'False Hibernated', WorkloadsReady: 'False Hibernated' });
    expect(world.read()?.status?.state).to.equal('Hibernated');
    expect(world.objects('ingresses')).to.have.length(1);
    expect(world.own.calls).to.have.length(calls);

    world.change({ spec: { state: 'Active' } });
    runEverything(world.kube, 0);
    await world.reconcile();
    expect(named(KINDS.deployment, 'tenant-acme-auth')?.spec.replicas).to.equal(1);
    expect([target(), world.condition('Ready')?.reason]).to.deep.equal(['asleep', 'WorkloadsStarting']);
    runEverything(world.kube);
    await world.reconcile();
    expect(target()).to.equal('search');
    expect(names(KINDS.deployment)).not.to.include('tenant-acme-asleep');
    expect(world.conditions()).to.include({ Ready: 'True Available', WorkloadsReady: 'True Available' });
  });
});

const COMPONENT = 'app.kubernetes.io/component';

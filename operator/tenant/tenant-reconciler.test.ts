import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import { completeSpec, createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import { KINDS } from '../kube-runtime/kube-object.ts';

const ADOPTED = '6f1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10';

describe('reconciler of tenants', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const onlyTenant = () => [...world.services.tenants.values()][0];

  it('creates the tenant with its owner, whose password is in a Secret before it is used', async () => {
    world.services.before['ensureTenant'] = () => {
      expect(world.secretValue('acme-owner', 'password')).to.have.length(32);
    };
    world.put({ displayName: 'Acme Corp' });
    await world.reconcile();
    const tenant = onlyTenant();
    expect(tenant).to.include({ name: 'Acme Corp', ownerEmail: 'admin@acme.example.com', state: 'Active' });
    expect(world.secretValue('acme-owner', 'email')).to.equal('admin@acme.example.com');
    const account = world.services.accounts.get('admin@acme.example.com');
    expect(account?.password).to.equal(world.secretValue('acme-owner', 'password'));
    expect(world.read()?.status).to.deep.include({
      tenantId: tenant?.id,
      ownerId: tenant?.ownerId,
      observedGeneration: 1,
    });
    expect(world.conditions()).to.deep.equal({
      Ready: 'True Available',
      StoresProvisioned: 'True Provisioned',
      CredentialsReady: 'True Issued',
      Routed: 'True NotRequested',
      IsolationVerified: 'Unknown NotChecked',
    });
  });

  it('writes nothing while nothing changes', async () => {
    world.put({ apiKeys: [{ name: 'default', secretName: 'key' }], quotas: { items: 5, action: 'Enforce' } });
    await world.reconcile();
    const [statusWrites, writes] = [world.statusWrites(), world.writes()];
    expect(statusWrites).to.equal(1);
    for (let round = 0; round < 3; round += 1) {
      await world.clock.advance(600_000);
      await world.reconcile();
    }
    expect([world.statusWrites(), world.writes()]).to.deep.equal([statusWrites, writes]);
  });

  it('reconciles a tenant every ten minutes, ± 10 %', async () => {
    world.put();
    const { requeueAfterMs } = await world.reconcile();
    expect(requeueAfterMs).to.be.within(540_000, 660_000);
  });

  it('uses the password of the named Secret, and reports it when it is missing', async () => {
    world.put({ owner: { email: 'a@example.com', passwordSecretRef: { name: 'mine', key: 'pw' } } });
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({
      CredentialsReady: 'False SecretMissing',
      Ready: 'False SecretMissing',
      Reconciling: 'True SecretMissing',
    });
    expect(world.condition('CredentialsReady')?.message).to.equal(
      "No Secret mine has the owner's password under pw: create it, or add that key to it",
    );
    expect(world.services.tenants.size).to.equal(0);
    const pw = Buffer.from('hunter2hunter2').toString('base64');
    world.kube.put(KINDS.secret, { ...SECRET, metadata: { ...PLACE, name: 'mine' }, data: { pw } } as typeof SECRET);
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', CredentialsReady: 'True Issued' });
    expect(world.services.accounts.get('a@example.com')?.password).to.equal('hunter2hunter2');
    expect(world.secret('acme-owner')).to.equal(undefined);
  });

  it('sends the owner’s password only while the account may be new', async () => {
    world.put();
    await world.reconcile();
    await world.reconcile();
    const sent = world.services.calls
      .filter(({ method }) => method === 'ensureTenant')
      .map(({ request }) => 'ownerPassword' in (request as object));
    expect(sent).to.deep.equal([true, false]);
  });

  it('sends the owner’s password again when auth has no such account', async () => {
    world.put();
    await world.reconcile();
    world.services.accounts.clear();
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    world.change({ spec: { owner: { email: 'next@acme.example.com' } } });
    world.services.fail('ensureTenant', unavailable());
    expect(await world.reconcile()).to.include({ retry: true });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect([...world.services.accounts.keys()]).to.deep.equal(['admin@acme.example.com', 'next@acme.example.com']);
  });

  it('updates the owner’s e-mail address in the generated Secret', async () => {
    world.put();
    await world.reconcile();
    world.change({ spec: { owner: { email: 'next@acme.example.com' } } });
    await world.reconcile();
    expect(world.secretValue('acme-owner', 'email')).to.equal('next@acme.example.com');
    const account = world.services.accounts.get('next@acme.example.com');
    expect(account?.password).to.equal(world.secretValue('acme-owner', 'password'));
    expect(onlyTenant()?.ownerId).to.equal(account?.id);
  });

  it('does not generate the password again after its Secret was deleted', async () => {
    world.put();
    await world.reconcile();
    world.kube.remove(KINDS.secret, { ...PLACE, name: 'acme-owner' });
    await world.reconcile();
    expect(world.secret('acme-owner')).to.equal(undefined);
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });

  it('adopts an existing tenant without changing it', async () => {
    const old = world.services.addTenant(ADOPTED);
    old.keys.set('by-hand', ['00']);
    old.used.items = 7;
    world.put({ tenantId: ADOPTED });
    await world.reconcile();
    expect(world.read()?.status?.tenantId).to.equal(ADOPTED);
    expect(world.read()?.status?.usage?.items).to.equal(7);
    expect(onlyTenant()?.keys.get('by-hand')).to.deep.equal(['00']);
    expect(world.notes.map(({ reason }) => reason)).to.include('TenantAdopted');
  });

  it('stalls on a tenant that another resource manages, without touching it', async () => {
    world.services.addTenant(ADOPTED);
    world.put({ tenantId: ADOPTED }, { name: 'first', namespace: 'memory' });
    await world.reconcile('memory/first');
    world.put({ tenantId: ADOPTED, displayName: 'Mine now', apiKeys: [{ name: 'default', secretName: 'key' }] });
    await world.reconcile();
    expect(world.conditions()).to.include({
      Ready: 'False OwnedByAnother',
      Stalled: 'True OwnedByAnother',
      StoresProvisioned: 'False OwnedByAnother',
    });
    expect(onlyTenant()).to.include({ name: 'first' });
    expect(onlyTenant()?.keys.size).to.equal(0);
  });

  it('stalls on the adoption of a tenant that does not exist', async () => {
    world.put({ tenantId: ADOPTED });
    world.services.fail('ensureTenant', unavailable());
    await world.reconcile();
    expect(world.conditions()['StoresProvisioned']).to.equal('False StoreUnreachable');
    await world.reconcile();
    expect(world.conditions()).to.include({
      Stalled: 'True TenantNotFound',
      StoresProvisioned: 'False TenantNotFound',
    });
    expect(world.services.tenants.size).to.equal(0);
  });

  it('creates the tenant again when it was removed', async () => {
    world.put({ apiKeys: [{ name: 'default', secretName: 'key' }] });
    await world.reconcile();
    world.services.tenants.clear();
    await world.reconcile();
    expect(world.read()?.status?.tenantId).to.equal(onlyTenant()?.id);
    expect(onlyTenant()?.keys.get('default')).to.have.length(1);
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });

  it('reports a taken host name in Routed, and continues when it is free', async () => {
    world.put({ routing: { type: 'None', hostname: 'acme.example.com' } }, { name: 'first', namespace: 'memory' });
    await world.reconcile('memory/first');
    world.put({ routing: { type: 'Ingress', hostname: 'acme.example.com' } });
    // Nobody tells that the other tenant let it go.
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(17_000);
    expect(world.conditions()).to.include({ Routed: 'False HostnameConflict', Stalled: 'True HostnameConflict' });
    expect(world.objects('ingresses')).to.deep.equal([]);
    world.change({ spec: { routing: { hostname: 'acme-2.example.com' } } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Routed: 'True Accepted', Ready: 'True Available' });
    expect(world.conditions()).not.to.have.property('Stalled');
  });

  it('stops when a store has less isolation than declared', async () => {
    world.put({ minimumIsolation: 'Index' });
    await world.reconcile();
    expect(world.conditions()).to.include({
      Stalled: 'True IsolationUnsupported',
      Ready: 'False IsolationUnsupported',
    });
    expect(world.condition('Stalled')?.message).to.equal(
      'Less isolation than Index: Documents (mongodb: Label), Graph (neo4j: Label); lower minimumIsolation or use a separate installation',
    );
    expect(world.services.calls).to.deep.equal([]);
    expect(world.read()?.status?.stores).to.have.length(3);
  });

  it('reports services that do not answer, runs the other steps, and is stalled in the end', async () => {
    world.put({ apiKeys: [{ name: 'default', secretName: 'key' }] });
    world.services.sick = ['search'];
    expect(await world.reconcile()).to.include({ retry: true, result: 'retrying' });
    expect(world.condition('StoresProvisioned')?.message).to.equal(
      'No answer from search: check that the Deployments run and reach their stores',
    );
    expect(onlyTenant()?.keys.size).to.equal(1);
    expect(world.conditions()).to.have.property('Reconciling');
    for (let tries = 0; tries < 4; tries += 1) await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True StoreUnreachable', Ready: 'False StoreUnreachable' });
    world.services.sick = [];
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', StoresProvisioned: 'True Provisioned' });
  });

  it('writes a repeated failure once', async () => {
    world.put();
    world.services.fail('ensureTenant', unavailable(), 3);
    for (let tries = 0; tries < 3; tries += 1) await world.reconcile();
    expect(world.statusWrites()).to.equal(1);
  });

  it('shows the message of a service that refuses the spec', async () => {
    world.put();
    world.services.fail('ensureTenant', engramError('InvalidRequestError', 'admin@acme.example.com cannot be.'));
    await world.reconcile();
    expect(world.condition('Stalled')).to.include({
      reason: 'InvalidSpec',
      message: 'admin@acme.example.com cannot be',
    });
  });

  it('corrects drift and records one event that names the fields', async () => {
    world.put({ displayName: 'Acme' });
    await world.reconcile();
    const tenant = onlyTenant();
    if (tenant === undefined) throw new Error('No tenant.');
    tenant.name = 'Vandalised';
    tenant.state = 'Disabled';
    await world.reconcile();
    expect(tenant).to.include({ name: 'Acme', state: 'Active' });
    const corrections = world.notes.filter(({ reason }) => reason === 'DriftCorrected');
    expect(corrections.map(({ message }) => message)).to.deep.equal([
      'Was changed elsewhere and corrected: name, state',
    ]);
  });

  it('reports no drift after a change of the spec', async () => {
    world.put({ displayName: 'Acme' });
    await world.reconcile();
    world.change({ spec: { displayName: 'Acme Corp' } });
    await world.reconcile();
    expect(onlyTenant()?.name).to.equal('Acme Corp');
    expect(world.notes.filter(({ reason }) => reason === 'DriftCorrected')).to.deep.equal([]);
  });

  it('reports the reconciled generation when the spec changes meanwhile', async () => {
    world.put();
    world.services.before['ensureTenant'] = () => {
      world.services.before = {};
      world.change({ spec: { displayName: 'Later' } });
    };
    await world.reconcile();
    expect(world.read()?.metadata.generation).to.equal(2);
    expect(world.read()?.status?.observedGeneration).to.equal(1);
    await world.reconcile();
    expect(world.read()?.status?.observedGeneration).to.equal(2);
    expect(onlyTenant()?.name).to.equal('Later');
  });

  it('hibernates and disables a tenant, shown in Ready', async () => {
    world.put({ state: 'Hibernated' });
    await world.reconcile();
    expect(onlyTenant()?.state).to.equal('Hibernated');
    expect(world.conditions()).to.include({ Ready: 'False Hibernated' });
    world.change({ spec: { state: 'Disabled' } });
    await world.reconcile();
    expect(onlyTenant()?.state).to.equal('Disabled');
    expect(world.conditions()).to.include({ Ready: 'False Disabled' });
    expect(world.conditions()).not.to.have.property('Stalled');
  });

  it('does nothing while a tenant is suspended', async () => {
    world.put({ suspend: true });
    await world.reconcile();
    expect(world.services.calls).to.deep.equal([]);
    expect(world.condition('Ready')?.reason).to.equal('Suspended');
  });

  it('continues where a killed operator stopped', async () => {
    world.put({ apiKeys: [{ name: 'default', secretName: 'key' }] });
    world.kube.fail({ method: 'PATCH', path: /status$/, fault: { action: 'reset' } });
    const failed = await world.reconcile().catch(() => 'failed');
    expect(failed).to.equal('failed');
    const [value, id] = [world.secretValue('key', 'apiKey'), onlyTenant()?.id];
    await world.reconcile();
    expect(world.services.tenants.size).to.equal(1);
    expect(world.read()?.status?.tenantId).to.equal(id);
    expect(world.secretValue('key', 'apiKey')).to.equal(value);
  });

  it('writes no password and no key into status, events and metadata', async () => {
    world.put({ apiKeys: [{ name: 'default', secretName: 'key' }] });
    await world.reconcile();
    const said = JSON.stringify([world.read(), world.notes, world.secret('key')?.metadata]);
    for (const value of [world.secretValue('key', 'apiKey'), world.secretValue('acme-owner', 'password')]) {
      expect(value).to.have.length.greaterThan(30);
      expect(said).not.to.include(value);
    }
  });
});

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: PLACE, data: {} as Record<string, string> };

describe('budget of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());
  const tenant = () => {
    const [held] = world.services.tenants.values();
    if (held === undefined) throw new Error('No tenant.');
    return held;
  };

  it('sets the limits and reports them as enforced when the services do', async () => {
    world.put({ quotas: { items: 100, storage: '1.5Gi', action: 'Warn' } });
    await world.reconcile();
    expect(tenant().limits).to.deep.equal({
      items: { limit: 100, action: 'Warn' },
      storageBytes: { limit: 1_610_612_736, action: 'Warn' },
    });
    expect(world.read()?.status?.usage).to.deep.equal({
      datasets: 0,
      items: 0,
      storage: '0',
      llmTokensToday: 0,
      llmTokensThisMonth: 0,
      enforced: true,
    });
  });

  it('does not report limits as enforced that the services do not report', async () => {
    world.put({ quotas: { items: 100, action: 'Enforce' } });
    world.services.before['usage'] = () => {
      for (const tenant of world.services.tenants.values()) tenant.limits = {};
    };
    await world.reconcile();
    expect(world.read()?.status?.usage?.enforced).to.equal(false);
  });

  it('leaves an undeclared budget alone, and removes one that is no longer declared', async () => {
    world.put();
    await world.reconcile();
    tenant().limits = { items: { limit: 3, action: 'Enforce' } };
    await world.reconcile();
    expect(tenant().limits).to.have.property('items');
    expect(world.read()?.status?.usage).not.to.have.property('enforced');
    world.change({ spec: { quotas: { items: 5, action: 'Enforce' } } });
    await world.reconcile();
    world.change({ spec: { quotas: null } });
    await world.reconcile();
    expect(tenant().limits).to.deep.equal({});
    expect(world.read()?.status?.usage).not.to.have.property('enforced');
  });

  it('corrects a limit that was changed elsewhere, with an event', async () => {
    world.put({ quotas: { items: 100, datasets: 3, action: 'Enforce' } });
    await world.reconcile();
    tenant().limits = { ...tenant().limits, items: { limit: 100_000, action: 'Enforce' } };
    await world.reconcile();
    expect(tenant().limits.items?.limit).to.equal(100);
    const corrections = world.notes.filter(({ reason }) => reason === 'DriftCorrected');
    expect(corrections.map(({ message }) => message)).to.deep.equal([
      'Limits were changed elsewhere and corrected: items',
    ]);
  });

  it('reports a usage above the budget until it is below', async () => {
    world.put({ quotas: { items: 100, storage: '1Ki', action: 'Enforce' } });
    await world.reconcile();
    Object.assign(tenant().used, { items: 120, storageBytes: 1024 });
    await world.reconcile();
    expect(world.condition('QuotaExceeded')).to.include({ status: 'True', reason: 'Items' });
    expect(world.condition('QuotaExceeded')?.message).to.equal(
      'The usage exceeds the budget: items 120 of 100; raise the limit in spec.quotas or remove data',
    );
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    tenant().used.items = 90;
    await world.reconcile();
    expect(world.condition('QuotaExceeded')).to.equal(undefined);
  });
});

describe('tenants of one name in two namespaces', () => {
  it('keeps tenants of the same name in two namespaces apart', async () => {
    const world = await createTenantWorld();
    const spec = (hostname: string) => completeSpec({ routing: { type: 'Ingress', hostname } });
    for (const namespace of ['one', 'two']) {
      world.kube.put<Tenant>(TENANT_KIND, {
        apiVersion: TENANT_KIND.apiVersion,
        kind: TENANT_KIND.kind,
        metadata: { name: 'acme', namespace },
        spec: spec(`${namespace}.example.com`),
      });
      await world.reconcile(`${namespace}/acme`);
    }
    expect(world.services.tenants.size).to.equal(2);
    expect(world.objects('ingresses').map(({ metadata }) => metadata.name)).to.have.members([
      'tenant-one-acme',
      'tenant-two-acme',
    ]);
    await world.close();
  });
});

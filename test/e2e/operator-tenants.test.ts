import { expect } from 'chai';
import { ROTATE_AT } from '../../operator/api/names.ts';
import type { TenantSpec } from '../../operator/api/tenant.ts';
import { createServices, type Services } from '../../operator/installation/services.ts';
import { KINDS, type Secret } from '../../operator/kube-runtime/kube-object.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createTenantWorld, type TenantWorld } from '../support/kube/tenant-world.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { completion, failure, type ProviderRequest, startModelProvider } from '../support/model-provider.ts';
import { until } from '../support/until.ts';

const KEYED: Partial<TenantSpec> = {
  apiKeys: [{ name: 'default', secretName: 'key', rotation: { interval: '48h', overlap: '2h' } }],
};

describe('the operator and the real services', () => {
  let app: ManagedApp;
  let services: Services;
  let world: TenantWorld;
  let serial = 0;

  before(async () => {
    app = await startManagedApp({ ENGRAM_TENANT_MODEL_HOSTS: '127.0.0.1' });
    services = createServices(app.messenger, createSystemClock());
  });
  after(() => app?.stop());
  beforeEach(async () => {
    world = await createTenantWorld({ services });
    serial += 1;
  });
  afterEach(() => world.close());

  const put = (spec: Partial<TenantSpec> = {}) =>
    world.put({ ...KEYED, owner: { email: `owner-${serial}@acme.example.com` }, ...spec });
  const ask = (key: string, path: string, init: RequestInit = {}, host?: string): Promise<Response> =>
    fetch(`${app.baseUrl}/api/v1${path}`, {
      ...init,
      headers: { 'x-api-key': key, ...init.headers, ...(host === undefined ? {} : { 'x-forwarded-host': host }) },
    });
  const key = () => world.secretValue('key', 'apiKey') ?? '';
  const statusOf = async (presented: string) => (await ask(presented, '/datasets')).status;
  const json = (body: unknown): RequestInit => ({
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

  it('create a tenant whose key from the Secret works, and whose owner logs in with the password from the Secret', async () => {
    put();
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    const made = await ask(key(), '/datasets', json({ name: 'letters' }));
    expect(made.status, await made.text()).to.equal(200);
    await world.reconcile();
    expect(world.read()?.status?.usage?.datasets).to.equal(1);
    const form = new URLSearchParams({
      username: world.secretValue('acme-owner', 'email') ?? '',
      password: world.secretValue('acme-owner', 'password') ?? '',
    });
    const login = await fetch(`${app.baseUrl}/api/v1/auth/login`, { method: 'POST', body: form });
    expect(login.status, await login.text()).to.equal(200);
    const writes = world.statusWrites();
    await world.reconcile();
    expect(world.statusWrites()).to.equal(writes);
    expect(world.notes.filter(({ reason }) => reason === 'DriftCorrected')).to.deep.equal([]);
  });

  it('rotate a key without a refused request of a client that reads the Secret', async () => {
    put();
    await world.reconcile();
    let isRotating = true;
    const seen: number[] = [];
    const client = async () => {
      while (isRotating) seen.push(await statusOf(key()));
    };
    const clients = [client(), client(), client()];
    const former = key();
    for (let turn = 0; turn < 5; turn += 1) {
      world.change({ metadata: { annotations: { [ROTATE_AT]: `turn ${turn}` } } });
      await world.reconcile();
    }
    // The clients have seen the last key, too.
    const enough = seen.length + 10;
    await until('the clients have asked again', () => seen.length >= enough);
    isRotating = false;
    await Promise.all(clients);
    expect([...new Set(seen)]).to.deep.equal([200]);
    expect(key()).not.to.equal(former);
    expect(await refusedInTheEnd(() => statusOf(former))).to.equal(401);
    const previous = world.secretValue('key', 'previousApiKey') ?? '';
    expect(await statusOf(previous)).to.equal(200);
    await world.clock.advance(3 * 3_600_000);
    await world.reconcile();
    expect(await refusedInTheEnd(() => statusOf(previous))).to.equal(401);
    expect(await statusOf(key())).to.equal(200);
  });

  it('accept a key that a user wrote', async () => {
    put();
    await world.reconcile();
    const byHand = 'ef'.repeat(32);
    const data = { apiKey: Buffer.from(byHand).toString('base64') };
    world.kube.change({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true }, SECRET, { data });
    expect(await statusOf(byHand)).to.equal(401);
    await world.reconcile();
    expect(await statusOf(byHand)).to.equal(200);
  });

  it('enforce the budget of the resource', async () => {
    put({ quotas: { datasets: 1, action: 'Enforce' } });
    await world.reconcile();
    expect(world.read()?.status?.usage?.enforced).to.equal(true);
    expect((await ask(key(), '/datasets', json({ name: 'one' }))).status).to.equal(200);
    const refused = await ask(key(), '/datasets', json({ name: 'two' }));
    expect(refused.status, await refused.text()).to.be.oneOf([413, 429]);
    await services.call(
      'auth.SetQuota',
      { tenant: world.read()?.status?.tenantId as never, limits: { datasets: { limit: 9, action: 'Enforce' } } },
      { requestId: 'test' },
    );
    await world.reconcile();
    expect(world.notes.map(({ message }) => message)).to.include(
      'Limits were changed elsewhere and corrected: datasets',
    );
    world.change({ spec: { quotas: { datasets: 0 } } });
    await world.reconcile();
    expect(world.conditions()).to.include({ QuotaExceeded: 'True Datasets' });
  });

  it('answer 503 while the tenant is hibernated, refuse while it is disabled, and serve with the same key again', async () => {
    put();
    await world.reconcile();
    const held = key();
    world.change({ spec: { state: 'Hibernated' } });
    await world.reconcile();
    expect(await answerInTheEnd(() => statusOf(held), 503)).to.equal(503);
    world.change({ spec: { state: 'Disabled' } });
    await world.reconcile();
    expect(await refusedInTheEnd(() => statusOf(held))).to.be.oneOf([401, 403]);
    world.change({ spec: { state: 'Active' } });
    await world.reconcile();
    expect(await answerInTheEnd(() => statusOf(held), 200)).to.equal(200);
  });

  it('use the language model of the tenant with its key, and none when its provider refuses the key', async () => {
    const provider = await startModelProvider();
    const refuses = (request: ProviderRequest) => request.headers.authorization !== 'Bearer sk-of-the-tenant';
    provider.answer = (request) =>
      refuses(request)
        ? failure(401, { message: 'Incorrect API key provided.' })
        : completion('Find people and ships.');
    const secret = (text: string) => ({ apiKey: Buffer.from(text).toString('base64') });
    world.kube.put<Secret>(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...PLACE, name: 'llm' },
      data: secret('sk-wrong'),
    });
    const apiKeySecretRef = { name: 'llm', key: 'apiKey' };
    const llm = { provider: 'openai', model: 'own-model', apiKeySecretRef };
    // The setting names this machine by its address alone.
    const { port } = new URL(provider.url);
    put({ llm: { ...llm, endpoint: `http://localhost:${port}/v1` } });
    await world.reconcile();
    expect(world.conditions()).to.include({ CredentialsReady: 'False ModelInvalid' });
    expect(world.condition('CredentialsReady')?.message).to.equal(
      `own-model of openai cannot be used: ENGRAM_TENANT_MODEL_HOSTS of the services does not name localhost:${port}, and it is no public host`,
    );
    expect(provider.requests).to.deep.equal([]);
    world.change({ spec: { llm: { endpoint: `${provider.url}/v1` } } });
    await world.reconcile();
    expect(world.conditions()).to.include({ CredentialsReady: 'False ProviderRejected' });
    const prompt = async () => {
      const body = { graph_model: { title: 'Crew', type: 'object', properties: { name: { type: 'string' } } } };
      return (await ask(key(), '/llm/custom-prompt', json(body))).text();
    };
    // Rules do the work of a model that there is not.
    expect(await prompt()).not.to.include('Find people and ships.');

    world.kube.change(KINDS.secret, { ...PLACE, name: 'llm' }, { data: secret('sk-of-the-tenant') });
    await world.reconcile();
    expect(world.conditions()).to.include({ CredentialsReady: 'True Issued', Ready: 'True Available' });
    expect(await prompt()).to.include('Find people and ships.');
    expect(provider.requests.at(-1)?.body['model']).to.equal('own-model');

    world.change({ spec: { llm: null } });
    await world.reconcile();
    const asked = provider.requests.length;
    expect(await prompt()).not.to.include('Find people and ships.');
    expect(provider.requests).to.have.length(asked);
    await provider.close();
  });

  it('report a host name that is taken, and an address that is not verified', async () => {
    put({ routing: { type: 'None', hostname: 'taken.example.com' } });
    await world.reconcile();
    const second = { name: 'second', namespace: 'memory' };
    world.put(
      { owner: { email: 'second@acme.example.com' }, routing: { type: 'None', hostname: 'taken.example.com' } },
      second,
    );
    await world.reconcile('memory/second');
    expect(stalledOf(second)).to.equal('HostnameConflict');
    const stranger = { email: 'stranger@acme.example.com', password: 'a-password-of-mine' };
    const registered = await fetch(`${app.baseUrl}/api/v1/auth/register`, json(stranger));
    expect(registered.status, await registered.text()).to.equal(201);
    const third = { name: 'third', namespace: 'memory' };
    world.put({ owner: { email: stranger.email } }, third);
    await world.reconcile('memory/third');
    expect(stalledOf(third)).to.equal('OwnerUnverified');
  });

  it('release a tenant with Retain for the next resource, and erase it with Delete', async () => {
    put();
    await world.reconcile();
    const [tenantId, held] = [world.read()?.status?.tenantId ?? '', key()];
    expect((await ask(held, '/datasets', json({ name: 'kept' }))).status).to.equal(200);
    world.kube.remove(TENANT, PLACE);
    await world.reconcile();
    expect(await statusOf(held)).to.equal(200);

    const stranger = { name: 'stranger', namespace: 'elsewhere' };
    world.put({ ...KEYED, owner: { email: `stranger-${serial}@acme.example.com` }, tenantId }, stranger);
    await world.reconcile('elsewhere/stranger');
    expect(stalledOf(stranger)).to.equal('AdoptionNotAllowed');
    put({ tenantId, deletionPolicy: 'Delete' });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(key()).to.equal(held);
    world.kube.remove(TENANT, PLACE);
    for (let tries = 0; tries < 50 && world.read() !== undefined; tries += 1) await world.reconcile();
    expect(world.read(), JSON.stringify(world.conditions())).to.equal(undefined);
    expect(await refusedInTheEnd(() => statusOf(held))).to.equal(401);
    const receipt = JSON.parse(world.configMaps()[0]?.data?.['receipt.json'] ?? '{}');
    expect(JSON.stringify(receipt)).to.include(tenantId);
    expect(receipt.signature).to.be.a('string');
  });

  const stalledOf = (place: { readonly name: string; readonly namespace: string }) => {
    const { conditions = [] } = world.kube.read<ReturnType<TenantWorld['put']>>(TENANT, place)?.status ?? {};
    return conditions.find(({ type }) => type === 'Stalled')?.reason;
  };
});

const PLACE = { name: 'acme', namespace: 'memory' };
const SECRET = { ...PLACE, name: 'key' };
const TENANT = { apiVersion: 'engram.dev/v1alpha1', kind: 'Tenant', plural: 'tenants', namespaced: true };

/** What replicas remember of access ends by itself. */
async function answerInTheEnd(ask: () => Promise<number>, wanted: number): Promise<number> {
  await until(`the answer is ${wanted}`, async () => (await ask()) === wanted, { everyMs: 50 });
  return wanted;
}

function refusedInTheEnd(ask: () => Promise<number>): Promise<number> {
  const refusal = async () => {
    const status = await ask();
    return status === 200 ? null : status;
  };
  return until('a refusal', refusal, { everyMs: 50 });
}

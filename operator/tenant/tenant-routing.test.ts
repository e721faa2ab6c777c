import { expect } from 'chai';
import { SERVICE_PATHS, serviceOfPath } from '../../services/common/domain/service-paths.ts';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { boundedName, FRAME_ANNOTATIONS } from '../api/names.ts';
import { TENANT_KIND, type TenantRouting } from '../api/tenant.ts';
import { KINDS, type KubeObject } from '../kube-runtime/kube-object.ts';
import { routeName } from './route-objects.ts';

const HTTP_ROUTE: TenantRouting = {
  type: 'HTTPRoute',
  hostname: 'acme.example.com',
  parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
};
const INGRESS: TenantRouting = { type: 'Ingress', hostname: 'acme.example.com' };
const GATEWAY = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
} as const;

describe('route of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const only = (kind: 'ingresses' | 'httproutes') => {
    const [object] = world.objects(kind).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return object as (KubeObject & { readonly spec: Record<string, unknown> }) | undefined;
  };
  const answer = (conditions: readonly object[], sectionName = 'https') => {
    const { name = '', namespace = '' } = only('httproutes')?.metadata ?? {};
    const status = { parents: [{ parentRef: { name: 'public', namespace: 'gateways', sectionName }, conditions }] };
    world.kube.store.update(
      '/apis/gateway.networking.k8s.io/v1/httproutes',
      { name, namespace },
      (held) => ({ ...held, status }),
      'status',
    );
  };

  it('creates an Ingress that routes each path to its service', async () => {
    world.put({ routing: { ...INGRESS, ingressClassName: 'traefik', annotations: { team: 'a' } } });
    await world.reconcile();
    const ingress = only('ingresses');
    expect(ingress?.metadata).to.deep.include({ name: 'tenant-memory-acme', namespace: 'engram' });
    expect(ingress?.metadata.annotations).to.include({ team: 'a' });
    expect(ingress?.spec['ingressClassName']).to.equal('traefik');
    const rules = ingress?.spec['rules'] as {
      host: string;
      http: { paths: { path: string; backend: { service: { name: string } } }[] };
    }[];
    expect(rules.map(({ host }) => host)).to.deep.equal(['acme.example.com']);
    const routed = new Map(rules[0]?.http.paths.map(({ path, backend }) => [path, backend.service.name]));
    expect([...routed.keys()]).to.have.members(Object.values(SERVICE_PATHS).flat());
    for (const [path, service] of routed) expect(service, path).to.equal(`engram-${serviceOfPath(path)}`);
    expect(world.read()?.status).to.deep.include({
      url: 'http://acme.example.com',
      routeObject: { kind: 'Ingress', namespace: 'engram', name: 'tenant-memory-acme' },
    });
    expect(world.conditions()).to.include({ Routed: 'True Accepted' });
  });

  it('uses TLS when a Secret is named', async () => {
    world.put({ routing: { ...INGRESS, tlsSecretName: 'memory.acme-tls' } });
    await world.reconcile();
    const tls = [{ hosts: ['acme.example.com'], secretName: 'memory.acme-tls' }];
    expect(only('ingresses')?.spec).to.deep.include({ tls });
    expect(world.read()?.status?.url).to.equal('https://acme.example.com');
  });

  it('refuses a TLS Secret of another namespace and leaves the route unchanged', async () => {
    world.put({ routing: INGRESS });
    await world.reconcile();
    const before = only('ingresses');
    for (const tlsSecretName of ['other.acme-tls', 'memory-acme-tls', 'memoryx.tls']) {
      world.change({ spec: { routing: { tlsSecretName } } });
      await world.reconcile();
      expect(world.conditions()).to.include({
        Routed: 'False TlsSecretNotAllowed',
        Stalled: 'True TlsSecretNotAllowed',
      });
      expect(world.condition('Routed')?.message).to.match(/name the Secret in engram memory\.<anything>/);
      expect(only('ingresses')).to.deep.equal(before);
    }
  });

  it('allows any TLS Secret in a trusted namespace', async () => {
    await world.close();
    world = await createTenantWorld({ trustedNamespaces: ['memory'] });
    world.put({ routing: { ...INGRESS, tlsSecretName: 'wildcard' } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Routed: 'True Accepted' });
  });

  it('reports the host name to auth, also with routing type None', async () => {
    world.put({ routing: { type: 'None', hostname: 'acme.example.com' } });
    await world.reconcile();
    expect([...world.services.tenants.values()][0]?.hostNames).to.deep.equal(['acme.example.com']);
    expect(world.objects('ingresses')).to.deep.equal([]);
    expect(world.conditions()).to.include({ Routed: 'True NotRequested' });
  });

  it('is routed when all Gateways accept the HTTPRoute', async () => {
    world.kube.put(GATEWAY, {
      apiVersion: GATEWAY.apiVersion,
      kind: GATEWAY.kind,
      metadata: { name: 'public', namespace: 'gateways' },
      spec: { listeners: [{ name: 'https', protocol: 'HTTPS' }] },
    });
    world.put({ routing: HTTP_ROUTE });
    const first = await world.reconcile();
    expect(first.requeueAfterMs).to.be.within(1000, 1100);
    expect(world.conditions()).to.include({ Routed: 'Unknown GatewayPending', Ready: 'False GatewayPending' });
    expect(world.condition('Routed')?.message).to.equal(
      'No answer yet from Gateway gateways/public: check that it exists and that a controller serves it',
    );
    const spec = only('httproutes')?.spec;
    expect(spec?.['hostnames']).to.deep.equal(['acme.example.com']);
    expect(spec?.['parentRefs']).to.deep.equal(HTTP_ROUTE.parentRefs);
    expect(spec?.['rules']).to.have.length(8);
    await world.clock.advance(60_000);
    expect((await world.reconcile()).requeueAfterMs).to.be.within(30_000, 33_000);
    answer([{ type: 'Accepted', status: 'True', observedGeneration: 1 }]);
    await world.reconcile();
    expect(world.conditions()).to.include({ Routed: 'True Accepted', Ready: 'True Available' });
    expect(world.read()?.status?.url).to.equal('https://acme.example.com');
  });

  it('shows why a Gateway rejects the HTTPRoute', async () => {
    world.put({ routing: HTTP_ROUTE });
    await world.reconcile();
    answer([{ type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'namespace not allowed.' }]);
    await world.reconcile();
    expect(world.conditions()).to.include({ Routed: 'False GatewayRejected', Stalled: 'True GatewayRejected' });
    expect(world.condition('Routed')?.message).to.equal(
      'Gateway gateways/public rejects the route: namespace not allowed',
    );
    expect(world.read()?.status).not.to.have.property('url');
  });

  it('ignores the status of an earlier generation or of another listener', async () => {
    world.put({ routing: HTTP_ROUTE });
    await world.reconcile();
    answer([{ type: 'Accepted', status: 'True', observedGeneration: 0 }]);
    await world.reconcile();
    expect(world.conditions()).to.include({ Routed: 'Unknown GatewayPending' });
    answer([{ type: 'Accepted', status: 'True', observedGeneration: 1 }], 'http');
    await world.reconcile();
    expect(world.conditions()).to.include({ Routed: 'Unknown GatewayPending' });
  });

  it('reports a missing Gateway API and runs the other steps', async () => {
    world.kube.fail({ method: 'PATCH', path: /httproutes/, fault: { status: 404, reason: 'NotFound' } });
    world.put({ routing: HTTP_ROUTE, apiKeys: [{ name: 'default', secretName: 'key' }] });
    await world.reconcile();
    expect(world.condition('Routed')?.message).to.equal(
      'The cluster does not know HTTPRoute: install the Gateway API, or use type Ingress',
    );
    expect(world.secret('key')).not.to.equal(undefined);
  });

  it('removes the route when another kind or none is declared', async () => {
    world.put({ routing: HTTP_ROUTE });
    await world.reconcile();
    world.change({ spec: { routing: { ...INGRESS, parentRefs: null } } });
    await world.reconcile();
    expect([only('httproutes'), only('ingresses')?.kind]).to.deep.equal([undefined, 'Ingress']);
    world.change({ spec: { routing: null } });
    await world.reconcile();
    expect(only('ingresses')).to.equal(undefined);
    expect(world.read()?.status).to.not.have.any.keys('url', 'routeObject');
    expect([...world.services.tenants.values()][0]?.hostNames).to.deep.equal([]);
  });

  it('removes the route of a deleted tenant although its status lacks it', async () => {
    world.put({ routing: HTTP_ROUTE });
    world.kube.fail({ method: 'PATCH', path: /status$/, fault: { action: 'reset' } });
    await world.reconcile().catch(() => 'killed');
    expect(only('httproutes')).not.to.equal(undefined);
    world.kube.remove(TENANT_KIND, PLACE);
    await world.reconcile();
    expect([only('httproutes'), world.read()]).to.deep.equal([undefined, undefined]);
  });

  it('removes the route of an abandoned tenant', async () => {
    world.put({ routing: INGRESS });
    await world.reconcile();
    world.kube.remove(TENANT_KIND, PLACE);
    world.change({ metadata: { annotations: { [FRAME_ANNOTATIONS.abandon]: world.read()?.metadata.uid } } });
    await world.reconcile();
    expect([world.read(), only('ingresses')]).to.deep.equal([undefined, undefined]);
  });

  it('deletes a tenant although the Gateway API is missing', async () => {
    world.put({ routing: INGRESS });
    await world.reconcile();
    world.kube.fail({ path: /httproutes/, fault: { status: 404, reason: 'NotFound' }, times: 10 });
    world.kube.remove(TENANT_KIND, PLACE);
    await world.reconcile();
    expect([only('ingresses'), world.read()]).to.deep.equal([undefined, undefined]);
  });

  it('corrects a changed route, with one event', async () => {
    world.put({ routing: INGRESS });
    await world.reconcile();
    const { name = '', namespace = '' } = only('ingresses')?.metadata ?? {};
    world.kube.change(KINDS.ingress, { name, namespace }, { spec: { rules: [] } });
    await world.reconcile();
    expect(only('ingresses')?.spec['rules']).to.have.length(1);
    expect(world.notes.filter(({ reason }) => reason === 'DriftCorrected').map(({ message }) => message)).to.deep.equal(
      ['Ingress engram/tenant-memory-acme was changed elsewhere and corrected'],
    );
  });

  it('does not take over a foreign Ingress', async () => {
    const name = boundedName('tenant', 'memory', 'acme');
    world.kube.put(KINDS.ingress, {
      apiVersion: KINDS.ingress.apiVersion,
      kind: 'Ingress',
      metadata: { name, namespace: 'engram' },
    });
    world.put({ routing: INGRESS });
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True ObjectExists' });
    expect(only('ingresses')).not.to.have.property('spec');
  });

  it('gives each route a unique name for any namespace and name', () => {
    const places = [
      ['a-b', 'c'],
      ['a', 'b-c'],
      ['a--b', 'c'],
      ['a', 'b--c'],
    ];
    const names = places.map(([namespace = '', name = '']) => routeName({ metadata: { namespace, name } }));
    expect(new Set(names).size).to.equal(places.length);
    expect(routeName({ metadata: { namespace: 'memory', name: 'acme' } })).to.equal('tenant-memory-acme');
  });

  it('gives a route a valid name for long namespaces and names', () => {
    const long = boundedName('tenant', 'n'.repeat(63), 't'.repeat(63));
    expect(long).to.have.length(63);
    expect(long).not.to.equal(boundedName('tenant', 'n'.repeat(63), `${'t'.repeat(62)}u`));
    expect(boundedName('a.b', 'owner')).to.match(/^a-b-owner-[0-9a-f]{8}$/);
  });
});

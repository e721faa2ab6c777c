import { expect } from 'chai';
import { createServices } from '../../../operator/installation/services.ts';
import type { Secret } from '../../../operator/kube-runtime/kube-object.ts';
import { createSignedMessenger } from '../../../services/common/platform/messaging/messenger.ts';
import { createSystemClock } from '../../../services/common/platform/system/clock.ts';
import { openNatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import type { Bus } from '../../../services/common/storage/ports/bus.ts';
import { createTenantWorld, type TenantWorld } from '../../support/kube/tenant-world.ts';
import { until } from '../../support/until.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

const LIMIT = { limitMs: 60_000, everyMs: 100 };
const TENANT = { apiVersion: 'engram.dev/v1alpha1', kind: 'Tenant', plural: 'tenants', namespaced: true };

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('the operator and a cluster', function () {
    this.timeout(240_000);
    let cluster: ClusterProcess;
    let bus: Bus;
    let world: TenantWorld;

    before(async () => {
      cluster = await startCluster({ REQUIRE_AUTHENTICATION: 'true' });
      bus = await openNatsBus({
        url: cluster.environment['ENGRAM_NATS_URL'] ?? '',
        prefix: cluster.environment['ENGRAM_NATS_SUBJECT_PREFIX'] ?? '',
        name: 'operator',
      });
      const clock = createSystemClock();
      world = await createTenantWorld({
        services: createServices(createSignedMessenger(bus, clock), clock),
      });
    });
    after(async () => {
      await world?.close();
      await bus?.drain();
      await cluster?.stop();
    });

    it('take a tenant from a resource to an answer and to a receipt, over NATS', async () => {
      world.put({
        apiKeys: [{ name: 'default', secretName: 'key' }],
        deletionPolicy: 'Delete',
        quotas: { datasets: 2, action: 'Enforce' },
      });
      const ready = async () => {
        await world.reconcile();
        return world.conditions()['Ready'] === 'True Available';
      };
      await until('the tenant is ready', ready, LIMIT);
      expect(world.conditions()).to.include({ StoresProvisioned: 'True Provisioned' });
      expect(world.read()?.status?.usage?.enforced).to.equal(true);
      const key = world.secretValue('key', 'apiKey') ?? '';
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`${cluster.baseUrl}/api/v1${path}`, { ...init, headers: { 'x-api-key': key, ...init.headers } });
      const body = JSON.stringify({ name: 'letters' });
      const headers = { 'content-type': 'application/json' };
      const made = await ask('/datasets', { method: 'POST', body, headers });
      expect(made.status, await made.text()).to.equal(200);

      world.kube.remove(TENANT, PLACE);
      const gone = async () => {
        await world.reconcile();
        return world.read() === undefined;
      };
      await until('the tenant is erased', gone, LIMIT);
      const receipt = world.configMaps()[0]?.data?.['receipt.json'] ?? '';
      expect(JSON.parse(receipt)).to.have.property('signature');
      expect((await ask('/datasets')).status).to.equal(401);
      expect(world.kube.read<Secret>(SECRET, { ...PLACE, name: 'key' })).to.equal(undefined);
    });

    it('say which service is away, and when it is back', async () => {
      const [pid] = cluster.pidsOf('search');
      if (pid === undefined) throw new Error('No process of search.');
      process.kill(pid, 'SIGSTOP');
      try {
        world.put({ owner: { email: 'second@acme.example.com' } });
        const told = async () => {
          await world.reconcile();
          return world.condition('StoresProvisioned')?.message.includes('No answer from search') ?? false;
        };
        await until('search is missed', told, LIMIT);
        expect(world.conditions()).to.include({ Ready: 'False StoreUnreachable' });
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      const ready = async () => {
        await world.reconcile();
        return world.conditions()['Ready'] === 'True Available';
      };
      await until('search is back', ready, LIMIT);
    });
  });
});

const PLACE = { name: 'acme', namespace: 'memory' };
const SECRET = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

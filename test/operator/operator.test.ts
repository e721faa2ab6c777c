import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DATASET_KIND, type Dataset } from '../../operator/api/dataset.ts';
import { TENANT_KIND } from '../../operator/api/tenant.ts';
import { findCondition } from '../../operator/kube-runtime/conditions.ts';
import type { KubeConnection } from '../../operator/kube-runtime/kube-connection.ts';
import { type ConfigMap, KINDS, type KubeObject, type Secret } from '../../operator/kube-runtime/kube-object.ts';
import { unavailable } from '../support/kube/fake-services.ts';
import { until } from '../support/until.ts';
import { type CuttableProxy, startCuttableProxy } from './cuttable-proxy.ts';
import { createOperatorAccount } from './operator-account.ts';
import { createOperatorWorld, isReady, type OperatorWorld, readyReason } from './operator-world.ts';
import { describeWithCluster } from './with-cluster.ts';

const LIMIT = { limitMs: 45_000, everyMs: 50 };

describeWithCluster('operator on a real API server', (server) => {
  let namespace: string;
  let world: OperatorWorld;
  let proxy: CuttableProxy | undefined;

  before(() => server().applyCrds());
  beforeEach(async () => {
    namespace = await server().newNamespace();
    world = await createOperatorWorld(namespace);
  });
  afterEach(async () => {
    proxy?.mend();
    await world.close();
    await proxy?.close();
    proxy = undefined;
    // Removes finalizers, because no operator runs any more.
    for (const [kind, objects] of [
      [DATASET_KIND, await world.datasets()],
      [TENANT_KIND, await world.tenants()],
    ] as const) {
      for (const { metadata } of objects) await world.client.patch(kind, metadata, { metadata: { finalizers: null } });
    }
  });

  const createMany = async (tenants: number, datasetsOfEach: number) => {
    const names = Array.from({ length: tenants }, (_, index) => `tenant-${index}`);
    await Promise.all(names.map((name) => world.createTenant(name)));
    for (const name of names) {
      await Promise.all(
        Array.from({ length: datasetsOfEach }, (_, index) => world.createDataset(`${name}-set-${index}`, name)),
      );
    }
  };
  const converged = async () => [...(await world.tenants()), ...(await world.datasets())].every(isReady);
  const versions = async () =>
    [...(await world.tenants()), ...(await world.datasets())].map(({ metadata }) => metadata.resourceVersion);
  const throughProxy = async (): Promise<KubeConnection> => {
    proxy = await startCuttableProxy(world.connection.server);
    return { ...world.connection, server: new URL(`https://127.0.0.1:${proxy.port}`) };
  };

  it('brings tenants and datasets to Ready, and then writes nothing', async () => {
    await createMany(8, 3);
    const running = world.run();
    await until('all are ready', converged, LIMIT);
    expect([world.services.tenants.size, world.services.datasets.size]).to.deep.equal([8, 24]);
    const before = await versions();
    const writes = /status_writes_total\{kind="\w+"\} \d+/g;
    const written = (await running.metrics()).match(writes);
    await sleep(2_000);
    expect(await versions()).to.deep.equal(before);
    expect((await running.metrics()).match(writes)).to.deep.equal(written);
    expect(await running.metrics()).to.match(/engram_operator_leader 1/);
  });

  it('continues where another process stopped, and creates nothing twice', async () => {
    const first = world.run({ workers: 1 });
    await createMany(6, 3);
    await until('it began', () => world.services.datasets.size > 2, LIMIT);
    await first.stop();
    const begun = world.services.tenants.size;
    expect(begun).to.be.greaterThan(0);
    world.run();
    await until('all are ready', converged, LIMIT);
    expect([world.services.tenants.size, world.services.datasets.size]).to.deep.equal([6, 18]);
  });

  it('hands over to the other process at once', async () => {
    const one = world.run();
    await until('the first leads', () => one.operator.isLeading(), LIMIT);
    const two = world.run();
    await until('the second is ready to', () => Object.values(two.operator.readiness).every((check) => check()), LIMIT);
    expect(two.operator.isLeading()).to.equal(false);
    await world.createTenant('early');
    await until('the first works', converged, LIMIT);
    await one.stop();
    await world.createTenant('late');
    await until('the second works', async () => two.operator.isLeading() && (await converged()), LIMIT);
    expect([one.lost(), two.lost(), world.services.tenants.size]).to.deep.equal([false, false, 2]);
  });

  it('survives a short loss of the API server, and finds missed changes', async () => {
    const running = world.run({ connection: await throughProxy() });
    await world.createTenant('before');
    await until('it works', converged, LIMIT);
    proxy?.cut();
    await world.createTenant('meanwhile');
    await world.client.delete(TENANT_KIND, { name: 'before', namespace });
    await sleep(3_000);
    expect(world.services.tenants.size).to.equal(1);
    proxy?.mend();
    await until('it caught up', async () => (await converged()) && (await world.tenants()).length === 1, LIMIT);
    expect([running.lost(), Object.values(running.operator.liveness).every((check) => check())]).to.deep.equal([
      false,
      true,
    ]);
  });

  it('loses the lease when the API server does not answer for long, and writes nothing then', async () => {
    const leaseTimes = { durationMs: 10_000, renewDeadlineMs: 8_000, retryMs: 500 };
    const running = world.run({ connection: await throughProxy(), leaseTimes });
    await world.createTenant('before');
    await until('it works', converged, LIMIT);
    proxy?.cut();
    await until('it has lost', () => running.lost(), LIMIT);
    expect(running.operator.isLeading()).to.equal(false);
    await world.createTenant('meanwhile');
    proxy?.mend();
    // Here the process would end and the kubelet start the next one.
    await running.stop();
    expect((await world.tenants()).find(({ metadata }) => metadata.name === 'meanwhile')?.status).to.equal(undefined);
    world.run();
    await until('the next one works', converged, LIMIT);
  });

  it('works with exactly the permissions of the chart', async () => {
    const { tls } = await world.connection.credentials();
    const account = await createOperatorAccount(server(), {
      namespace,
      server: world.connection.server,
      ca: String(tls.ca),
    });
    try {
      const running = world.run({ connection: account.connection });
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'model', namespace } };
      await world.client.create<Secret>(KINDS.secret, { ...secret, stringData: { apiKey: 'first' } });
      await world.createTenant('acme', {
        datasetDeletion: 'Cascade',
        deletionPolicy: 'Delete',
        llm: { provider: 'openai', model: 'small', apiKeySecretRef: { name: 'model', key: 'apiKey' } },
        apiKeys: [{ name: 'default', secretName: 'acme-key', rotation: { interval: '2160h', overlap: '24h' } }],
        routing: { type: 'Ingress', hostname: `${namespace}.example.com` },
      });
      await world.createDataset('set', 'acme', {
        prompt: { configMapRef: { name: 'prompt', key: 'text' } },
        sources: [{ name: 'code', connector: 'github', credentialsSecretRef: { name: 'github' } } as never],
      });
      const schema = async () => {
        const [dataset] = await world.datasets();
        return findCondition(dataset?.status?.conditions, 'SchemaCurrent')?.reason;
      };
      await until('the prompt is missing', async () => (await schema()) === 'ConfigMapMissing', LIMIT);
      // No reconcile is requested: changes are watched.
      await world.client.create<ConfigMap>(KINDS.configMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'prompt', namespace },
        data: { text: 'Extract.' },
      });
      await until('all are ready', converged, LIMIT);
      await world.client.patch(KINDS.secret, secret.metadata, { stringData: { apiKey: 'second' } });
      const key = () => [...world.services.tenants.values()][0]?.model?.apiKey;
      await until('the new key is in use', () => key() === 'second', LIMIT);
      const source = () => world.services.sources.get('code')?.declared;
      const sourcesReady = async () => {
        const [dataset] = await world.datasets();
        return findCondition(dataset?.status?.conditions, 'SourcesReady')?.reason;
      };
      await until('the Secret of the source is missing', async () => (await sourcesReady()) === 'SecretMissing', LIMIT);
      const github = { ...secret, metadata: { name: 'github', namespace } };
      await world.client.create<Secret>(KINDS.secret, { ...github, stringData: { token: 'first' } });
      const token = () => source()?.credentials?.values[0]?.value;
      await until('the source is connected', () => token() === 'first', LIMIT);
      await world.client.patch(KINDS.secret, github.metadata, { stringData: { token: 'second' } });
      await until('the new token is in use', () => token() === 'second', LIMIT);
      await until('its import is told', async () => (await sourcesReady()) === 'Importing', LIMIT);
      await world.client.delete(TENANT_KIND, { name: 'acme', namespace });
      await until(
        'all went',
        async () => [...(await world.tenants()), ...(await world.datasets())].length === 0,
        LIMIT,
      );
      expect(await running.metrics()).not.to.match(/Forbidden/);
    } finally {
      await account.remove();
    }
  });

  for (const kind of [KINDS.ingress, KINDS.httpRoute]) {
    it(`corrects a changed or deleted route at once: ${kind.kind}`, async () => {
      world.run();
      const hostname = `${namespace}.example.com`;
      const parents = kind === KINDS.ingress ? {} : { parentRefs: [{ name: 'public' }] };
      const type = kind === KINDS.ingress ? 'Ingress' : 'HTTPRoute';
      await world.createTenant('acme', { routing: { type, hostname, ...parents } });
      type Rule = { readonly host: string };
      type Made = KubeObject & {
        readonly spec: { readonly rules: readonly Rule[]; readonly hostnames?: readonly string[] };
      };
      const route = async () => (await world.client.list<Made>(kind, { namespace })).items[0];
      const isRight = async () => {
        const { rules, hostnames = [rules[0]?.host] } = (await route())?.spec ?? { rules: [] };
        return hostnames.join() === hostname;
      };
      await until('there is a route', isRight, LIMIT);
      const made = await route();
      if (made === undefined) throw new Error('There is no route.');
      const [rule] = made.spec.rules;
      const other = 'other.example.com';
      const spec = kind === KINDS.ingress ? { rules: [{ ...rule, host: other }] } : { hostnames: [other] };
      await world.client.patch(kind, made.metadata, { spec });
      await until('it is right again', isRight, LIMIT);
      await world.client.delete(kind, made.metadata);
      await until('it is there again', isRight, LIMIT);
    });
  }

  it('continues a waiting Dataset once its Tenant exists', async () => {
    world.run();
    await world.createDataset('orphan', 'later');
    const orphan = async () => (await world.datasets())[0] ?? { status: {} };
    await until('it waits', async () => readyReason(await orphan()) === 'TenantMissing', LIMIT);
    await world.createTenant('later');
    await until('both are ready', converged, LIMIT);
  });

  it('accepts a status with all fields', async () => {
    world.run();
    await world.createTenant('acme');
    await world.client.create<ConfigMap>(KINDS.configMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'model', namespace },
      data: { 'model.json': '{"title":"Ticket"}' },
    });
    world.services.before['datasetStatistics'] = () => {
      for (const held of world.services.datasets.values()) {
        held.statistics = {
          items: 3,
          chunks: 4,
          nodes: 5,
          edges: 6,
          pending: 1,
          failed: 0,
          lagSeconds: 1,
          lastCognifiedAt: '2026-08-01T10:00:00.123+00:00',
          writer: { holder: 'cognify-1', fencingToken: 41 },
          activeRun: { id: 'r1', pipeline: 'cognify', startedAt: '2026-08-01T10:00:00+00:00' },
        };
      }
    };
    await world.createDataset('full', 'acme', {
      graphModel: { configMapRef: { name: 'model', key: 'model.json' } },
      prompt: { inline: 'Extract.' },
      chunking: { strategy: 'paragraph', maxTokens: 512 },
      access: { exclusive: true, grants: [{ principal: { tenant: true }, permissions: ['read'] }] },
      pipeline: {
        cognify: { trigger: 'Schedule', schedule: '0 3 * * *' },
        improve: { trigger: 'Schedule', schedule: '0 4 * * 0' },
      },
      freshness: { maxLag: '5m', maxFailedItems: 10 },
    });
    await until('it is ready', converged, LIMIT);
    const [{ status } = {} as Dataset] = await world.datasets();
    expect(status).to.include.keys('stats', 'writer', 'activeRun', 'schedules', 'graphModelHash', 'promptHash');
    expect(status?.schedules).to.have.length(2);
    expect(status?.writer).to.deep.equal({ holder: 'cognify-1', fencingToken: 41 });
  });

  it('erases a deleted Dataset, keeps its finalizer while a store does not answer, and writes a receipt', async () => {
    world.run();
    await world.createTenant('acme');
    await world.createDataset('gone', 'acme', { deletionPolicy: 'Delete' });
    await until('it is ready', converged, LIMIT);
    world.services.fail('eraseDataset', unavailable(), 1_000);
    await world.client.delete(DATASET_KIND, { name: 'gone', namespace });
    const gone = async () => (await world.datasets())[0];
    await until('it says so', async () => readyReason((await gone()) ?? { status: {} }) === 'StoreUnreachable', LIMIT);
    expect(world.services.datasets.size).to.equal(1);
    world.services.heal();
    await until('it went', async () => (await gone()) === undefined, LIMIT);
    expect(world.services.datasets.size).to.equal(0);
    const { items } = await world.client.list<ConfigMap>(KINDS.configMap, {
      namespace,
      labelSelector: 'engram.dev/receipt=Erased',
    });
    expect(items.map(({ data }) => data?.['receipt.json'])).to.have.length(1);
  });

  it('deletes Datasets before their Tenant with Cascade', async () => {
    world.run();
    await world.createTenant('acme', { datasetDeletion: 'Cascade', deletionPolicy: 'Delete' });
    await world.createDataset('one', 'acme');
    await world.createDataset('two', 'acme');
    await until('all are ready', converged, LIMIT);
    await world.client.delete(TENANT_KIND, { name: 'acme', namespace });
    await until('all went', async () => [...(await world.tenants()), ...(await world.datasets())].length === 0, LIMIT);
    expect(world.services.datasets.size).to.equal(0);
  });

  it('deletes a whole namespace, and keeps the receipts in the operator’s namespace', async () => {
    const home = await server().newNamespace();
    world.run({ home });
    await world.createTenant('acme', {
      deletionPolicy: 'Delete',
      apiKeys: [{ name: 'default', secretName: 'acme-key' }],
    });
    await world.createDataset('set', 'acme');
    await until('all are ready', converged, LIMIT);
    const itself = { name: namespace };
    await world.client.delete(KINDS.namespace, itself);
    await until('the namespace is gone', async () => (await world.client.get(KINDS.namespace, itself)) === null, LIMIT);
    expect([world.services.tenants.size, world.services.datasets.size]).to.deep.equal([0, 0]);
    const { items } = await world.client.list<ConfigMap>(KINDS.configMap, {
      namespace: home,
      labelSelector: 'engram.dev/receipt=Erased',
    });
    expect(items).to.have.length(2);
    await world.client.delete(KINDS.namespace, { name: home });
  });
});

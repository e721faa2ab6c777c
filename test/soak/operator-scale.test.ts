import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { DATASET_KIND } from '../../operator/api/dataset.ts';
import { TENANT_KIND } from '../../operator/api/tenant.ts';
import { createOperatorAccount, type OperatorAccount } from '../operator/operator-account.ts';
import { createOperatorWorld, isReady, type OperatorWorld } from '../operator/operator-world.ts';
import { describeWithCluster } from '../operator/with-cluster.ts';
import { until } from '../support/until.ts';

const TENANTS = 200;
const DATASETS_OF_EACH = 5;
const STEADY_MS = 120_000;
const LIMIT = { limitMs: 600_000, everyMs: 1_000 };

interface Figures {
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly statusWrites: number;
  readonly leading: boolean;
}

describeWithCluster('operator with 200 tenants and 1,000 datasets', (server) => {
  let namespace: string;
  let world: OperatorWorld;
  let account: OperatorAccount;
  const children = new Set<ChildProcess>();

  before(async () => {
    await server().applyCrds();
    namespace = await server().newNamespace();
    world = await createOperatorWorld(namespace);
    const { tls } = await world.connection.credentials();
    account = await createOperatorAccount(server(), {
      namespace,
      server: world.connection.server,
      ca: String(tls.ca),
    });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const [kind, objects] of [
      [DATASET_KIND, await world.datasets()],
      [TENANT_KIND, await world.tenants()],
    ] as const) {
      for (const { metadata } of objects) await world.client.patch(kind, metadata, { metadata: { finalizers: null } });
    }
    await account.remove();
    await world.close();
  });

  const start = (): ChildProcess => {
    const { hostname, port } = world.connection.server;
    const script = fileURLToPath(new URL('operator-process.ts', import.meta.url));
    const execArgv = ['--max-semi-space-size=8'];
    const child = fork(script, [account.folder, hostname, port, namespace], { execArgv });
    children.add(child);
    return child;
  };
  const figuresOf = async (child: ChildProcess): Promise<Figures> => {
    const answer = once(child, 'message');
    child.send('figures');
    const [figures] = await answer;
    return figures as Figures;
  };
  const countReady = async () => [...(await world.tenants()), ...(await world.datasets())].filter(isReady).length;
  const all = TENANTS * (1 + DATASETS_OF_EACH);

  it('converges although it is killed in the middle, and then costs little and writes nothing', async () => {
    const begunAt = performance.now();
    const first = start();
    for (let tenant = 0; tenant < TENANTS; tenant += 1) {
      await world.createTenant(`tenant-${tenant}`);
      const names = Array.from({ length: DATASETS_OF_EACH }, (_, index) => `tenant-${tenant}-set-${index}`);
      await Promise.all(names.map((name) => world.createDataset(name, `tenant-${tenant}`)));
    }
    await until('some are ready', async () => (await countReady()) > all / 4, LIMIT);
    first.kill('SIGKILL');
    const second = start();
    await until('all are ready', async () => (await countReady()) === all, LIMIT);
    const convergedMs = performance.now() - begunAt;
    // What the last changes set off.
    await sleep(10_000);
    const before = await figuresOf(second);
    await sleep(STEADY_MS);
    const after = await figuresOf(second);
    const core = (after.cpuMs - before.cpuMs) / STEADY_MS;
    process.stdout.write(
      `    ${all} resources: ready after ${Math.round(convergedMs / 1000)} s (one kill included), then ${(core * 100).toFixed(2)} % of a core, ${Math.round(after.rssMb)} MB\n`,
    );
    expect(after.leading).to.equal(true);
    expect(after.statusWrites).to.equal(before.statusWrites);
    expect(core).to.be.below(0.05);
    expect(after.rssMb).to.be.below(200);
  }).timeout(1_800_000);
});

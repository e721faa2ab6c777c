import { expect } from 'chai';
import { createFakeAdministrators } from '../../test/support/kube/fake-administrators.ts';
import { endJobs, runEverything } from '../../test/support/kube/fake-workloads.ts';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { ROTATE_STORES_AT } from '../api/names.ts';
import { KINDS, type KubeObject } from '../kube-runtime/kube-object.ts';
import { POD_DEFAULTS } from './options.ts';

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string }[];
}

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: KubeObject['metadata'];
      readonly spec: { readonly restartPolicy?: string; readonly containers: readonly Container[] };
    };
  };
}

describe('upgrade of a Dedicated tenant', () => {
  let world: TenantWorld;
  let image: string;
  beforeEach(async () => {
    image = 'engram:1';
    world = await createTenantWorld({
      dedicated: {
        get image() {
          return image;
        },
        settings: {},
        pods: POD_DEFAULTS,
        network: { clients: [], stores: [] },
        stores: { available: true, administrators: createFakeAdministrators() },
      },
    });
  });
  afterEach(() => world.close());

  const make = async (spec: object = {}) => {
    world.put({ isolation: 'Dedicated', ...spec });
    await settle();
  };
  const settle = async () => {
    for (let i = 0; i < 3; i += 1) {
      await world.reconcile();
      runEverything(world.kube);
    }
  };
  const listed = (path: string) => world.kube.store.list(path, PLACE.namespace) as unknown as readonly Workload[];
  const jobs = () => listed('/apis/batch/v1/jobs');
  const images = () => [
    ...new Set(listed('/apis/apps/v1/deployments').map(({ spec }) => spec.template.spec.containers[0]?.image)),
  ];
  const reasons = () => world.notes.map(({ reason }) => reason);

  it('migrates no store of a new tenant', async () => {
    await make();
    expect([jobs(), images(), world.conditions()['Ready']]).to.deep.equal([[], ['engram:1'], 'True Available']);
  });

  it('migrates the stores while the former release serves, then replaces it', async () => {
    await make();
    image = 'engram:2';
    await settle();
    const [job, ...others] = jobs();
    expect(others).to.deep.equal([]);
    const { restartPolicy, containers } = job?.spec.template.spec ?? { containers: [] };
    expect([restartPolicy, containers[0]?.image, containers[0]?.args]).to.deep.equal([
      ...['Never', 'engram:2', ['services/start.mjs', 'migrate']],
    ]);
    expect(containers[0]).not.to.have.any.keys('startupProbe', 'livenessProbe', 'readinessProbe');
    expect(containers[0]?.env.map(({ name }) => name)).to.include.members([
      'ENGRAM_ROOT_KEYS',
      'ENGRAM_MONGODB_PASSWORD',
    ]);
    expect([images(), world.conditions()['Ready']]).to.deep.equal([['engram:1'], 'True Available']);
    expect(world.conditions()).to.include({ WorkloadsReady: 'True Migrating' });
    endJobs(world.kube, 'Complete');
    await settle();
    expect([images(), jobs()]).to.deep.equal([['engram:2'], []]);
    expect(world.conditions()).to.include({ Ready: 'True Available', WorkloadsReady: 'True Available' });
    expect(reasons().filter((reason) => reason === 'MigrationStarted')).to.have.length(1);
  });

  it('keeps the former release when the migration fails, and retries when the Job is deleted', async () => {
    await make();
    image = 'engram:2';
    await settle();
    endJobs(world.kube, 'Failed');
    await settle();
    expect([images(), world.conditions()['Stalled']]).to.deep.equal([['engram:1'], 'True MigrationFailed']);
    expect(world.condition('Stalled')?.message).to.include(jobs()[0]?.metadata.name ?? 'a Job');
    world.kube.remove(KINDS.job, jobs()[0]?.metadata ?? PLACE);
    await world.reconcile();
    endJobs(world.kube, 'Complete');
    await settle();
    expect([images(), world.conditions()['Ready']]).to.deep.equal([['engram:2'], 'True Available']);
  });

  it('reports a migration pod whose image does not exist', async () => {
    await make();
    image = 'engram:none';
    await settle();
    const [job] = jobs();
    const { name = '' } = job?.metadata ?? {};
    const labels = job?.spec.template.metadata.labels ?? {};
    world.kube.put(KINDS.pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-x7k2p`, namespace: PLACE.namespace, labels },
      status: { containerStatuses: [{ ready: false, state: { waiting: { reason: 'ErrImagePull' } } }] },
    } as KubeObject);
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'False ImagePullBackOff', WorkloadsReady: 'True Migrating' });
    expect(world.condition('Ready')?.message).to.equal(
      `Job ${name} waits for its pod: ImagePullBackOff; check the image and the pull Secrets`,
    );
    image = 'engram:1';
    await settle();
    expect([images(), jobs(), world.conditions()['Ready']]).to.deep.equal([['engram:1'], [], 'True Available']);
  });

  it('returns to the former release during a migration', async () => {
    await make();
    image = 'engram:2';
    await settle();
    endJobs(world.kube, 'Failed');
    await settle();
    image = 'engram:1';
    await settle();
    expect([images(), jobs(), world.conditions()['Ready']]).to.deep.equal([['engram:1'], [], 'True Available']);
  });

  it('continues an upgrade after the operator was killed', async () => {
    await make();
    image = 'engram:2';
    await settle();
    endJobs(world.kube, 'Complete');
    world.kube.fail({ method: 'PATCH', path: /deployments\/tenant-acme-search/, fault: { status: 403 } });
    await world.reconcile();
    expect(images()).to.have.members(['engram:1', 'engram:2']);
    expect(jobs()).to.have.length(1);
    await settle();
    expect([images(), jobs()]).to.deep.equal([['engram:2'], []]);
  });

  it('migrates the stores of a hibernated tenant without waking it', async () => {
    await make({ state: 'Hibernated' });
    await settle();
    image = 'engram:2';
    await settle();
    expect(images()).to.deep.equal(['engram:1']);
    endJobs(world.kube, 'Complete');
    await settle();
    const services = listed('/apis/apps/v1/deployments').filter(({ spec }) => spec.replicas !== 0);
    expect(services.map(({ metadata }) => metadata.name)).to.deep.equal(['tenant-acme-asleep']);
    expect([images(), jobs()]).to.deep.equal([['engram:2'], []]);
  });

  it('keeps logins that the former release still uses', async () => {
    await make();
    image = 'engram:2';
    await settle();
    world.change({ metadata: { annotations: { [ROTATE_STORES_AT]: '1' } } });
    await settle();
    expect(world.conditions()).to.include({ StoreLoginsReady: 'True Rotating' });
    endJobs(world.kube, 'Complete');
    await settle();
    await settle();
    expect(world.conditions()).to.include({ StoreLoginsReady: 'True Issued' });
  });
});

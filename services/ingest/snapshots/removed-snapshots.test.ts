import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createWorld } from '../../../test/support/cognify-service.ts';
import { createTestJobs } from '../../../test/support/job-worker.ts';
import { createMemoryBlobStore } from '../../../test/support/memory/blob-store.ts';
import { unsignedPrincipals } from '../../../test/support/unsigned-principals.ts';
import { until } from '../../../test/support/until.ts';
import { collections } from '../../app/collections.ts';
import { createAuditLog } from '../../auth/repositories/audit-log.ts';
import { itemBlobs } from '../../common/domain/data-item.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { createMessenger } from '../../common/platform/messaging/messenger.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createManagedResources } from '../../common/records/auth/managed-resources.ts';
import { createDataItems } from '../../common/records/ingest/data-items.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import { SNAPSHOT_SCOPE } from '../../common/storage/snapshots/manifest.ts';
import { createSnapshots } from '../repositories/snapshots.ts';
import { createDatasetSnapshots } from './dataset-snapshots.ts';
import { createManagedSnapshots } from './managed-snapshots.ts';
import { eraseSnapshots } from './remove-snapshots.ts';
import { createSnapshotWork } from './take-snapshot.ts';

const CALL = { requestId: 'r' };

describe('a snapshot that is removed while it is taken', () => {
  it('is gone with all that was written, also when it is complete in the middle of that', async () => {
    const { deps, blobs, written, goOn, dataset, principal, record } = await start();
    const snapshots = createDatasetSnapshots(deps, createSnapshotWork(deps, { answerAfterMs: 10 }));
    const { name } = await snapshots.take({ principal, dataset, name: 'one' }, CALL);
    await written;
    const removeManifest = blobs.remove;
    blobs.remove = async (...keys) => {
      blobs.remove = removeManifest;
      const removed = await removeManifest(...keys);
      await goOn();
      await until('it is complete', async () => (await record(name))?.isComplete === true);
      return removed;
    };
    await snapshots.remove(principal, await snapshots.get(dataset, name));
    await deps.jobs.stop();
    expect(await record(name)).to.equal(null);
    expect(await blobs.list(SNAPSHOT_SCOPE, { limit: 10 })).to.deep.equal([]);
  });

  it('leaves nothing when its dataset is erased, whoever asked for it', async () => {
    const { deps, blobs, written, goOn, dataset, record, crUid } = await start();
    const snapshots = createManagedSnapshots(deps, createSnapshotWork(deps, { answerAfterMs: 10 }));
    const { tenant: tenantId, id: datasetId } = dataset;
    await snapshots.take({ tenantId, datasetId, crUid, name: 'one', place: null }, CALL);
    await written;
    const counts = { removed: () => {}, left: () => {} };
    await eraseSnapshots({ ...deps, store: deps.store }, { tenantId, datasetId, keepSnapshots: true }, counts);
    expect(await record('one')).to.equal(null);
    await goOn();
    await deps.jobs.stop();
    expect(await blobs.list(SNAPSHOT_SCOPE, { limit: 10 })).to.deep.equal([]);
  });
});

type Gate = PromiseWithResolvers<void>;

/** A dataset with an item; whoever writes its content into a snapshot waits until it may go on. */
async function start() {
  const world = await createWorld();
  const { store, dataset } = world;
  await store.prepare(collections);
  const scope = scopeOf(dataset);
  const item = await world.addText('note', 'Ada knows Grace.');
  await world.blobs.put(scope, itemBlobs.original(item), Buffer.from('Ada knows Grace.'));
  await store.commit(scope, createDataItems(store).insertWrites([item]));
  const [writing, going, stored] = [1, 2, 3].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate];
  const kept = createMemoryBlobStore();
  const blobs: { -readonly [Name in keyof BlobStore]: BlobStore[Name] } = {
    ...kept,
    async put(at, key, ...content) {
      if (!key.includes('/blobs-')) return kept.put(at, key, ...content);
      writing.resolve();
      await going.promise;
      const info = await kept.put(at, key, ...content);
      stored.resolve();
      return info;
    },
  };
  const messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
  await messenger.serve('auth.SignSnapshot', async () => ({ keyId: 'k', signature: 's' }));
  const [clock, managedResources, snapshots] = [
    createSystemClock(),
    createManagedResources(store),
    createSnapshots(store),
  ];
  const crUid = randomUUID();
  const thing = { tenant: dataset.tenant, dataset: dataset.id };
  const managed = { ...thing, crUid, isErasing: false, since: clock.now().toISOString() };
  await store.commit({ tenant: dataset.tenant }, [managedResources.insertWrite(managed)]);
  const deps = {
    store,
    blobs: world.blobs,
    indexes: world.indexes,
    clock,
    messenger,
    snapshots,
    managedResources,
    datasets: { get: async () => dataset } as never,
    audit: createAuditLog(store, clock),
    ...createTestJobs(store, clock),
    places: { open: async () => ({ blobs, close: async () => {} }) },
  };
  const principal = { id: dataset.ownerId, email: '', tenant: dataset.tenant, isSuperuser: false, parentId: null };
  const record = (name: string) => snapshots.get({ tenant: dataset.tenant }, name);
  const goOn = async () => {
    going.resolve();
    await stored.promise;
  };
  return { deps, blobs, written: writing.promise, goOn, dataset, principal, record, crUid };
}

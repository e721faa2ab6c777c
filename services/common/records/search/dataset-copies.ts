import { setTimeout as sleep } from 'node:timers/promises';
import { type DatasetScope, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { createHeartbeat } from '../../platform/leases/heartbeat.ts';
import { leasesOf } from '../../platform/leases/lease.ts';
import type { Clock, UuidSource } from '../../ports/system.ts';
import {
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  VersionConflictError,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

type DatasetCopy = {
  readonly tenant: string;
  readonly dataset: string;
  /** The id of the copy; null: it has to be dropped, and its lease is not renewed any more. */
  readonly holder: string | null;
  readonly leasedUntilMs: number;
};

/** Copies of datasets in search processes, each under a lease. */
export const datasetCopiesCollection: OwnedCollection<DatasetCopy> = {
  name: 'dataset_copies',
  level: 'system',
  owner: 'search',
  writers: { cognify: 'has copies dropped before it reports an erasure' },
  belongsTo: 'system',
  indexes: [{ fields: ['tenant', 'dataset'] }, { fields: ['leasedUntilMs'] }],
};

/** The longest time for which an erasure waits for a process that does not answer. */
const LEASE_MS = 10_000;
/** How soon a holder notices that it has to drop its copy. */
const BEAT_MS = 1_000;
/** A copy is not read in the last moments of its lease. */
const MARGIN_MS = 1_000;
const POLL_MS = 250;
/** Rows that dead processes left; no clocks differ by so much. */
const LEFT_MS = 24 * 3_600_000;

const leases = leasesOf(datasetCopiesCollection, { holder: 'holder', leasedUntilMs: 'leasedUntilMs', fence: 'holder' });

export type DatasetCopyLeases = ReturnType<typeof createDatasetCopyLeases>;
export type CopyLease = Awaited<ReturnType<DatasetCopyLeases['hold']>>;

/**
 * Says who holds copies of datasets. All times are measured by the clock of the process that measures, none are compared between
 * processes: a holder counts its lease from before it renewed it, an erasure from after it barred the renewal.
 */
export function createDatasetCopyLeases({
  store,
  clock,
  ids,
}: {
  store: DocumentStore;
  clock: Clock;
  ids: UuidSource;
}) {
  const until = () => clock.now().getTime() + LEASE_MS;
  return {
    /** Registers a copy that is going to be made. `drop` is called, perhaps more than once, when it may not be kept. */
    async hold({ tenant, dataset }: DatasetScope, drop: () => void) {
      const id = ids.uuid();
      const heldSinceMs = clock.monotonicMs();
      await store.commit(SYSTEM_SCOPE, [
        insert(datasetCopiesCollection, id, { tenant, dataset, holder: id, leasedUntilMs: until() }),
        removeWhere(datasetCopiesCollection, { leasedUntilMs: { lessThan: until() - LEFT_MS } }),
      ]);
      const heartbeat = createHeartbeat({
        clock,
        leaseMs: LEASE_MS,
        everyMs: BEAT_MS,
        heldSinceMs,
        afterPause: 'over',
        async extend() {
          const set = leases.spelled({ leasedUntilMs: until() });
          await store.commit(SYSTEM_SCOPE, [leases.heldWrite(id, id, { set, required: true })]);
        },
        onFailed(error) {
          if (error instanceof VersionConflictError) drop();
        },
        onOver: drop,
      });
      return {
        /** Whether the copy may be read at this moment. */
        isHeld: () => heartbeat.leftMs() > MARGIN_MS,
        /** Once the copy is dropped. */
        async release() {
          await heartbeat.stop();
          await store.commit(SYSTEM_SCOPE, [remove(datasetCopiesCollection, id)]);
        },
      };
    },
    /**
     * Resolves when no process holds a copy of the dataset that was registered before the call: each has said that it dropped
     * it, or its lease is over.
     */
    async recall({ tenant, dataset }: DatasetScope): Promise<void> {
      const where = { tenant, dataset };
      const read = async () => {
        const page = await store.find(SYSTEM_SCOPE, datasetCopiesCollection, { where, limit: 1000 });
        return page.items.map(({ id }) => id);
      };
      const asked = new Set(await read());
      if (asked.size === 0) return;
      const set = leases.spelled({ holder: null });
      await store.commit(
        SYSTEM_SCOPE,
        [...asked].map((id) => leases.heldWrite(id, id, { set })),
      );
      const barredMs = clock.monotonicMs();
      for (;;) {
        const left = (await read()).filter((id) => asked.has(id));
        if (left.length === 0) return;
        if (clock.monotonicMs() - barredMs > LEASE_MS) {
          await store.commit(
            SYSTEM_SCOPE,
            left.map((id) => remove(datasetCopiesCollection, id)),
          );
          return;
        }
        await sleep(POLL_MS);
      }
    },
  };
}

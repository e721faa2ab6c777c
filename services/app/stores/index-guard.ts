import type { DataItemId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { type AnyScope, type DatasetScope, datasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { HealthCheck } from '../../common/platform/http/health-probe.ts';
import type { Logger } from '../../common/platform/observability/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import { datasetsCollection } from '../../common/records/auth/datasets.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { createIndexRebuilds, requireWholeIndex } from '../../common/records/cognify/index-rebuilds.ts';
import { createLedger, type Ledger } from '../../common/records/cognify/ledger.ts';
import { vectorVersionsCollection, versionScope } from '../../common/records/cognify/vector-index-versions.ts';
import { createDataItems, type DataItems } from '../../common/records/ingest/data-items.ts';
import type { IndexStores } from '../../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { provenanceKey } from '../../common/storage/ports/index-entry.ts';
import type { SearchThreads } from '../../search/threads.ts';

/** Compares what indexes hold with the ledger, and refuses reads of a dataset whose rows were lost until they are back. */
export type IndexGuard = Awaited<ReturnType<typeof createIndexGuard>>;

/** Datasets that are looked at in one turn of the event loop. */
const AT_ONCE = 50;

export async function createIndexGuard({
  store,
  clock,
  logger,
}: {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const ledger = createLedger(store);
  const items = createDataItems(store);
  const rebuilds = createIndexRebuilds(store);
  // Only a hint, so that reads of whole datasets cost nothing: the store says whether it is still so.
  const rebuilding = new Map<string, DatasetScope>();
  for (const { scope } of await rebuilds.all(SYSTEM_SCOPE)) rebuilding.set(keyOf(scope), scope);

  const { ownerOf, findVectorVersions } = createOwners(store);
  await findVectorVersions();

  const refuse = async (indexed: DatasetScope): Promise<void> => {
    const scope = ownerOf(indexed);
    if (!rebuilding.has(keyOf(scope))) return;
    await requireWholeIndex(store, scope);
    rebuilding.delete(keyOf(scope));
  };

  return {
    /** Marks items that are committed but have no rows as not built, to be built again by a run of cognify. */
    async verify(indexed: DatasetScope, provenance: () => Promise<ReadonlySet<string>>) {
      const scope = ownerOf(indexed);
      const { lost, intact } = await lostItems({ store, ledger, items }, scope, provenance);
      if (lost.length === 0) return;
      const lostAt = clock.now().toISOString();
      logger.error('index.lost', { datasetId: scope.dataset, tenant: scope.tenant, items: lost.length, intact });
      rebuilding.set(keyOf(scope), scope);
      await rebuilds.put(scope, { lostAt, lost: lost.length, intact, runId: null, failures: 0, retryAtMs: 0 });
      await ledger.reset(scope, lost as readonly DataItemId[], lostAt);
    },
    /** The indexes for those that answer from them: reads fail while their dataset is rebuilt. */
    guarded: ({ text, vectors, graph }: IndexStores) => ({
      text: refusing(text, refuse),
      vectors: refusing(vectors, refuse),
      graph: refusing(graph, refuse),
    }),
    /** The same for threads that answer from them. */
    guardedThreads: (threads: SearchThreads): SearchThreads => ({
      ...refusing(threads, refuse),
      async retrieve(scope, request, signal) {
        const retrieval = await threads.retrieve(scope, request, signal);
        for (const read of [scope, ...(request.joined ?? []).map((one) => one.scope)]) await refuse(read);
        return retrieval;
      },
    }),
    /** The check, degraded while a dataset is rebuilt. */
    guardedHealth(health: HealthCheck | null): HealthCheck | null {
      if (health === null) return null;
      return {
        critical: health.critical,
        async check() {
          const result = await health.check();
          const count = (await rebuilds.all(SYSTEM_SCOPE)).length;
          if (count === 0 || result.status !== 'healthy') return result;
          const details = `The index of ${count} dataset${count === 1 ? '' : 's'} was lost and is being rebuilt`;
          return { ...result, status: 'degraded', details };
        },
      };
    },
    async inspectAll(inspect: (scope: DatasetScope) => Promise<void>) {
      const vectorVersions = await findVectorVersions();
      const datasets = (await findAll(store, SYSTEM_SCOPE, datasetsCollection)).map(({ id, tenant }) =>
        datasetScope(asId(tenant ?? ''), asId(id)),
      );
      for (const slice of slices([...datasets, ...vectorVersions], AT_ONCE)) await Promise.all(slice.map(inspect));
    },
  };
}

function keyOf({ tenant, dataset }: DatasetScope): string {
  return `${tenant}/${dataset}`;
}

/** Datasets of files that hold their vectors of another embedding model. */
function createOwners(store: DocumentStore) {
  const owners = new Map<string, DatasetScope>();
  const ownerOf = (scope: DatasetScope) => owners.get(keyOf(scope)) ?? scope;
  /** Vectors of another embedding model are a part of the dataset in a file of their own. */
  const findVectorVersions = async (): Promise<readonly DatasetScope[]> => {
    owners.clear();
    return (await findAll(store, SYSTEM_SCOPE, vectorVersionsCollection)).flatMap(({ tenant, dataset, value }) => {
      if (value.active === 0) return [];
      const owner = datasetScope(asId(tenant ?? ''), asId(dataset ?? ''));
      const home = versionScope(owner, value.active);
      owners.set(keyOf(home), owner);
      return [home];
    });
  };
  return { ownerOf, findVectorVersions };
}

interface GuardRecords {
  readonly store: DocumentStore;
  readonly ledger: Ledger;
  readonly items: DataItems;
}

/** Items that are committed and have no rows, and how many have them. */
async function lostItems(
  { store, ledger, items }: GuardRecords,
  scope: DatasetScope,
  provenance: () => Promise<ReadonlySet<string>>,
) {
  const committed = [...(await ledger.allEntries(scope))]
    // A document without text has no rows.
    .filter(([, { erased, generation, counts }]) => !erased && generation > 0 && counts?.['chunks'] !== 0)
    .map(([item, { generation }]) => ({ item, generation }));
  if (committed.length === 0) return { lost: [], intact: 0 };
  const present = await provenance();
  const missing = committed.filter((entry) => !present.has(provenanceKey(entry)));
  if (missing.length === 0) return { lost: [], intact: committed.length };
  // A restore writes records before rows, and its dataset has no name until both are there.
  const isNamed = (await store.get({ tenant: scope.tenant }, datasetsCollection, scope.dataset)) !== null;
  if (!isNamed) return { lost: [], intact: 0 };
  // An item may have been built again or erased between the two looks.
  const now = await ledger.committed(
    scope,
    missing.map(({ item }) => item),
  );
  const still = missing.filter(({ item, generation }) => now.get(item) === generation);
  // What no item was added for (learned facts, for example) cannot be built again.
  const known = await items.getMany(
    scope,
    still.map(({ item }) => item),
  );
  return { lost: known.map(({ id }) => id), intact: committed.length - still.length };
}

/** The port, whose reads end with `refuse` of their scope: also those that began before the loss was noticed. */
function refusing<Port extends object>(port: Port, refuse: (scope: DatasetScope) => Promise<void>): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (scope: AnyScope, ...values: unknown[]) => {
        const result: unknown = await Reflect.apply(member, target, [scope, ...values]);
        await refuse(scope as DatasetScope);
        return result;
      };
    },
  });
}

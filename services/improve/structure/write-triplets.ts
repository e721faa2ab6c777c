import type { DataItemId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import type { DocumentWriter } from '../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { StructureItem, StructureItems } from '../repositories/structure-items.ts';
import { createGraphPatches, type GraphPatches, type PatchingPass } from './graph-patches.ts';
import { itemChanges } from './item-changes.ts';
import { createShownNames, itemTriplets, type ShownNames, type Triplet } from './item-triplets.ts';

export interface TripletDependencies extends Pick<ImproveDependencies, 'messenger'> {
  readonly store: DocumentWriter;
  readonly indexes: DatasetReaders;
  readonly ledger: Ledger;
  readonly structureItems: StructureItems;
}

/** Items whose progress is written in one commit. */
const ITEMS_AT_ONCE = 100;

/**
 * Makes triplets of the items that are new or changed since the last time, and removes those of removed items; cognify writes
 * and removes the rows. With node sets only rows of these are made, and no item is marked as done. Rows belong to the
 * generation that they were made from, so they are erased and hidden together with it.
 */
export async function writeTriplets(
  deps: TripletDependencies,
  pass: PatchingPass,
  nodeSets: readonly string[],
): Promise<void> {
  const scope = scopeOf(pass.dataset);
  const { fresh, gone, known } = await itemChanges(deps, scope, 'triplets');
  const names = createShownNames(deps, scope);
  await createGraphPatches(deps, pass).remove(gone);
  for (const origins of slices(fresh, ITEMS_AT_ONCE)) {
    pass.signal.throwIfAborted();
    await writeItems(deps, pass, { origins, known, nodeSets, names });
  }
  const kept = new Set(fresh.map(({ item }) => item));
  const forgotten = gone.filter(({ item }) => !kept.has(item));
  for (const slice of slices(forgotten, ITEMS_AT_ONCE)) {
    await deps.store.commit(
      scope,
      slice.map((item) => deps.structureItems.removeWrite('triplets', item)),
    );
  }
}

interface TripletGroup {
  readonly origins: readonly Provenance[];
  readonly known: ReadonlyMap<DataItemId, StructureItem>;
  readonly nodeSets: readonly string[];
  readonly names: ShownNames;
}

async function writeItems(deps: TripletDependencies, pass: PatchingPass, group: TripletGroup): Promise<void> {
  const scope = scopeOf(pass.dataset);
  const { origins, known, nodeSets } = group;
  const { structureItems, store } = deps;
  // Written first: rows of a crashed process are found and removed, even if the item is gone by then.
  const notes = await store.commit(
    scope,
    origins.map((origin) => structureItems.write('triplets', { ...origin, isDone: false }, known.get(origin.item))),
  );
  const patches = createGraphPatches(deps, pass);
  await addTriplets(deps, pass, { ...group, patches });
  const lost = await patches.finish();
  const done = origins.flatMap((origin, index) => {
    if (nodeSets.length > 0 || lost.has(origin.item)) return [];
    const begun = { ...origin, isDone: false, version: notes[index]?.stored?.version ?? 1 };
    return [structureItems.write('triplets', { ...origin, isDone: true }, begun)];
  });
  if (done.length > 0) await store.commit(scope, done);
}

async function addTriplets(
  deps: TripletDependencies,
  pass: PatchingPass,
  { origins, nodeSets, names, patches }: TripletGroup & { readonly patches: GraphPatches },
): Promise<void> {
  const scope = scopeOf(pass.dataset);
  const isWanted = (triplet: Triplet) =>
    nodeSets.length === 0 || triplet.nodeSets.some((name) => nodeSets.includes(name));
  const sources = { indexes: deps.indexes, names };
  for (const origin of origins) {
    let ordinal = 0;
    for await (const page of itemTriplets(sources, scope, origin)) {
      pass.signal.throwIfAborted();
      const wanted = page.filter(isWanted);
      await patches.add(
        origin,
        wanted.map((triplet, index) => ({ ...triplet, ordinal: ordinal + index })),
      );
      ordinal += wanted.length;
    }
  }
}

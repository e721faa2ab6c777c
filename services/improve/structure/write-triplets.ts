import type { DataItemId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { slices } from '../../common/kernel/slices.ts';
import { type ItemPatch, MAX_PATCH_ROWS, type PatchedTriplet } from '../../common/platform/messaging/messages.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import type { DocumentWriter } from '../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../model.ts';
import type { StructureItem, StructureItems } from '../repositories/structure-items.ts';
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
export async function writeTriplets(deps: TripletDependencies, pass: PatchingPass, nodeSets: readonly string[]) {
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

/** Sends changes of the graph and the indexes to cognify, which writes them, in as few messages as possible. */
type GraphPatches = ReturnType<typeof createGraphPatches>;

export type PatchingPass = Pick<ImprovePass, 'dataset' | 'context' | 'leaseToken' | 'signal'>;

/** Limit of one patch; a message has at most 1 MiB. */
const PATCH_BYTES = 700_000;

export function createGraphPatches(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { dataset, context: { signal: _, ...context }, leaseToken, signal }: PatchingPass,
) {
  const lost = new Set<DataItemId>();
  let items: ItemPatch[] = [];
  let rows = 0;
  let bytes = 0;
  // Without a signal: an erasure of the dataset waits for this improve, and nothing may be written after it has ended.
  const send = async (patch: { readonly items: readonly ItemPatch[]; readonly gone: readonly Provenance[] }) => {
    signal.throwIfAborted();
    const { lostItems } = await messenger.call('cognify.ApplyGraphPatch', { dataset, leaseToken, ...patch }, context);
    for (const item of lostItems) lost.add(item);
  };
  const flush = async (): Promise<void> => {
    const full = items;
    items = [];
    rows = 0;
    bytes = 0;
    if (full.length > 0) await send({ items: full, gone: [] });
  };
  return {
    /** Adds triplets; sends the ones before when the message is full. */
    async add({ item, generation }: Provenance, triplets: readonly PatchedTriplet[]) {
      let fitting: PatchedTriplet[] = [];
      const close = (): void => {
        if (fitting.length > 0) items.push({ item, generation, triplets: fitting });
        fitting = [];
      };
      for (const triplet of triplets) {
        const size = Buffer.byteLength(JSON.stringify(triplet));
        if (rows > 0 && (rows === MAX_PATCH_ROWS || bytes + size > PATCH_BYTES)) {
          close();
          await flush();
        }
        fitting.push(triplet);
        rows += 1;
        bytes += size;
      }
      close();
    },
    /** Sends the rest. Returns the items whose generation was gone when it was written: none of their rows exist. */
    async finish(): Promise<ReadonlySet<DataItemId>> {
      await flush();
      return lost;
    },
    /** Removes the rows of generations that are not committed any more. */
    async remove(gone: readonly Provenance[]) {
      for (const slice of slices(gone, MAX_PATCH_ROWS)) {
        await send({ items: [], gone: slice.map(({ item, generation }) => ({ item, generation })) });
      }
    },
  };
}

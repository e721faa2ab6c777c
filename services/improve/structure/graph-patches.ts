import type { DataItemId } from '../../common/kernel/brand.ts';
import { slices } from '../../common/kernel/slices.ts';
import { type ItemPatch, MAX_PATCH_ROWS, type PatchedTriplet } from '../../common/platform/messaging/messages.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../model.ts';

/** Sends changes of the graph and the indexes to cognify, which writes them, in as few messages as possible. */
export type GraphPatches = ReturnType<typeof createGraphPatches>;

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

import type { DataItemId } from '../../common/kernel/brand.ts';
import { slices } from '../../common/kernel/slices.ts';
import {
  applyGraphPatch,
  type ItemPatch,
  MAX_PATCH_ROWS,
  type PatchedTriplet,
} from '../../common/platform/messaging/methods/cognify.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';

/** What is to change in the graph and the indexes, on its way to cognify, which writes it: as few messages as carry it. */
export interface GraphPatches {
  /** Sends what was added before when there is no more room for it. */
  add(origin: Provenance, triplets: readonly PatchedTriplet[]): Promise<void>;
  /** Sends what is left. Items whose generation was gone when it came to be written: nothing of them is there. */
  finish(): Promise<ReadonlySet<DataItemId>>;
  /** Removes what may be left of generations that nobody sees any more. */
  remove(gone: readonly Provenance[]): Promise<void>;
}

export type PatchingPass = Pick<ImprovePass, 'dataset' | 'context' | 'leaseToken' | 'signal'>;

/** Messages of a bus end at a mebibyte. */
const PATCH_BYTES = 700_000;

export function createGraphPatches(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { dataset, context: { signal: _, ...context }, leaseToken, signal }: PatchingPass,
): GraphPatches {
  const lost = new Set<DataItemId>();
  let items: ItemPatch[] = [];
  let rows = 0;
  let bytes = 0;
  // Never given up half-way: whoever erases the dataset waits for this improve, and nothing may be written behind it.
  const send = async (patch: { readonly items: readonly ItemPatch[]; readonly gone: readonly Provenance[] }) => {
    signal.throwIfAborted();
    const { lostItems } = await messenger.call(applyGraphPatch, { dataset, leaseToken, ...patch }, context);
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
    async add({ item, generation }, triplets) {
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
    async finish() {
      await flush();
      return lost;
    },
    async remove(gone) {
      for (const slice of slices(gone, MAX_PATCH_ROWS)) {
        await send({ items: [], gone: slice.map(({ item, generation }) => ({ item, generation })) });
      }
    },
  };
}

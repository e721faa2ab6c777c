import type { DataItemId } from '../../common/domain/brand.ts';
import { payerOf } from '../../common/domain/budget.ts';
import { scopeOf } from '../../common/domain/dataset.ts';
import { createGate } from '../../common/domain/gate.ts';
import { tripletRow } from '../../common/domain/index-rows.ts';
import { tokenize } from '../../common/language/tokenize.ts';
import type { DatasetIndexes } from '../../common/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../common/ports/document-store.ts';
import type { Provenance } from '../../common/ports/index-entry.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import type { Ledger } from '../../common/repositories/ledger.ts';
import type { StructureItem, StructureItems } from '../../common/repositories/structure-items.ts';
import type { ImprovePass } from '../stage.ts';
import { itemChanges } from './item-changes.ts';
import { itemTriplets, type Triplet } from './item-triplets.ts';
import { createShownNames, type ShownNames } from './shown-names.ts';

export interface TripletDependencies {
  readonly store: Pick<DocumentStore, 'commit'>;
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  readonly ledger: Pick<Ledger, 'committed' | 'allCommitted'>;
  readonly structureItems: StructureItems;
  readonly embedder: Embedder;
}

export interface WrittenTriplets {
  /** Items that were read. */
  readonly items: number;
  readonly triplets: number;
}

const TEXTS_PER_CALL = 32;
const CALLS_AT_ONCE = 4;

type TripletPass = Pick<ImprovePass, 'dataset' | 'principal' | 'signal'>;

/** Items that are noted together, and rows that are written together: the stores take many at the cost of a few. */
const ITEMS_AT_ONCE = 100;
const ROWS_AT_ONCE = 1000;

/**
 * Makes triplets of the items that are new or changed since the last time, and removes what is left of those that are gone.
 * With node sets only rows of these are made, and nothing is noted as done. Rows belong to the generation that they were
 * read from: whoever erases the item erases them, and the ledger hides them with it.
 */
export async function writeTriplets(
  deps: TripletDependencies,
  pass: TripletPass,
  nodeSets: readonly string[],
): Promise<WrittenTriplets> {
  const scope = scopeOf(pass.dataset);
  const { fresh, gone, known } = await itemChanges(deps, scope, 'triplets');
  const names = createShownNames(deps, scope);
  let triplets = 0;
  for (const { item, generation } of gone) await removeRows(deps, pass, { item, generation });
  for (let start = 0; start < fresh.length; start += ITEMS_AT_ONCE) {
    pass.signal.throwIfAborted();
    const origins = fresh.slice(start, start + ITEMS_AT_ONCE);
    triplets += await writeItems(deps, pass, { origins, known, nodeSets, names });
  }
  const kept = new Set(fresh.map(({ item }) => item));
  const forgotten = gone.filter(({ item }) => !kept.has(item));
  for (let start = 0; start < forgotten.length; start += ITEMS_AT_ONCE) {
    const slice = forgotten.slice(start, start + ITEMS_AT_ONCE);
    await deps.store.commit(
      scope,
      slice.map((item) => deps.structureItems.removeWrite('triplets', item)),
    );
  }
  return { items: fresh.length, triplets };
}

interface TripletGroup {
  readonly origins: readonly Provenance[];
  readonly known: ReadonlyMap<DataItemId, StructureItem>;
  readonly nodeSets: readonly string[];
  readonly names: ShownNames;
}

async function writeItems(deps: TripletDependencies, pass: TripletPass, group: TripletGroup): Promise<number> {
  const scope = scopeOf(pass.dataset);
  const { origins, known, nodeSets } = group;
  const { structureItems, store } = deps;
  // Noted first: what a dead process leaves is found and removed, even if the item is gone by then.
  const notes = await store.commit(
    scope,
    origins.map((origin) => structureItems.write('triplets', { ...origin, isDone: false }, known.get(origin.item))),
  );
  const written = await writeGroup(deps, pass, group);
  const lost = await lostAmong(deps, pass, origins);
  const done = origins.flatMap((origin, index) => {
    if (nodeSets.length > 0 || lost.has(origin.item)) return [];
    const begun = { ...origin, isDone: false, version: notes[index]?.stored?.version ?? 1 };
    return [structureItems.write('triplets', { ...origin, isDone: true }, begun)];
  });
  if (done.length > 0) await store.commit(scope, done);
  return written;
}

/** Erasing makes invisible first, then removes: rows that were written behind it are removed here. */
async function lostAmong(
  deps: TripletDependencies,
  pass: TripletPass,
  origins: readonly Provenance[],
): Promise<ReadonlySet<DataItemId>> {
  const committed = await deps.ledger.committed(
    scopeOf(pass.dataset),
    origins.map(({ item }) => item),
  );
  const lost = origins.filter(({ item, generation }) => committed.get(item) !== generation);
  for (const origin of lost) await removeRows(deps, pass, origin);
  return new Set(lost.map(({ item }) => item));
}

type Row = ReturnType<typeof tripletRow>;

async function writeGroup(
  deps: TripletDependencies,
  pass: TripletPass,
  { origins, nodeSets, names }: TripletGroup,
): Promise<number> {
  const scope = scopeOf(pass.dataset);
  const isWanted = (triplet: Triplet) =>
    nodeSets.length === 0 || triplet.nodeSets.some((name) => nodeSets.includes(name));
  const sources = { indexes: deps.indexes, names };
  let written = 0;
  let rows: Row[] = [];
  for (const origin of origins) {
    let ordinal = 0;
    for await (const page of itemTriplets(sources, scope, origin)) {
      pass.signal.throwIfAborted();
      for (const { payload, nodeSets: sets } of page.filter(isWanted)) {
        rows.push(tripletRow({ ...origin, nodeSets: sets }, { ordinal, payload }, tokenize));
        ordinal += 1;
      }
      if (rows.length < ROWS_AT_ONCE) continue;
      await writeRows(deps, pass, rows);
      rows = [];
    }
    written += ordinal;
  }
  await writeRows(deps, pass, rows);
  return written;
}

async function writeRows(
  { indexes, embedder }: TripletDependencies,
  { dataset, principal, signal }: TripletPass,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const scope = scopeOf(dataset);
  const context: ModelCallContext = { scope, purpose: 'extraction', payer: payerOf(principal), signal };
  const vectors = await embedAll(
    embedder,
    rows.map(({ payload }) => payload.text),
    context,
  );
  signal.throwIfAborted();
  await indexes.vectors.upsert(
    scope,
    embedder.space,
    rows.map(({ id, item, generation, nodeSets, kind }, index) => ({
      ...{ id, item, generation, nodeSets, kind },
      vector: vectors[index] ?? new Float32Array(embedder.space.dimensions),
    })),
  );
  await indexes.text.upsert(scope, rows);
}

/** In batches, a few at a time; one vector a text, in order. */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  context: ModelCallContext,
): Promise<readonly Float32Array[]> {
  const gate = createGate(CALLS_AT_ONCE);
  const slices = Array.from({ length: Math.ceil(texts.length / TEXTS_PER_CALL) }, (_, at) =>
    texts.slice(at * TEXTS_PER_CALL, (at + 1) * TEXTS_PER_CALL),
  );
  const made = await Promise.all(
    slices.map((slice) =>
      gate(async () => {
        context.signal?.throwIfAborted();
        return embedder.embed(slice, context);
      }),
    ),
  );
  return made.flat();
}

/** Only triplets may be left of a generation that nobody sees: cognify has removed its own rows. */
async function removeRows(
  { indexes }: TripletDependencies,
  { dataset }: Pick<ImprovePass, 'dataset'>,
  { item, generation }: Provenance,
): Promise<void> {
  const scope = scopeOf(dataset);
  await indexes.text.remove(scope, { item, generation });
  await indexes.vectors.remove(scope, { item, generation });
}

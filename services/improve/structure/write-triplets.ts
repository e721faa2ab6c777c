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

/**
 * Makes triplets of the items that are new or changed since the last time, and removes what is left of those that are gone.
 * With node sets only rows of these are made, and nothing is noted as done. Rows belong to the generation that they were
 * read from: whoever erases the item erases them, and the ledger hides them with it.
 */
export async function writeTriplets(
  deps: TripletDependencies,
  pass: Pick<ImprovePass, 'dataset' | 'principal' | 'signal'>,
  nodeSets: readonly string[],
): Promise<WrittenTriplets> {
  const scope = scopeOf(pass.dataset);
  const { fresh, gone, known } = await itemChanges(deps, scope, 'triplets');
  let triplets = 0;
  for (const { item, generation } of gone) await removeRows(deps, pass, { item, generation });
  for (const origin of fresh) {
    pass.signal.throwIfAborted();
    triplets += await writeItem(deps, pass, { origin, before: known.get(origin.item), nodeSets });
  }
  const forgotten = gone.filter(({ item }) => fresh.every((other) => other.item !== item));
  if (forgotten.length > 0) {
    await deps.store.commit(
      scope,
      forgotten.map((item) => deps.structureItems.removeWrite('triplets', item)),
    );
  }
  return { items: fresh.length, triplets };
}

async function writeItem(
  deps: TripletDependencies,
  pass: Pick<ImprovePass, 'dataset' | 'principal' | 'signal'>,
  {
    origin,
    before,
    nodeSets,
  }: {
    readonly origin: Provenance;
    readonly before: StructureItem | undefined;
    readonly nodeSets: readonly string[];
  },
): Promise<number> {
  const scope = scopeOf(pass.dataset);
  const { structureItems, store, ledger } = deps;
  const begun = { ...origin, isDone: false };
  // Noted first: what a dead process leaves is found and removed, even if the item is gone by then.
  const [noted] = await store.commit(scope, [structureItems.write('triplets', begun, before)]);
  let ordinal = 0;
  for await (const page of itemTriplets(deps, scope, origin)) {
    pass.signal.throwIfAborted();
    const wanted = page.filter((row) => nodeSets.length === 0 || row.nodeSets.some((name) => nodeSets.includes(name)));
    await writeRows(deps, pass, { origin, triplets: wanted, ordinal });
    ordinal += wanted.length;
  }
  // Erasing makes invisible first, then removes: rows that were written behind it are removed here.
  const committed = await ledger.committed(scope, [origin.item]);
  if (committed.get(origin.item) !== origin.generation) {
    await removeRows(deps, pass, origin);
    return 0;
  }
  if (nodeSets.length > 0) return ordinal;
  const version = noted?.stored?.version ?? 1;
  await store.commit(scope, [structureItems.write('triplets', { ...origin, isDone: true }, { ...begun, version })]);
  return ordinal;
}

async function writeRows(
  { indexes, embedder }: TripletDependencies,
  { dataset, principal, signal }: Pick<ImprovePass, 'dataset' | 'principal' | 'signal'>,
  {
    origin,
    triplets,
    ordinal,
  }: { readonly origin: Provenance; readonly triplets: readonly Triplet[]; readonly ordinal: number },
): Promise<void> {
  if (triplets.length === 0) return;
  const scope = scopeOf(dataset);
  const context: ModelCallContext = { scope, purpose: 'extraction', payer: payerOf(principal), signal };
  const rows = triplets.map(({ payload, nodeSets }, index) =>
    tripletRow({ ...origin, nodeSets }, { ordinal: ordinal + index, payload }, tokenize),
  );
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

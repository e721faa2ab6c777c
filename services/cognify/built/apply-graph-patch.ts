import { setImmediate as nextTurn } from 'node:timers/promises';
import { payerOf } from '../../common/domain/budget.ts';
import { tripletRow } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import {
  type AnswerOf,
  type ItemPatch,
  MAX_PATCH_ROWS,
  type RequestOf,
} from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import { activeEmbedding, type EmbeddingDependencies } from '../../common/records/cognify/active-embedding.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import type { ImproveClaims } from '../../common/records/improve/improve-claims.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { createIndexWriter, emptyBatch, type IndexBatch } from '../pipeline/index-writer.ts';
import { type RowStores, removeRows } from '../pipeline/remove-rows.ts';

interface Dependencies
  extends RowStores,
    EmbeddingDependencies,
    Pick<CognifyDependencies, 'ledger' | 'clock' | 'settings'> {
  readonly vectorVersions: VectorIndexVersions;
  /** Read only: improve writes them. */
  readonly claims: ImproveClaims;
}

/** Tokenizing this many rows takes some milliseconds; requests get their turn in between. */
const ROWS_PER_TURN = 100;
/** Generations whose rows are removed at the same time. */
const AT_ONCE = 16;

/**
 * Writes rows of an improve under the generation of the item that they were derived from: the ledger hides them together with
 * it, and erasing the item erases and counts them. A generation that is not committed gets no rows; rows that were written
 * while it was replaced are removed again. The improve must hold its claim on the dataset right before rows are written. Rows
 * are keyed by generation and edge, so a write that ends after the lease is at worst an older wording of the same edges.
 */
export async function applyGraphPatch(
  dependencies: Dependencies,
  request: RequestOf<'cognify.ApplyGraphPatch'>,
  context: CallContext,
): Promise<AnswerOf<'cognify.ApplyGraphPatch'>> {
  requireBounded(request);
  const { dataset, items, gone } = request;
  const scope = scopeOf(dataset);
  await requireHolder(dependencies, request);
  await removeGone(dependencies, scope, gone);
  const before = await lostAmong(dependencies, scope, items);
  const present = items.filter(({ item }) => !before.has(item));
  const batch = await batchOf(present);
  if (batch.entries.length === 0) return { lostItems: [...before] };
  await write(dependencies, request, { batch, context });
  const after = await lostAmong(dependencies, scope, present);
  const lost = present.filter(({ item }) => after.has(item));
  await removeEach(dependencies, scope, lost);
  return { lostItems: [...before, ...after] };
}

function requireBounded({ items, gone }: RequestOf<'cognify.ApplyGraphPatch'>): void {
  const triplets = items.reduce((sum, patch) => sum + patch.triplets.length, 0);
  if (Math.max(triplets, items.length, gone.length) <= MAX_PATCH_ROWS) return;
  throw engramError('PayloadTooLargeError', `A patch of the graph has at most ${MAX_PATCH_ROWS} rows.`);
}

async function requireHolder(
  { claims, clock }: Dependencies,
  { dataset, leaseToken }: { readonly dataset: DatasetRef; readonly leaseToken: string },
): Promise<void> {
  if (await claims.holds(dataset.id, leaseToken, clock.now().getTime())) return;
  throw engramError('ConflictError', 'This improve does not hold the dataset any more.', { retryable: true });
}

/** Returns the items whose generation is not committed: forgotten, reset, or built again. */
async function lostAmong(
  { ledger }: Dependencies,
  scope: DatasetScope,
  origins: readonly Provenance[],
): Promise<ReadonlySet<Provenance['item']>> {
  const committed = await ledger.committed(
    scope,
    origins.map(({ item }) => item),
  );
  return new Set(origins.filter(({ item, generation }) => committed.get(item) !== generation).map(({ item }) => item));
}

async function batchOf(items: readonly ItemPatch[]): Promise<IndexBatch> {
  const batch = emptyBatch();
  for (const { item, generation, triplets } of items) {
    for (const { ordinal, payload, nodeSets } of triplets) {
      const row = tripletRow({ item, generation, nodeSets }, { ordinal, payload }, tokenize);
      const { tokens: _, ordinal: __, payload: ___, ...entry } = row;
      batch.entries.push(row);
      batch.embeddings.push({ entry, text: payload.text });
      if (batch.entries.length % ROWS_PER_TURN === 0) await nextTurn();
    }
  }
  return batch;
}

async function write(
  dependencies: Dependencies,
  request: RequestOf<'cognify.ApplyGraphPatch'>,
  { batch, context }: { readonly batch: IndexBatch; readonly context: CallContext },
): Promise<void> {
  const { text, graph, vectorVersions, settings } = dependencies;
  const scope = scopeOf(request.dataset);
  const { signal } = context;
  const writer = createIndexWriter({
    scope,
    text,
    graph,
    vectors: vectorVersions.inVersions,
    ...settings,
    activeVersion: () => activeEmbedding(dependencies, scope),
    written: (version) => vectorVersions.written(scope, version),
    context: {
      scope,
      purpose: 'extraction',
      payer: payerOf(callerOf(context)),
      ...(signal === undefined ? {} : { signal }),
    },
    // Embedding may take long enough for another improve to take over.
    permit: () => requireHolder(dependencies, request),
  });
  await writer.write(batch);
  // A migration that already copied these items has not seen the new rows.
  if ((await vectorVersions.state(scope)).migration === null) return;
  await vectorVersions.forgetReembedded(scope, [...new Set(batch.entries.map(({ item }) => item))]);
}

/** Removes rows of generations that are neither committed nor being built. */
async function removeGone(dependencies: Dependencies, scope: DatasetScope, gone: readonly Provenance[]): Promise<void> {
  if (gone.length === 0) return;
  const entries = await dependencies.ledger.entries(
    scope,
    gone.map(({ item }) => item),
  );
  const isGone = ({ item, generation }: Provenance) => {
    const entry = entries.get(item);
    const isBuilding = entry?.pending === true && entry.lastGeneration === generation;
    return entry?.generation !== generation && !isBuilding;
  };
  await removeEach(dependencies, scope, gone.filter(isGone));
}

async function removeEach(
  dependencies: Dependencies,
  scope: DatasetScope,
  origins: readonly Provenance[],
): Promise<void> {
  for (const slice of slices(origins, AT_ONCE)) {
    await Promise.all(slice.map(({ item, generation }) => removeRows(dependencies, scope, { item, generation })));
  }
}

import type { DataItemId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { IndexStores } from '../../common/storage/ports/dataset-indexes.ts';
import { type IndexKind, type Provenance, VECTOR_KINDS } from '../../common/storage/ports/index-entry.ts';
import { type CopyTarget, embeddingsOf } from './copy-vectors.ts';

/** Items whose rows are counted together. */
const ITEMS_AT_ONCE = 200;
const SAMPLES = 20;
/** Nearest rows that must contain a sample. */
const NEAREST = 20;
const AS_GOOD = 1e-3;

/** Returns the items that have fewer vectors in the index version than texts, of any kind. */
export async function incompleteItems(
  readers: IndexStores,
  scope: DatasetScope,
  version: DatasetScope,
  origins: readonly Provenance[],
): Promise<readonly DataItemId[]> {
  const incomplete: DataItemId[] = [];
  for (const slice of slices(origins, ITEMS_AT_ONCE)) {
    if (await hasAsMany(readers, scope, version, slice)) continue;
    // Rows of an attempt in flight count as texts too, so each item is checked by itself.
    for (const origin of slice) {
      if (!(await isComplete(readers, scope, version, origin))) incomplete.push(origin.item);
    }
  }
  return incomplete;
}

async function hasAsMany(
  { text, vectors }: IndexStores,
  scope: DatasetScope,
  version: DatasetScope,
  origins: readonly Provenance[],
): Promise<boolean> {
  const items = origins.map(({ item }) => item);
  for (const kind of VECTOR_KINDS) {
    const [texts, made] = await Promise.all([
      text.count(scope, { kind, items }),
      vectors.count(version, { kind, items }),
    ]);
    if (texts !== made) return false;
  }
  return true;
}

/** Whether an index version has all vectors of a generation of an item: one per row of each kind. */
export async function isComplete(
  readers: IndexStores,
  scope: DatasetScope,
  version: DatasetScope,
  origin: Provenance,
): Promise<boolean> {
  const rows = new Map<IndexKind, Set<string>>();
  for await (const page of embeddingsOf(readers, scope, origin)) {
    for (const { entry } of page) rows.set(entry.kind, (rows.get(entry.kind) ?? new Set()).add(entry.id));
  }
  for (const kind of VECTOR_KINDS) {
    const ids = [...(rows.get(kind) ?? [])];
    const found = await readers.vectors.fetch(version, kind, ids);
    const own = found.filter(({ item, generation }) => item === origin.item && generation === origin.generation);
    if (new Set(own.map(({ id }) => id)).size !== ids.length) return false;
  }
  return true;
}

/** Checks by samples that the text of a row finds the row. `EmbeddingException` when one does not: the model is unusable. */
export async function requireFindable(
  readers: IndexStores,
  scope: DatasetScope,
  {
    target,
    origins,
    context,
  }: { readonly target: CopyTarget; readonly origins: readonly Provenance[]; readonly context: ModelCallContext },
): Promise<void> {
  const { embedder } = target;
  const step = Math.max(1, Math.floor(origins.length / SAMPLES));
  const chosen = origins.filter((_, index) => index % step === 0).slice(0, SAMPLES);
  for (const origin of chosen) {
    const sample = await firstRow(readers, scope, origin);
    if (sample === null) continue;
    const [vector] = await embedder.embed([sample.text], context);
    if (vector === undefined || vector.every((component) => component === 0)) continue;
    const query = { kind: sample.entry.kind, vector, limit: NEAREST };
    const hits = await readers.vectors.nearest(target.scope, query, context.signal);
    const isFound = hits.some(({ id, item }) => id === sample.entry.id && item === origin.item);
    // Many rows may have the same text.
    const isAsGood = hits.length === NEAREST && (hits.at(-1)?.similarity ?? 0) > 1 - AS_GOOD;
    if (isFound || isAsGood) continue;
    throw engramError(
      'EmbeddingException',
      `Vectors of ${embedder.space.model} do not find their own texts again; use another embedding model.`,
    );
  }
}

async function firstRow(readers: IndexStores, scope: DatasetScope, origin: Provenance) {
  for await (const page of embeddingsOf(readers, scope, origin)) {
    const row = page.find(({ text }) => text.trim() !== '');
    if (row !== undefined) return row;
  }
  return null;
}

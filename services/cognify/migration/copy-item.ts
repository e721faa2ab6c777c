import type { DatasetScope } from '../../common/kernel/scope.ts';
import { embedAll } from '../../common/models/embed-all.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import type { DatasetIndexes } from '../../common/storage/ports/dataset-indexes.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { VectorIndex } from '../../common/storage/ports/vector-index.ts';
import type { CognifySettings } from '../settings.ts';
import { embeddingsOf } from './vector-rows.ts';

export interface CopyDependencies extends Pick<DatasetIndexes, 'text' | 'graph'> {
  readonly vectors: Pick<VectorIndex, 'upsert'>;
  readonly settings: Pick<CognifySettings, 'embeddingBatchSize' | 'embeddingConcurrency'>;
}

/** Where vectors go, and what makes them. */
export interface CopyTarget {
  readonly scope: DatasetScope;
  readonly embedder: Embedder;
}

/**
 * Makes the vectors of a generation of an item anew, from its text rows, in another index version. Idempotent. `onPage` is told after
 * each page of rows.
 */
export async function copyItem(
  { text, graph, vectors, settings }: CopyDependencies,
  scope: DatasetScope,
  origin: Provenance,
  {
    target,
    context,
    onPage,
  }: { readonly target: CopyTarget; readonly context: ModelCallContext; readonly onPage?: () => Promise<void> },
): Promise<void> {
  const { embedder } = target;
  for await (const page of embeddingsOf({ text, graph }, scope, origin)) {
    context.signal?.throwIfAborted();
    const texts = page.map((embedding) => embedding.text);
    const made = await embedAll(embedder, texts, context, settings);
    const entries = page.map(({ entry }, index) => ({
      ...entry,
      vector: made[index] ?? new Float32Array(embedder.space.dimensions),
    }));
    await vectors.upsert(target.scope, embedder.space, entries);
    await onPage?.();
  }
}

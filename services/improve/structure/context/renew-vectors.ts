import { meanVector, unitVector, vectorOfText, vectorText } from '../../../common/domain/vector-text.ts';
import type { Page } from '../../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import type { Embedder, ModelCallContext } from '../../../common/ports/models.ts';
import { type ContextNode, contextNodesCollection } from '../../../common/records/improve/context-summaries.ts';
import { type DocumentStore, type Query, replace, type Stored } from '../../../common/storage/ports/document-store.ts';
import { embedAll } from '../embed-all.ts';

const PAGE = 40;

/**
 * The vectors of the summaries by another embedding model, after the dataset's vectors moved to it: from the texts that are
 * there, so that no language model is asked. Level by level, for a mean is that of the level below.
 */
export async function renewVectors(
  { store }: { readonly store: DocumentStore },
  scope: DatasetScope,
  { embedder, context }: { readonly embedder: Embedder; readonly context: ModelCallContext },
): Promise<void> {
  for (let level = 0; ; level++) {
    let after: string | null = null;
    let isEmpty = true;
    do {
      context.signal?.throwIfAborted();
      const query: Query<ContextNode> = { where: { level }, sort: [{ field: 'id' }], limit: PAGE, after };
      const { items, next }: Page<Stored<ContextNode>> = await store.find(scope, contextNodesCollection, query);
      if (items.length > 0) isEmpty = false;
      const texts = items.map(({ value }) => value.text);
      const vectors = await embedAll(embedder, texts, context);
      const writes = await Promise.all(
        items.map(async ({ id, version, value }, index) => {
          const vector = value.text === '' ? '' : vectorText(vectors[index] ?? new Float32Array());
          const childMean = level === 0 ? value.childMean : await meanOf({ store }, scope, value);
          return replace(contextNodesCollection, id, { ...value, vector, childMean }, version);
        }),
      );
      if (writes.length > 0) await store.commit(scope, writes);
      after = next;
    } while (after !== null);
    if (isEmpty) return;
  }
}

async function meanOf(
  { store }: { readonly store: DocumentStore },
  scope: DatasetScope,
  { children }: ContextNode,
): Promise<string> {
  const below = await store.getMany(scope, contextNodesCollection, children);
  const units = below
    .filter(({ value }) => value.vector !== '')
    .map(({ value }) => unitVector(vectorOfText(value.vector)));
  return vectorText(meanVector(units));
}

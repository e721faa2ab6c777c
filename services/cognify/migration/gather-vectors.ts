import type { DatasetScope } from '../../common/domain/scope.ts';
import type { Provenance } from '../../common/ports/index-entry.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import { activeEmbedding, type EmbeddingDependencies } from '../../common/repositories/active-embedding.ts';
import { type CopyDependencies, copyItem } from './copy-item.ts';

/**
 * A migration may have moved the dataset's vectors while an item was built: what was written before is brought along, so
 * that the item has all of its vectors when it becomes visible.
 */
export async function gatherVectors(
  dependencies: CopyDependencies & EmbeddingDependencies,
  scope: DatasetScope,
  {
    origin,
    homes,
    context,
  }: { readonly origin: Provenance; readonly homes: ReadonlySet<number>; readonly context: ModelCallContext },
): Promise<void> {
  let known = homes;
  for (;;) {
    const target = await activeEmbedding(dependencies, scope);
    if ([...known].every((home) => home === target.number)) return;
    await copyItem(dependencies, scope, origin, { target, context });
    known = new Set([target.number]);
  }
}

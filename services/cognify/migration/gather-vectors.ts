import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import { activeEmbedding, type EmbeddingDependencies } from '../../common/records/cognify/active-embedding.ts';
import type { VectorHomes } from '../../common/records/cognify/vector-homes.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import { type CopyDependencies, copyItem } from './copy-item.ts';

/**
 * A migration may have moved the dataset's vectors while an item was built: what was written before is brought along, so
 * that the item has all of its vectors when it becomes visible.
 */
export async function gatherVectors(
  {
    homes: vectorHomes,
    ...dependencies
  }: Omit<CopyDependencies, 'vectors'> &
    Pick<EmbeddingDependencies, 'embedders'> & {
      readonly homes: Pick<VectorHomes, 'active' | 'state' | 'written' | 'inHomes'>;
    },
  scope: DatasetScope,
  {
    origin,
    homes,
    context,
  }: { readonly origin: Provenance; readonly homes: ReadonlySet<number>; readonly context: ModelCallContext },
): Promise<void> {
  let known = homes;
  for (;;) {
    const { active } = await vectorHomes.state(scope);
    if ([...known].every((home) => home === active)) return;
    const target = await activeEmbedding({ ...dependencies, homes: vectorHomes }, scope);
    try {
      await copyItem({ ...dependencies, vectors: vectorHomes.inHomes }, scope, origin, { target, context });
    } finally {
      await vectorHomes.written(scope, target.number);
    }
    known = new Set([target.number]);
  }
}

import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import { activeEmbedding, type EmbeddingDependencies } from '../../common/records/cognify/active-embedding.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import { type CopyDependencies, copyItem } from './copy-item.ts';

/**
 * A migration may have moved the dataset's vectors while an item was built: what was written before is brought along, so
 * that the item has all of its vectors when it becomes visible.
 */
export async function gatherVectors(
  {
    vectorVersions,
    ...dependencies
  }: Omit<CopyDependencies, 'vectors'> &
    Pick<EmbeddingDependencies, 'embedders'> & {
      readonly vectorVersions: Pick<VectorIndexVersions, 'active' | 'state' | 'written' | 'inVersions'>;
    },
  scope: DatasetScope,
  {
    origin,
    versions,
    context,
  }: { readonly origin: Provenance; readonly versions: ReadonlySet<number>; readonly context: ModelCallContext },
): Promise<void> {
  let known = versions;
  for (;;) {
    const { active } = await vectorVersions.state(scope);
    if ([...known].every((home) => home === active)) return;
    const target = await activeEmbedding({ ...dependencies, vectorVersions }, scope);
    try {
      await copyItem({ ...dependencies, vectors: vectorVersions.inVersions }, scope, origin, { target, context });
    } finally {
      await vectorVersions.written(scope, target.number);
    }
    known = new Set([target.number]);
  }
}

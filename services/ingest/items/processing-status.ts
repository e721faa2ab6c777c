import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { type FailedBuild, failedBuild, isBuilt, type LedgerEntry } from '../../common/records/cognify/ledger.ts';
import type { ItemDependencies } from '../dependencies.ts';

export interface ItemProcessing {
  readonly id: string;
  readonly name: string;
  readonly completed: boolean;
  /** Null unless it was tried in vain. */
  readonly failure: FailedBuild | null;
}

const PAGE = 1000;

/** Every item of the dataset, newest first, and whether its present content is built. Other pipelines keep no such mark. */
export async function processingStatus(
  { items, ledger }: ItemDependencies,
  { dataset, pipeline }: { readonly dataset: DatasetRef; readonly pipeline: string },
): Promise<readonly ItemProcessing[]> {
  const scope = scopeOf(dataset);
  const states: ItemProcessing[] = [];
  for await (const page of pagesOf((after) => items.oldestFirst(scope, { after, limit: PAGE }))) {
    const isCognify = pipeline === COGNIFY_PIPELINE;
    const entries = isCognify
      ? await ledger.entries(
          scope,
          page.map(({ id }) => id),
        )
      : new Map<DataItemId, LedgerEntry>();
    states.push(
      ...page.map((item) => {
        const entry = entries.get(item.id);
        return { id: item.id, name: item.name, completed: isBuilt(entry, item), failure: failedBuild(entry, item) };
      }),
    );
  }
  return states.reverse();
}

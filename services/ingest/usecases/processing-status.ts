import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { pagesOf } from '../../common/domain/result-page.ts';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import { builtAmong } from '../../common/repositories/ledger.ts';
import type { IngestDependencies } from './dependencies.ts';

export interface ItemProcessing {
  readonly id: string;
  readonly name: string;
  readonly completed: boolean;
}

const PAGE = 1000;

/** Every item of the dataset, newest first, and whether its present content is built. Other pipelines keep no such mark. */
export async function processingStatus(
  { items, ledger }: Pick<IngestDependencies, 'items' | 'ledger'>,
  { dataset, pipeline }: { readonly dataset: DatasetRef; readonly pipeline: string },
): Promise<readonly ItemProcessing[]> {
  const scope = scopeOf(dataset);
  const states: ItemProcessing[] = [];
  for await (const page of pagesOf((after) => items.oldestFirst(scope, { after, limit: PAGE }))) {
    const built = new Set(pipeline === COGNIFY_PIPELINE ? await builtAmong(ledger, scope, page) : []);
    states.push(...page.map(({ id, name }) => ({ id, name, completed: built.has(id) })));
  }
  return states.reverse();
}

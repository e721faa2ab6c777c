import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
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
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof items.oldestFirst>> = await items.oldestFirst(scope, { after, limit: PAGE });
    const built = new Set(pipeline === COGNIFY_PIPELINE ? await builtAmong(ledger, scope, page.items) : []);
    states.push(...page.items.map(({ id, name }) => ({ id, name, completed: built.has(id) })));
    after = page.next;
  } while (after !== null);
  return states.reverse();
}

import type { DataItem } from '../../common/domain/data-item.ts';
import type { DatasetRef } from '../../common/domain/dataset.ts';
import type { CallContext, Messenger } from '../../common/messaging/messenger.ts';
import { datasetItems } from '../../common/messaging/methods/ingest.ts';
import { COGNIFY_PIPELINE } from '../consumers/cognify-run.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { builtAmong } from './items-built.ts';

export interface ItemProcessing {
  readonly id: string;
  readonly name: string;
  readonly completed: boolean;
}

const PAGE = 1000;

/** Every item of the dataset, newest first, and whether its present content is built. Other pipelines keep no such mark. */
export async function processingStatus(
  dependencies: Pick<CognifyDependencies, 'ledger' | 'messenger'>,
  { dataset, pipeline }: { readonly dataset: DatasetRef; readonly pipeline: string },
  context: CallContext,
): Promise<readonly ItemProcessing[]> {
  const items: ItemProcessing[] = [];
  for await (const page of itemPages(dependencies.messenger, dataset, context)) {
    const built = new Set(pipeline === COGNIFY_PIPELINE ? await builtAmong(dependencies, dataset, page) : []);
    items.push(...page.map(({ id, name }) => ({ id, name, completed: built.has(id) })));
  }
  return items.reverse();
}

async function* itemPages(
  messenger: Messenger,
  dataset: DatasetRef,
  context: CallContext,
): AsyncGenerator<readonly DataItem[]> {
  let after: string | null = null;
  do {
    const page: { readonly items: readonly DataItem[]; readonly next: string | null } = await messenger.call(
      datasetItems,
      { dataset, after, limit: PAGE },
      context,
    );
    yield page.items;
    after = page.next;
  } while (after !== null);
}

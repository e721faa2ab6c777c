import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { datasetItems } from '../../common/messaging/methods/ingest.ts';
import { builtAmong } from '../../common/repositories/ledger.ts';
import type { CognifyDependencies } from '../dependencies.ts';

const PAGE = 500;

/** Which of the items have a committed generation of their present content. Items that ingest does not know are left out. */
export async function itemsBuilt(
  { ledger, messenger }: Pick<CognifyDependencies, 'ledger' | 'messenger'>,
  { dataset, items }: { readonly dataset: DatasetRef; readonly items: readonly string[] },
  context: CallContext,
): Promise<readonly string[]> {
  const built: string[] = [];
  for (let start = 0; start < items.length; start += PAGE) {
    const ids = items.slice(start, start + PAGE);
    const known = await messenger.call(datasetItems, { dataset, limit: PAGE, ids }, context);
    built.push(...(await builtAmong(ledger, scopeOf(dataset), known.items)));
  }
  return built;
}

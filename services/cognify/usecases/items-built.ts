import type { DataItem } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { dataItemId } from '../../common/domain/ids.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { datasetItems } from '../../common/messaging/methods/ingest.ts';
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
    built.push(...(await builtAmong({ ledger }, dataset, known.items)));
  }
  return built;
}

export async function builtAmong(
  { ledger }: Pick<CognifyDependencies, 'ledger'>,
  dataset: DatasetRef,
  items: readonly DataItem[],
): Promise<readonly string[]> {
  const ids = items.map(({ id }) => dataItemId(id));
  const entries = await ledger.entries(scopeOf(dataset), ids);
  return items
    .filter(({ id, contentHash }) => {
      const entry = entries.get(id);
      return entry !== undefined && !entry.erased && entry.generation > 0 && entry.contentHash === contentHash;
    })
    .map(({ id }) => id);
}

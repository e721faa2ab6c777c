import type { DataItem } from '../../common/domain/data-item.ts';
import type { DatasetRef } from '../../common/domain/dataset.ts';
import type { CallContext, Messenger } from '../../common/messaging/messenger.ts';
import { datasetItems } from '../../common/messaging/methods/ingest.ts';

const PAGE = 1000;

/** The items of a dataset as ingest lists them, page by page, oldest first. */
export async function* itemPages(
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

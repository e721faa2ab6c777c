import type { DataItem } from '../../common/domain/data-item.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import { datasetItems } from '../../common/platform/messaging/methods/ingest.ts';

const PAGE = 1000;

/** The items of a dataset as ingest lists them, page by page, oldest first. */
export function itemPages(
  messenger: Messenger,
  dataset: DatasetRef,
  context: CallContext,
): AsyncGenerator<readonly DataItem[]> {
  return pagesOf((after) => messenger.call(datasetItems, { dataset, after, limit: PAGE }, context));
}

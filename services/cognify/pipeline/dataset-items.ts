import type { DataItem } from '../../common/domain/data-item.ts';
import type { DatasetRef } from '../../common/domain/dataset.ts';
import { pagesOf } from '../../common/domain/result-page.ts';
import type { CallContext, Messenger } from '../../common/messaging/messenger.ts';
import { datasetItems } from '../../common/messaging/methods/ingest.ts';

const PAGE = 1000;

/** The items of a dataset as ingest lists them, page by page, oldest first. */
export function itemPages(
  messenger: Messenger,
  dataset: DatasetRef,
  context: CallContext,
): AsyncGenerator<readonly DataItem[]> {
  return pagesOf((after) => messenger.call(datasetItems, { dataset, after, limit: PAGE }, context));
}

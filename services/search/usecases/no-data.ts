import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { type EngramError, engramError } from '../../common/kernel/errors.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { datasetItems } from '../../common/platform/messaging/methods/ingest.ts';
import { ledgerCollection } from '../../common/records/cognify/ledger.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { SearchDependencies } from '../dependencies.ts';

const PAGE = 100;

/** Whether any item of the dataset is built and not erased. Asked when a search came back empty. */
export async function hasSearchableMemory(store: DocumentStore, dataset: DatasetRef): Promise<boolean> {
  const query = { where: { generation: { greaterThan: 0 } }, limit: PAGE };
  const read = (after: string | null) => store.find(scopeOf(dataset), ledgerCollection, { ...query, after });
  for await (const entries of pagesOf(read)) if (entries.some(({ value }) => !value.erased)) return true;
  return false;
}

/** 404 with the reason: nothing was added, or what was added was never processed. */
export async function noDataError(
  deps: Pick<SearchDependencies, 'messenger'>,
  dataset: DatasetRef,
  context: CallContext,
): Promise<EngramError> {
  const { items } = await deps.messenger.call(datasetItems, { dataset, limit: 1000 }, context);
  const reason =
    items.length === 0
      ? 'no data has been added; add data and run cognify before searching.'
      : `holds ${items.length} data item(s) but its knowledge graph is empty; run cognify on this dataset before searching.`;
  return engramError('NoDataError', `No searchable memory in dataset '${dataset.name}' (id: ${dataset.id}): ${reason}`);
}

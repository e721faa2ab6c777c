import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { ParsedDocument } from '../../common/ports/documents.ts';
import type { DataItems } from '../../common/records/ingest/data-items.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';

const PAGE = 1000;

/** Newest first, without those that are withheld from the reader. */
export async function listItems(
  items: DataItems,
  dataset: DatasetRef,
  page: { readonly offset: number; readonly limit: number },
) {
  const scope = scopeOf(dataset);
  const { withheld } = scope;
  if (withheld !== undefined) {
    const seen: DataItem[] = [];
    for await (const some of pagesOf((after) => items.oldestFirst(scope, { after, limit: PAGE }))) {
      seen.push(...some.filter(({ id }) => !withheld.has(id)));
    }
    return { items: seen.reverse().slice(page.offset, page.offset + page.limit), total: seen.length };
  }
  const [found, total] = await Promise.all([items.newestFirst(scope, page), items.count(scope)]);
  return { items: found, total };
}

/** The derived text of an item. Throws `DataNotFoundError` for an unknown item or a missing blob. */
export async function readItemText(
  stores: ItemStores,
  dataset: DatasetRef,
  id: DataItemId,
): Promise<{ readonly item: DataItem; readonly text: string }> {
  const { item, content } = await readItem(stores, dataset, { id, blob: itemBlobs.parsed });
  return { item, text: await derivedText(item, content) };
}

/** The bytes of an item as they were added. Errors as for its text. */
export function readItemOriginal(stores: ItemStores, dataset: DatasetRef, id: DataItemId) {
  return readItem(stores, dataset, { id, blob: itemBlobs.original });
}

interface ItemStores {
  readonly items: DataItems;
  readonly blobs: BlobStore;
}

async function readItem(
  { items, blobs }: ItemStores,
  dataset: DatasetRef,
  { id, blob }: { readonly id: DataItemId; readonly blob: (item: DataItem) => string },
): Promise<{ readonly item: DataItem; readonly content: Readable }> {
  const scope = scopeOf(dataset);
  for (let lost: DataItem | null = null; ; ) {
    const item = scope.withheld?.has(id) ? null : await items.get(scope, id);
    const content = item === null ? null : await blobs.get(scope, blob(item));
    if (item !== null && content !== null) return { item, content };
    // Content that was replaced while it was looked for is read again; any other that is missing is gone.
    if (item === null || (lost !== null && lost.revision === item.revision)) {
      throw engramError('DataNotFoundError', `Data (${id}) not found in dataset (${dataset.id}).`);
    }
    lost = item;
  }
}

async function derivedText(item: DataItem, parsed: Readable): Promise<string> {
  const stored = await readText(parsed);
  try {
    return (JSON.parse(stored) as ParsedDocument).text;
  } catch (cause) {
    const message = `The stored text of '${item.name}' is damaged. Cognify its dataset to have it read again from the original.`;
    throw engramError('CorruptStoreError', message, { cause });
  }
}

import type { DataItemId } from '../../common/kernel/brand.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { entriesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { eventsCollection } from '../../common/platform/events/event-log.ts';
import { ledgerCollection } from '../../common/records/cognify/ledger.ts';
import { statementsCollection } from '../../common/records/cognify/statements.ts';
import { supersessionsCollection } from '../../common/records/cognify/supersessions.ts';
import { dataItemsCollection } from '../../common/records/ingest/data-items.ts';
import type {
  AnyCollection,
  Collection,
  DocumentStore,
  DocumentView,
} from '../../common/storage/ports/document-store.ts';
import { lineOf } from '../../common/storage/snapshots/part-stream.ts';
import { copiedCollections } from '../collections.ts';

/**
 * The revision of an item's content and the generation of its build. Both are immutable: later ones get other numbers.
 */
export interface ItemContent {
  readonly id: DataItemId;
  readonly revision: string | null;
  /** Generation of the committed build; 0 when there is none. */
  readonly generation: number;
  readonly sizeBytes: number;
  /** Chunks, entities and relationships of the build. */
  readonly rows: number;
}

const PAGE = 500;

export interface DatasetCut {
  readonly items: Map<DataItemId, ItemContent>;
  readonly counts: Record<string, number>;
}

/** Returns the number of the last event of the dataset at the moment of the view, by the first `find` of the view. */
export async function lastEvent(view: DocumentView, scope: DatasetScope): Promise<number | null> {
  const where = { dataset: scope.dataset };
  const sort = [{ field: 'sequence' as const, descending: true }];
  const { items } = await view.find({ tenant: scope.tenant }, eventsCollection, { where, sort, limit: 1 });
  return items[0]?.sequence ?? null;
}

/**
 * Yields all records of the dataset at the moment of the view, a line each, and collects what they say of the items.
 * Leaves out builds in progress and their statements.
 */
export async function* cutLines(view: DocumentView, scope: DatasetScope, cut: DatasetCut): AsyncGenerator<string> {
  const { items, counts } = cut;
  const line = (collection: AnyCollection, id: string, value: JsonObject): string => {
    counts[collection.name] = (counts[collection.name] ?? 0) + 1;
    return lineOf([collection.name, id, value]);
  };
  for await (const { id, value } of documentsOf(view, scope, dataItemsCollection)) {
    // A pending deletion belongs to the original and not to the copy.
    const { isExpiring: _, ...kept } = value;
    const { revision = null, sizeBytes } = kept;
    items.set(dataItemId(id), { id: dataItemId(id), revision, generation: 0, sizeBytes, rows: 0 });
    yield line(dataItemsCollection, id, kept);
  }
  for await (const { id, value } of documentsOf(view, scope, ledgerCollection)) {
    const item = items.get(dataItemId(id));
    const { generation, erased, counts: built } = value;
    if (item === undefined || erased || generation === 0) continue;
    const rows = Object.values(built ?? {}).reduce<number>((sum, count) => sum + Number(count), 0);
    items.set(item.id, { ...item, generation, rows });
    yield line(ledgerCollection, id, value);
  }
  const isCommitted = (item: string, generation: number) => items.get(dataItemId(item))?.generation === generation;
  for await (const { id, value } of documentsOf(view, scope, statementsCollection))
    if (isCommitted(value.itemId, value.generation)) yield line(statementsCollection, id, value);
  for await (const { id, value } of documentsOf(view, scope, supersessionsCollection)) {
    const { older, newer, olderItem, newerItem } = value;
    if (!isCommitted(olderItem, older.generation) || !isCommitted(newerItem, newer.generation)) continue;
    yield line(supersessionsCollection, id, value);
  }
  for (const collection of copiedCollections)
    for await (const { id, value } of documentsOf(view, scope, collection)) yield line(collection, id, value);
}

/** Returns the items whose content differs from the cut by now: it may have been removed while it was read. */
export async function changedAmong(
  store: DocumentStore,
  scope: DatasetScope,
  items: readonly ItemContent[],
): Promise<readonly ItemContent[]> {
  const ids = items.map(({ id }) => id);
  const [records, entries] = await Promise.all([
    store.getMany(scope, dataItemsCollection, ids),
    store.getMany(scope, ledgerCollection, ids),
  ]);
  const revisions = new Map(records.map(({ id, value }) => [id, value.revision ?? null]));
  const generations = new Map(entries.map(({ id, value }) => [id, value.erased ? 0 : value.generation]));
  return items.filter(
    ({ id, revision, generation }) =>
      revisions.get(id) !== revision || (generation > 0 && generations.get(id) !== generation),
  );
}

function documentsOf<T extends JsonObject>(view: DocumentView, scope: DatasetScope, collection: Collection<T>) {
  const query = { sort: [{ field: 'id' as const }], limit: PAGE };
  return entriesOf((after) => view.find(scope, collection, { ...query, after }));
}

import { scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { FeedName, KeyRange, SourceItem } from '../../common/records/integrations/source-items.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { commit, type ImportAttempt, SLICE, toRename } from './import-attempt.ts';

/** Removes the documents, and the items that were made of them alone. Returns documents that have to be stored again. */
export async function removeDocuments(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  ids: readonly string[],
): Promise<readonly SourceItem[]> {
  const { sourceItems } = dependencies;
  const renamed: SourceItem[] = [];
  for (const slice of slices(ids, SLICE)) {
    const items = await sourceItems.getMany(scopeOf(attempt.dataset), slice);
    if (items.length === 0) continue;
    const itemIds = items.map(({ itemId }) => itemId);
    renamed.push(...(await forgetUnused(dependencies, attempt, itemIds, new Set(slice))));
    const deleted = items.filter(({ fileName }) => fileName !== null).length;
    attempt.tally.changes = { ...attempt.tally.changes, deleted: attempt.tally.changes.deleted + deleted };
    await commit(dependencies, attempt, [
      ...items.map(({ id }) => sourceItems.removeWrite(id)),
      ...(attempt.permissions?.removeWrites(items.map(({ id }) => id)) ?? []),
    ]);
  }
  return renamed;
}

/** Forgets items that no other document has. Returns a document for each item that others have: it is to be stored again. */
export async function forgetUnused(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  itemIds: readonly SourceItem['itemId'][],
  without: ReadonlySet<string> = new Set(),
): Promise<readonly SourceItem[]> {
  const { sourceItems, messenger } = dependencies;
  const { dataset, context } = attempt;
  const unused: string[] = [];
  const others: SourceItem[] = [];
  for (const itemId of new Set(itemIds)) {
    const sharing = await sourceItems.ofItem(scopeOf(dataset), itemId, without.size + 1);
    const other = sharing.find(({ id }) => !without.has(id));
    if (other === undefined) unused.push(itemId);
    else {
      await commit(dependencies, attempt, [sourceItems.changeWrite(other.id, toRename(other))], { again: true });
      others.push(other);
    }
  }
  if (unused.length > 0) await messenger.call('ingest.ForgetItems', { dataset, itemIds: unused }, context);
  return others;
}

interface IdSet {
  add(id: string): void;
  has(id: string): boolean;
}

/** Digits of an id that are kept: 52 bits, of which two are alike by chance once in millions of listings of a million ids. */
const ID_DIGITS = 13;

/** The ids of a listing, eight bytes each: there may be millions, and as texts they would take a hundred bytes each. */
export function createIdSet(): IdSet {
  let ids = new Float64Array(1024);
  let count = 0;
  let isSorted = true;
  const numberOf = (id: string) => Number.parseInt(id.slice(0, ID_DIGITS), 16);
  return {
    add(id) {
      if (count === ids.length) {
        const larger = new Float64Array(ids.length * 2);
        larger.set(ids);
        ids = larger;
      }
      ids[count] = numberOf(id);
      count += 1;
      isSorted = false;
    },
    has(id) {
      if (!isSorted) ids.subarray(0, count).sort();
      isSorted = true;
      const wanted = numberOf(id);
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((ids[middle] ?? 0) < wanted) low = middle + 1;
        else high = middle;
      }
      return low < count && ids[low] === wanted;
    },
  };
}

export async function removeUnseen(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  feed: FeedName,
  { seen, keys }: { readonly seen: IdSet; readonly keys?: KeyRange },
): Promise<readonly SourceItem[]> {
  const { connectionId, resource, feed: name } = feed;
  const where = { connectionId, resource, feed: name };
  return removeMatching(dependencies, attempt, where, { isGone: ({ id }) => !seen.has(id), ...(keys && { keys }) });
}

/** Removes documents of a connection, or of one of its feeds. Returns those that have to be stored again. */
export async function removeMatching(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  where: Pick<FeedName, 'connectionId'> & Partial<FeedName>,
  { isGone = () => true, keys }: { readonly isGone?: (item: SourceItem) => boolean; readonly keys?: KeyRange } = {},
): Promise<readonly SourceItem[]> {
  const scope = scopeOf(attempt.dataset);
  const renamed: SourceItem[] = [];
  const read = (after: string | null) =>
    dependencies.sourceItems.page(scope, where, { limit: 1000, after, ...(keys && { keys }) });
  for await (const items of pagesOf(read)) {
    const gone = items.filter(isGone).map(({ id }) => id);
    renamed.push(...(await removeDocuments(dependencies, attempt, gone)));
  }
  return renamed;
}

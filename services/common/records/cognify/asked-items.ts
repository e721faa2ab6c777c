import type { DataItemId } from '../../kernel/brand.ts';
import { recentlyUsed } from '../../kernel/recently-used.ts';
import type { DatasetScope } from '../../kernel/scope.ts';

/** Items of a dataset that are remembered, and datasets. */
const ASKED_ITEMS = 200;
const ASKED_DATASETS = 500;

/**
 * Items that searches of a dataset asked for last. The next one asks for most of them again, in several reads after each other:
 * it can read them together. Not where too few were of use the last time.
 */
export function createAskedItems() {
  const datasets = new Map<string, { readonly items: Set<DataItemId>; ahead: number; used: number }>();
  return {
    of({ tenant, dataset }: DatasetScope) {
      const asked = recentlyUsed(datasets, ASKED_DATASETS, `${tenant} ${dataset}`, () => ({
        items: new Set<DataItemId>(),
        ahead: 0,
        used: 0,
      }));
      const isOfUse = 2 * asked.used >= asked.ahead;
      const ahead: ReadonlySet<DataItemId> = new Set(isOfUse ? asked.items : []);
      const unused = new Set(ahead);
      asked.ahead = ahead.size;
      asked.used = 0;
      return {
        ahead,
        note(items: Iterable<DataItemId>) {
          for (const item of items) {
            if (unused.delete(item)) asked.used += 1;
            asked.items.delete(item);
            asked.items.add(item);
          }
          for (const oldest of asked.items) {
            if (asked.items.size <= ASKED_ITEMS) break;
            asked.items.delete(oldest);
          }
        },
      };
    },
  };
}

import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type Ledger, ledgerCollection, visible } from '../../common/records/cognify/ledger.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';

/**
 * Filters rows by what the ledger has committed, for one request. Each item is looked up once, in batches; the first one has the
 * items that the dataset was asked for last.
 */
export interface Visibility {
  filter<Row extends Provenance>(rows: readonly Row[]): Promise<readonly Row[]>;
  /** The committed generations that were looked up. */
  readonly committed: ReadonlyMap<DataItemId, number>;
}

/** `known`: committed generations that were looked up for the same request before. */
export function createVisibility(
  ledger: Pick<Ledger, 'committed'> & Partial<Pick<Ledger, 'asked'>>,
  scope: DatasetScope,
  known: ReadonlyMap<DataItemId, number> = new Map(),
): Visibility {
  const committed = new Map(known);
  /** Pending or finished look-up of each item: several lanes look up the same items concurrently. */
  const lookUps = new Map<DataItemId, Promise<void> | null>();
  for (const item of known.keys()) lookUps.set(item, null);
  let asked: ReturnType<NonNullable<Ledger['asked']>['of']> | null = null;
  const lookUp = async (items: readonly DataItemId[]): Promise<void> => {
    for (const [item, generation] of await ledger.committed(scope, items)) committed.set(item, generation);
  };
  return {
    committed,
    async filter(rows) {
      if (rows.length === 0) return rows;
      const items = new Set(rows.map(({ item }) => item));
      const isFirst = asked === null;
      asked ??= ledger.asked?.of(scope) ?? null;
      const wanted = isFirst && asked !== null ? [...new Set([...items, ...asked.ahead])] : [...items];
      const unknown = wanted.filter((item) => !lookUps.has(item));
      if (unknown.length > 0) {
        const found = lookUp(unknown);
        for (const item of unknown) lookUps.set(item, found);
      }
      asked?.note(items);
      await Promise.all(new Set([...items].map((item) => lookUps.get(item))));
      return visible(rows, committed);
    },
  };
}

const PAGE = 100;

/** Whether any item of the dataset is built and not erased. Called when a search found nothing. */
export async function hasSearchableMemory(store: DocumentStore, dataset: DatasetRef): Promise<boolean> {
  const query = { where: { generation: { greaterThan: 0 } }, limit: PAGE };
  const read = (after: string | null) => store.find(scopeOf(dataset), ledgerCollection, { ...query, after });
  for await (const entries of pagesOf(read)) if (entries.some(({ value }) => !value.erased)) return true;
  return false;
}

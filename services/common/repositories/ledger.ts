import type { DataItemId } from '../domain/brand.ts';
import type { DatasetScope } from '../domain/scope.ts';
import type { Collection, DocumentStore, Write } from '../ports/document-store.ts';
import { update } from '../ports/document-store.ts';
import type { Provenance } from '../ports/index-entry.ts';

/**
 * The one commit point of what is built from an item: its committed generation, or a tombstone. Rows of any other
 * generation do not exist for readers, so half-written and late work is harmless (architecture.md §5).
 */
export type LedgerEntry = {
  /** 0: nothing committed yet. */
  readonly generation: number;
  /** The highest generation handed out; a new attempt takes the next. */
  readonly lastGeneration: number;
  readonly erased: boolean;
  /** Content hash of the item that the committed generation was built from. */
  readonly contentHash: string | null;
  readonly committedAt: string | null;
};

export const ledgerCollection: Collection<LedgerEntry> = {
  name: 'ledger',
  level: 'dataset',
  indexes: [{ fields: ['generation'] }],
};

export interface Ledger {
  /** Committed generation of each item that has one and is not erased. One batched read. */
  committed(scope: DatasetScope, items: readonly DataItemId[]): Promise<ReadonlyMap<DataItemId, number>>;
  /** Reserves the next generation of an item for a new attempt. */
  begin(scope: DatasetScope, item: DataItemId): Promise<number>;
  /** To be committed with the run's progress: makes the generation the visible one, unless the item was erased. */
  commitWrites(item: DataItemId, generation: number, contentHash: string, at: string): readonly Write[];
  entries(scope: DatasetScope, items: readonly DataItemId[]): Promise<ReadonlyMap<DataItemId, LedgerEntry>>;
}

/** Keeps the rows whose generation is the committed one. */
export function visible<Row extends Provenance>(
  rows: readonly Row[],
  committed: ReadonlyMap<DataItemId, number>,
): readonly Row[] {
  return rows.filter((row) => committed.get(row.item) === row.generation);
}

export function createLedger(store: DocumentStore): Ledger {
  const entries = async (scope: DatasetScope, items: readonly DataItemId[]) => {
    const found = await store.getMany(scope, ledgerCollection, [...new Set(items)]);
    return new Map(found.map((entry) => [entry.id as DataItemId, entry.value]));
  };
  return {
    entries,
    async committed(scope, items) {
      const map = new Map<DataItemId, number>();
      for (const [item, entry] of await entries(scope, items)) {
        if (!entry.erased && entry.generation > 0) map.set(item, entry.generation);
      }
      return map;
    },
    async begin(scope, item) {
      const [result] = await store.commit(scope, [
        update(ledgerCollection, item, { where: { erased: false }, increment: { lastGeneration: 1 } }),
      ]);
      const stored = result?.stored;
      if (stored) return (stored.value as LedgerEntry).lastGeneration;
      await store.commit(scope, [
        {
          kind: 'insert',
          collection: ledgerCollection,
          id: item,
          value: { generation: 0, lastGeneration: 1, erased: false, contentHash: null, committedAt: null },
        },
      ]);
      return 1;
    },
    commitWrites(item, generation, contentHash, at) {
      return [
        update(ledgerCollection, item, {
          where: { erased: false, generation: { lessThan: generation } },
          set: { generation, contentHash, committedAt: at },
          required: true,
        }),
      ];
    },
  };
}

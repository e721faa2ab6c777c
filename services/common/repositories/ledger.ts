import type { DataItemId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import { type AnyScope, type DatasetScope, datasetScope } from '../domain/scope.ts';
import type { Collection, DocumentStore, Write } from '../ports/document-store.ts';
import { DuplicateKeyError, insert, update } from '../ports/document-store.ts';
import type { Provenance } from '../ports/index-entry.ts';

/**
 * The one commit point of what is built from an item: its committed generation, or a tombstone. Rows of any other
 * generation do not exist for readers, so half-written and late work is harmless (architecture.md §5).
 */
export type LedgerEntry = {
  /** 0: nothing committed. */
  readonly generation: number;
  /** The highest generation handed out; a new attempt takes the next, and only the newest attempt can commit. */
  readonly lastGeneration: number;
  readonly erased: boolean;
  /** Content hash of the item that the committed generation was built from. */
  readonly contentHash: string | null;
  readonly committedAt: string | null;
  /** The run that committed the generation; absent in entries that no run made. */
  readonly runId?: string | null;
  /** What the generation holds: chunks, entities, relationships. */
  readonly counts?: JsonObject | null;
  /** An attempt began and neither committed nor rolled back: rows of it may be left. */
  readonly pending?: boolean;
};

export const ledgerCollection: Collection<LedgerEntry> = {
  name: 'ledger',
  level: 'dataset',
  indexes: [{ fields: ['generation'] }, { fields: ['pending'] }],
};

export interface Ledger {
  /** Committed generation of each item that has one and is not erased. One batched read. */
  committed(scope: DatasetScope, items: readonly DataItemId[]): Promise<ReadonlyMap<DataItemId, number>>;
  /** The same for every item of the dataset. */
  allCommitted(scope: DatasetScope): Promise<ReadonlyMap<DataItemId, number>>;
  /** Reserves the next generation of an item for a new attempt; older attempts can no longer commit. `ItemErasedError`. */
  begin(scope: DatasetScope, item: DataItemId): Promise<number>;
  /**
   * To be committed with the run's progress: makes the generation the visible one. The commit fails with
   * `VersionConflictError` when the item was erased or reset, or another attempt began, since `begin`.
   */
  commitWrites(
    item: DataItemId,
    generation: number,
    contentHash: string,
    at: string,
    by?: { readonly runId: string; readonly counts: JsonObject },
  ): readonly Write[];
  entries(scope: DatasetScope, items: readonly DataItemId[]): Promise<ReadonlyMap<DataItemId, LedgerEntry>>;
  /** Every item the dataset ever built, tombstones too. */
  allEntries(scope: DatasetScope): Promise<ReadonlyMap<DataItemId, LedgerEntry>>;
  /** Invisible from now on, for ever: also for attempts under way and for items that were never built. */
  tombstone(scope: DatasetScope, items: readonly DataItemId[]): Promise<void>;
  /** Reads as not built from now on; attempts under way cannot commit, new ones can. */
  reset(scope: DatasetScope, items: readonly DataItemId[]): Promise<void>;
  /** The attempt has ended without a commit and removed its rows. */
  settle(scope: DatasetScope, item: DataItemId, generation: number): Promise<void>;
  /** Items with an attempt that did not end. */
  pending(scope: AnyScope, limit: number): Promise<readonly PendingItem[]>;
  /** Bars the newest attempt from committing, unless another began since: true when barred. */
  fence(scope: DatasetScope, item: DataItemId, generation: number): Promise<boolean>;
}

export interface PendingItem {
  readonly scope: DatasetScope;
  readonly item: DataItemId;
  readonly entry: LedgerEntry;
}

/** The item was forgotten: nothing may be built from it any more. */
export class ItemErasedError extends Error {
  override readonly name = 'ItemErasedError';
}

/** Keeps the rows whose generation is the committed one. */
export function visible<Row extends Provenance>(
  rows: readonly Row[],
  committed: ReadonlyMap<DataItemId, number>,
): readonly Row[] {
  return rows.filter((row) => committed.get(row.item) === row.generation);
}

const UNBUILT: LedgerEntry = {
  generation: 0,
  lastGeneration: 0,
  erased: false,
  contentHash: null,
  committedAt: null,
  runId: null,
  counts: null,
  pending: false,
};
const EMPTIED = { generation: 0, contentHash: null, committedAt: null, runId: null, counts: null } as const;
/** Writes of one commit, below every adapter's limit. */
const SLICE = 100;
const READ_SLICE = 1000;

export function createLedger(store: DocumentStore): Ledger {
  const entries = async (scope: DatasetScope, items: readonly DataItemId[]) => {
    const map = new Map<DataItemId, LedgerEntry>();
    const ids = [...new Set(items)];
    for (let start = 0; start < ids.length; start += READ_SLICE) {
      const found = await store.getMany(scope, ledgerCollection, ids.slice(start, start + READ_SLICE));
      for (const { id, value } of found) map.set(id as DataItemId, value);
    }
    return map;
  };
  const allEntries = async (scope: DatasetScope) => {
    const map = new Map<DataItemId, LedgerEntry>();
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof store.find<LedgerEntry>>> = await store.find(scope, ledgerCollection, {
        limit: 1000,
        after,
      });
      for (const { id, value } of page.items) map.set(id as DataItemId, value);
      after = page.next;
    } while (after !== null);
    return map;
  };
  /** Changes the entry, or makes the one that is missing; a race between the two is run again. */
  const change = async (scope: DatasetScope, item: DataItemId, entry: Partial<LedgerEntry>): Promise<LedgerEntry> => {
    for (let attempt = 1; ; attempt++) {
      const set = { where: { erased: false }, set: entry, increment: { lastGeneration: 1 } };
      const [result] = await store.commit(scope, [update(ledgerCollection, item, set)]);
      if (result?.stored) return result.stored.value as LedgerEntry;
      const existing = await store.get(scope, ledgerCollection, item);
      if (existing?.value.erased) throw new ItemErasedError(`item ${item} was forgotten`);
      const created: LedgerEntry = { ...UNBUILT, lastGeneration: 1, ...entry };
      try {
        if (existing === null) await store.commit(scope, [insert(ledgerCollection, item, created)]);
        if (existing === null) return created;
      } catch (error) {
        if (!(error instanceof DuplicateKeyError) || attempt === 10) throw error;
      }
    }
  };
  const changeAll = async (scope: DatasetScope, items: readonly DataItemId[], entry: Partial<LedgerEntry>) => {
    for (let start = 0; start < items.length; start += SLICE) {
      const slice = items.slice(start, start + SLICE);
      const results = await store.commit(
        scope,
        slice.map((item) =>
          update(ledgerCollection, item, {
            where: { erased: false },
            set: entry,
            increment: { lastGeneration: 1 },
          }),
        ),
      );
      for (const [index, item] of slice.entries()) {
        if (results[index]?.stored) continue;
        await change(scope, item, entry).catch((error: unknown) => {
          if (!(error instanceof ItemErasedError)) throw error;
        });
      }
    }
  };
  return {
    entries,
    allEntries,
    committed: async (scope, items) => committedOf(await entries(scope, items)),
    allCommitted: async (scope) => committedOf(await allEntries(scope)),
    begin: async (scope, item) => (await change(scope, item, { pending: true })).lastGeneration,
    commitWrites(item, generation, contentHash, at, by) {
      return [
        update(ledgerCollection, item, {
          where: { erased: false, lastGeneration: generation },
          set: {
            generation,
            contentHash,
            committedAt: at,
            runId: by?.runId ?? null,
            counts: by?.counts ?? null,
            pending: false,
          },
          required: true,
        }),
      ];
    },
    tombstone: (scope, items) => changeAll(scope, items, { ...EMPTIED, erased: true }),
    reset: (scope, items) => changeAll(scope, items, EMPTIED),
    async settle(scope, item, generation) {
      // A tombstone or a reset has taken one more generation meanwhile.
      const where = { lastGeneration: { atLeast: generation, atMost: generation + 1 } };
      await store.commit(scope, [update(ledgerCollection, item, { where, set: { pending: false } })]);
    },
    async pending(scope, limit) {
      const page = await store.find(scope, ledgerCollection, { where: { pending: true }, limit });
      return page.items.map(({ id, value, tenant, dataset }) => ({
        scope: datasetScope(asId(tenant ?? ''), asId(dataset ?? '')),
        item: id as DataItemId,
        entry: value,
      }));
    },
    async fence(scope, item, generation) {
      const change = { where: { lastGeneration: generation }, increment: { lastGeneration: 1 } };
      const [result] = await store.commit(scope, [update(ledgerCollection, item, change)]);
      return (result?.changed ?? 0) > 0;
    },
  };
}

function committedOf(entries: ReadonlyMap<DataItemId, LedgerEntry>): ReadonlyMap<DataItemId, number> {
  const map = new Map<DataItemId, number>();
  for (const [item, entry] of entries) if (!entry.erased && entry.generation > 0) map.set(item, entry.generation);
  return map;
}

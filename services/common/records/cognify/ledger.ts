import { contentVersion, type DataItem, type ItemContent } from '../../domain/data-item.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type AnyScope, type DatasetScope, datasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { isWriteConflict, retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert, update, type Write } from '../../storage/ports/document-store.ts';
import type { Provenance } from '../../storage/ports/index-entry.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { findAll } from '../base/find-all.ts';
import { builtWrite, unbuiltWrite } from '../ingest/data-items.ts';
import { createAskedItems } from './asked-items.ts';

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
  /** `contentVersion` of the item that the committed generation was built from. */
  readonly contentHash: string | null;
  readonly committedAt: string | null;
  /** The run that committed the generation; absent in entries that no run made. */
  readonly runId?: string | null;
  /** Numbers of chunks, entities and relationships in the generation. */
  readonly counts?: JsonObject | null;
  /** The chunk size that the run was asked for, tokens; null or absent: automatic. */
  readonly chunkSize?: number | null;
  /** An attempt began and neither committed nor rolled back: rows of it may be left. */
  readonly pending?: boolean;
  /** The newest generation was taken to bar the attempt before it, and not by a new attempt. */
  readonly barred?: boolean;
  /**
   * Attempts to build `triedVersion` that failed or were interrupted with their process; absent: 0. Attempts that
   * were stopped, or that a store or a provider failed, do not count.
   */
  readonly tries?: number;
  /** `contentVersion` that the tries were for. */
  readonly triedVersion?: string | null;
  /** Error of the newest try; null or absent: none, or it was interrupted. */
  readonly failure?: BuildFailure | null;
};

/** Why an item could not be built, as clients may see it. */
type BuildFailure = {
  readonly errorClass: string;
  readonly message: string;
  readonly at: string;
  readonly runId: string;
};

/** An item that failed so often is not tried again until it is requested. */
export const MAX_TRIES = 3;

/** Number of failed tries of this content of the item. */
export function triesOf(entry: LedgerEntry | undefined, version: string): number {
  return entry?.triedVersion === version ? (entry.tries ?? 0) : 0;
}

export const ledgerCollection: OwnedCollection<LedgerEntry> = {
  name: 'ledger',
  level: 'dataset',
  owner: 'cognify',
  writers: { ingest: 'lets items that failed be tried again on request' },
  readers: ['improve', 'search'],
  belongsTo: { tenant: 'scope' },
  inSnapshots: true,
  indexes: [{ fields: ['generation'] }, { fields: ['committedAt'] }, { fields: ['pending'], wide: true }],
};

/** An item whose present content could not be built, as clients see it. */
export interface FailedBuild {
  readonly errorClass: string;
  readonly message: string;
  readonly tries: number;
  /** It is not tried again until it is requested. */
  readonly isSetAside: boolean;
  /** ISO-8601; null when the process ended with the item. */
  readonly failedAt: string | null;
}

/** Null for an item that is built, was never tried, or is on its first try. */
export function failedBuild(entry: LedgerEntry | undefined, item: ItemContent): FailedBuild | null {
  const tries = triesOf(entry, contentVersion(item));
  if (entry === undefined || tries === 0) return null;
  const isSetAside = tries >= MAX_TRIES;
  const { failure } = entry;
  if (failure)
    return { errorClass: failure.errorClass, message: failure.message, tries, isSetAside, failedAt: failure.at };
  if (!isSetAside) return null;
  const message = `The server's process ended or lost its lease ${MAX_TRIES} times while it built this item.`;
  return { errorClass: 'AbandonedPipelineRunError', message, tries, isSetAside, failedAt: null };
}

export interface Attempt {
  readonly item: DataItemId;
  /** `contentVersion` that it builds. */
  readonly version: string;
  /** Tries of this version, this one included. */
  readonly tries: number;
}

/** Result of an attempt without a commit; an absent field is not changed. */
export interface AttemptEnd {
  readonly tries?: number;
  readonly failure?: BuildFailure | null;
}

interface CommittingRun {
  readonly runId: string;
  readonly counts: JsonObject;
  readonly chunkSize?: number | null;
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

/** A generation that is visible; rows of it never change, but for triplets. */
export interface CommittedBuild {
  readonly generation: number;
  /** ISO-8601, or empty. */
  readonly committedAt: string;
  /** 0 where it is not known. */
  readonly chunks: number;
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
  chunkSize: null,
  pending: false,
  barred: false,
  tries: 0,
  triedVersion: null,
  failure: null,
};
const BEGUN = { pending: true, barred: false } as const;
const UNTRIED = { tries: 0, triedVersion: null, failure: null } as const;
const EMPTIED = {
  ...UNTRIED,
  generation: 0,
  contentHash: null,
  committedAt: null,
  runId: null,
  counts: null,
  barred: true,
} as const;
/** Writes of one commit, below every adapter's limit. */
const SLICE = 100;
const READ_SLICE = 1000;

/** Ids of the items whose present content has a committed generation. */
export async function builtAmong(
  ledger: Ledger,
  scope: DatasetScope,
  items: readonly Pick<DataItem, 'id' | 'contentHash' | 'revision'>[],
): Promise<readonly DataItemId[]> {
  const ids = items.map(({ id }) => id);
  const entries = await ledger.entries(scope, ids);
  return items.filter((item) => isBuilt(entries.get(item.id), item)).map(({ id }) => id);
}

/** Whether the present content of the item has a committed generation. */
export function isBuilt(entry: LedgerEntry | undefined, item: ItemContent): entry is LedgerEntry {
  return entry !== undefined && !entry.erased && entry.generation > 0 && entry.contentHash === contentVersion(item);
}

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(store: DocumentStore) {
  const entries = async (scope: DatasetScope, items: readonly DataItemId[]) => {
    const map = new Map<DataItemId, LedgerEntry>();
    const ids = [...new Set(items)];
    for (const slice of slices(ids, READ_SLICE)) {
      const found = await store.getMany(scope, ledgerCollection, slice);
      for (const { id, value } of found) map.set(id as DataItemId, value);
    }
    return map;
  };
  /** Every item the dataset ever built, tombstones too. */
  const allEntries = async (scope: DatasetScope): Promise<ReadonlyMap<DataItemId, LedgerEntry>> =>
    new Map((await findAll(store, scope, ledgerCollection)).map(({ id, value }) => [id as DataItemId, value]));
  return {
    ...createAttempts(store),
    entries,
    allEntries,
    /** Where each read is a trip; else null. */
    asked: store.capabilities.sharedBetweenProcesses ? createAskedItems() : null,
    /** Committed generation of each item that has one, is not erased and not withheld from the reader. One batched read. */
    committed: async (scope: DatasetScope, items: readonly DataItemId[]) =>
      committedOf(scope, await entries(scope, items)),
    /** The committed builds of all items of the dataset in one read; null: there are more than `most`. */
    async committedBuilds(scope: DatasetScope, most: number): Promise<ReadonlyMap<DataItemId, CommittedBuild> | null> {
      const query = { where: { generation: { greaterThan: 0 } }, limit: most + 1 };
      const { items } = await store.find(scope, ledgerCollection, query);
      if (items.length > most) return null;
      const built = items.filter(({ value }) => !value.erased);
      return new Map(
        built.map(({ id, value: { generation, committedAt, counts } }) => [
          id as DataItemId,
          { generation, committedAt: committedAt ?? '', chunks: Number(counts?.['chunks'] ?? 0) },
        ]),
      );
    },
    /** The same for every item of the dataset. */
    allCommitted: async (scope: DatasetScope) => committedOf(scope, await allEntries(scope)),
    /** Invisible from now on, for ever: also for attempts under way and for items that were never built. */
    tombstone: (scope: DatasetScope, items: readonly DataItemId[]) =>
      changeAll(store, scope, items, { ...EMPTIED, erased: true }),
    /** Reads as not built from now on (`at`, ISO-8601); attempts under way cannot commit, new ones can. */
    reset: (scope: DatasetScope, items: readonly DataItemId[], at: string) =>
      changeAll(store, scope, items, EMPTIED, (item) => [unbuiltWrite(item, at)]),
    /** When the newest generation became visible; null: there is none. */
    async lastCommit(scope: DatasetScope): Promise<string | null> {
      const where = { committedAt: { exists: true } };
      const sort = [{ field: 'committedAt' as const, descending: true }];
      const { items } = await store.find(scope, ledgerCollection, { where, sort, limit: 1 });
      return items[0]?.value.committedAt ?? null;
    },
    /** Items with an attempt that did not end. */
    async pending(scope: AnyScope, limit: number): Promise<readonly PendingItem[]> {
      const page = await store.find(scope, ledgerCollection, { where: { pending: true }, limit });
      return page.items.map(({ id, value, tenant, dataset }) => ({
        scope: datasetScope(asId(tenant ?? ''), asId(dataset ?? '')),
        item: id as DataItemId,
        entry: value,
      }));
    },
  };
}

/** Attempts to build an item: each begins, and is committed, settled or fenced. */
function createAttempts(store: DocumentStore) {
  return {
    /**
     * Reserves the next generation of an item for a new attempt, which counts as a try until it is settled otherwise; older
     * attempts can no longer commit. `ItemErasedError`.
     */
    async begin(scope: DatasetScope, item: DataItemId): Promise<number> {
      return (await change(store, scope, item, BEGUN)).lastGeneration;
    },
    /** The same for several items in one commit; null for those that were erased. `isNew`: whether an entry is not known. */
    async beginAll(scope: DatasetScope, attempts: readonly Attempt[], isNew: (item: DataItemId) => boolean) {
      const changes = attempts.map(({ item, tries, version }) => ({
        item,
        entry: { ...BEGUN, tries, triedVersion: version },
      }));
      const writes = changes.map(({ item, entry }) =>
        isNew(item) ? insertWrite(item, entry) : changeWrite(item, entry),
      );
      const results = await store.commit(scope, writes).catch((error: unknown) => {
        if (!isWriteConflict(error)) throw error;
        return [];
      });
      return Promise.all(
        changes.map(async ({ item, entry }, index) => {
          const begun = results[index]?.stored?.value ?? (await change(store, scope, item, entry).catch(nullIfErased));
          return begun === null ? null : (begun as LedgerEntry).lastGeneration;
        }),
      );
    },
    /**
     * To be committed with the run's progress: makes the generation the visible one. The commit fails with
     * `VersionConflictError` when the item was erased or reset, or another attempt began, since `begin`.
     */
    commitWrites(item: DataItemId, generation: number, contentHash: string, at: string, by?: CommittingRun) {
      return [
        update(ledgerCollection, item, {
          where: { erased: false, lastGeneration: generation },
          set: {
            generation,
            contentHash,
            committedAt: at,
            runId: by?.runId ?? null,
            counts: by?.counts ?? null,
            chunkSize: by?.chunkSize ?? null,
            pending: false,
            ...UNTRIED,
          },
          required: true,
        }),
        builtWrite(item, contentHash),
      ];
    },
    /** The attempt has ended without a commit and removed its rows. Another one that began since stays as it is. */
    async settle(scope: DatasetScope, item: DataItemId, generation: number, end: AttemptEnd = {}): Promise<void> {
      const set = { pending: false };
      await store.commit(scope, [
        update(ledgerCollection, item, { where: { lastGeneration: generation }, set: { ...set, ...end } }),
        // A tombstone or a reset has taken one more generation meanwhile.
        update(ledgerCollection, item, { where: { lastGeneration: generation + 1, barred: true }, set }),
      ]);
    },
    /** Items that were set aside, or failed, are tried again as if for the first time. Those that did not fail stay as they are. */
    async forgive(scope: DatasetScope, items: readonly DataItemId[]): Promise<void> {
      for (const slice of slices(items, SLICE)) {
        await store.commit(
          scope,
          slice.map((item) => update(ledgerCollection, item, { where: { tries: { greaterThan: 0 } }, set: UNTRIED })),
        );
      }
    },
    /** Bars the newest attempt from committing, unless another began since: true when barred; `settle` it then. */
    async fence(scope: DatasetScope, item: DataItemId, generation: number): Promise<boolean> {
      const change = { where: { lastGeneration: generation }, set: { barred: true }, increment: { lastGeneration: 1 } };
      const [result] = await store.commit(scope, [update(ledgerCollection, item, change)]);
      return (result?.changed ?? 0) > 0;
    },
  };
}

function committedOf({ withheld }: DatasetScope, entries: ReadonlyMap<DataItemId, LedgerEntry>) {
  const map = new Map<DataItemId, number>();
  for (const [item, entry] of entries)
    if (!entry.erased && entry.generation > 0 && withheld?.has(item) !== true) map.set(item, entry.generation);
  return map;
}

/** Changes the entry, or makes the one that is missing; a race between the two is run again. `ItemErasedError`. */
async function change(store: DocumentStore, scope: DatasetScope, item: DataItemId, entry: Partial<LedgerEntry>) {
  return retryOnConflict(async () => {
    const [result] = await store.commit(scope, [changeWrite(item, entry)]);
    if (result?.stored) return result.stored.value as LedgerEntry;
    const existing = await store.get(scope, ledgerCollection, item);
    if (existing?.value.erased) throw new ItemErasedError(`item ${item} was forgotten`);
    // Another process may have inserted it since.
    const [inserted] = await store.commit(scope, [insertWrite(item, entry)]);
    return inserted?.stored?.value as LedgerEntry;
  });
}

/** The same for many items; deleted ones stay as they are. */
async function changeAll(
  store: DocumentStore,
  scope: DatasetScope,
  items: readonly DataItemId[],
  entry: Partial<LedgerEntry>,
  more: (item: DataItemId) => readonly Write[] = () => [],
): Promise<void> {
  for (const slice of slices(items, SLICE)) {
    const results = await store.commit(scope, [
      ...slice.map((item) => changeWrite(item, entry)),
      ...slice.flatMap((item) => more(item)),
    ]);
    for (const [index, item] of slice.entries()) {
      if (results[index]?.stored) continue;
      await change(store, scope, item, entry).catch(nullIfErased);
    }
  }
}

function nullIfErased(error: unknown): null {
  if (error instanceof ItemErasedError) return null;
  throw error;
}

function insertWrite(item: DataItemId, entry: Partial<LedgerEntry>): Write {
  return insert(ledgerCollection, item, { ...UNBUILT, lastGeneration: 1, ...entry });
}

/** Takes one more generation, so that attempts under way can no longer commit. */
function changeWrite(item: DataItemId, entry: Partial<LedgerEntry>): Write {
  return update(ledgerCollection, item, {
    where: { erased: false },
    set: entry,
    increment: { lastGeneration: 1 },
  });
}

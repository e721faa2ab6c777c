import {
  BUDGET_KINDS,
  type BudgetAccount,
  type BudgetKind,
  type BudgetWindow,
  type Counter,
  counterOf,
  type Demand,
  windowOf,
} from '../../domain/budget.ts';
import { canaryAccount } from '../../domain/canary.ts';
import type { UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import { PERSONAL_TENANT, type Scope, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { ignoreWriteConflict } from '../../platform/async/retry-on-conflict.ts';
import {
  type DocumentStore,
  type Filter,
  type Query,
  removeWhere,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { datasetsCollection } from '../auth/datasets.ts';
import { put } from '../base/repository.ts';
import { dataItemsCollection } from '../ingest/data-items.ts';

type Numbers = { readonly [Kind in BudgetKind]?: number };

/** Usage of an account in one window of a counter. */
export type UsageDocument = Numbers & {
  readonly account: string;
  readonly counter: Counter;
  /** Tokens that calls under way have set aside, and `llmTokensPerDay` or `…PerMonth`: what a new call is admitted by. */
  readonly committed?: number;
  /** When the counter may be removed; null for a counter without a window. */
  readonly keptUntilMs: number | null;
  /** Data was passed to or from the account: it is counted again before the counter is used. */
  readonly outdated?: boolean | null;
  /** Window of the last alert of each kind. */
  readonly warnedOf?: string | null;
  readonly exceededOf?: string | null;
};

export const usageCollection: OwnedCollection<UsageDocument> = {
  name: 'budget_usage',
  level: 'system',
  owner: 'auth',
  writers: { every: 'a charge is in the commit of what it counts, or a budget could be exceeded' },
  belongsTo: { account: 'account' },
  indexes: [{ fields: ['keptUntilMs'] }, { fields: ['account'] }],
};

/** So long after its end a window can still be looked at. */
const KEPT_MS: Readonly<Record<Counter, number>> = {
  stored: 0,
  runs: 0,
  day: 35 * 86_400_000,
  month: 400 * 86_400_000,
  minute: 600_000,
};

export type Usage = ReturnType<typeof createUsage>;

/** The commits of counters are conditional, so that they never pass a limit: `VersionConflictError` of the counter then. */
export function createUsage(store: DocumentStore) {
  return {
    async get(id: string): Promise<UsageDocument | null> {
      return (await store.get(SYSTEM_SCOPE, usageCollection, id))?.value ?? null;
    },
    async getMany(ids: readonly string[]): Promise<ReadonlyMap<string, UsageDocument>> {
      const found = await store.getMany(SYSTEM_SCOPE, usageCollection, ids);
      return new Map(found.map(({ id, value }) => [id, value]));
    },
    /** Creates a missing or outdated counter from the stored data. Does nothing when another process is faster. */
    async create(account: BudgetAccount, counter: Counter, window: BudgetWindow | null): Promise<void> {
      const id = usageId(account, counter, window);
      const before = await store.get(SYSTEM_SCOPE, usageCollection, id);
      if (before !== null && !before.value.outdated) return;
      // Whatever changes while this counts needs the counter, so that the write below fails or the count is right.
      const stored = counter === 'stored' && !account.startsWith('key/') ? await countStored(store, account) : {};
      const document = { ...emptyUsage(account, counter, window), ...stored };
      await ignoreWriteConflict(
        store.commit({ tenant: PERSONAL_TENANT }, [put(usageCollection, id, document, before)]),
      );
    },
    /** Windows that ended long ago go. */
    async sweep(now: Date): Promise<number> {
      const where = { keptUntilMs: { lessThan: now.getTime() } };
      const [result] = await store.commit({ tenant: PERSONAL_TENANT }, [removeWhere(usageCollection, where)]);
      return result?.changed ?? 0;
    },
    removeAllWrite: (account: BudgetAccount) => removeWhere(usageCollection, { account }),
  };
}

export function usageId(account: BudgetAccount, counter: Counter, window: BudgetWindow | null): string {
  return window === null ? `${account}/${counter}` : `${account}/${counter}/${window.name}`;
}

/** To be committed with the change that passes data from or to the account; does nothing when there is no counter yet. */
export function outdateWrite(account: BudgetAccount): Write {
  return update(usageCollection, usageId(account, 'stored', null), { set: { outdated: true } });
}

/** Id of the counter of a kind at a time. */
export function usageIdOf(account: BudgetAccount, kind: BudgetKind, now: Date): string {
  const counter = counterOf(kind);
  return usageId(account, counter, windowOf(counter, now));
}

function emptyUsage(account: BudgetAccount, counter: Counter, window: BudgetWindow | null): UsageDocument {
  const kinds = BUDGET_KINDS.filter((kind) => counterOf(kind) === counter);
  return {
    ...Object.fromEntries(kinds.map((kind) => [kind, 0])),
    ...(counter === 'day' || counter === 'month' ? { committed: 0 } : {}),
    account,
    counter,
    keptUntilMs: window === null ? null : window.endsAt.getTime() + KEPT_MS[counter],
  };
}

/** Adds to a counter that must be there, or gives back to one that may be gone. */
export function countWrite(
  id: string,
  change: {
    readonly amounts: Demand & { readonly committed?: number };
    readonly where?: Filter<UsageDocument>;
    readonly required: boolean;
  },
): Write {
  const { amounts, where = {}, required } = change;
  return update(usageCollection, id, { where, increment: amounts as Readonly<Record<string, number>>, required });
}

interface StoredCounts {
  readonly items: number;
  readonly storageBytes: number;
  readonly datasets: number;
}

const PAGE = 1000;

type ItemDocument = NonNullable<(typeof dataItemsCollection)['document']>;
type DatasetDocument = NonNullable<(typeof datasetsCollection)['document']>;

/**
 * Counts what an account keeps, one record after the other: for a counter that is missing or outdated. Every change of data
 * needs the counter, so that nothing changes between the counting and the insertion of a counter that is missing.
 */
export async function countStored(store: DocumentStore, account: BudgetAccount): Promise<StoredCounts> {
  const [kind, id = ''] = account.split('/');
  if (kind === 'tenant') {
    const tenant = { tenant: asId<Scope['tenant']>(id) };
    const canary = canaryAccount(tenant.tenant);
    const datasets = await store.count(tenant, datasetsCollection, {});
    const uncounted = await store.count(tenant, datasetsCollection, { ownerId: canary });
    return { datasets: datasets - uncounted, ...(await countItems(store, tenant, canary)) };
  }
  let counts: StoredCounts = { items: 0, storageBytes: 0, datasets: 0 };
  const query: Query<DatasetDocument> = {
    where: { ownerId: id },
    sort: [{ field: 'ownerId' }, { field: 'name' }],
    limit: PAGE,
  };
  const read = (after: string | null) =>
    store.find({ tenant: PERSONAL_TENANT }, datasetsCollection, { ...query, after });
  for await (const datasets of pagesOf(read)) {
    for (const { id: dataset } of datasets) {
      const { items, storageBytes } = await countItems(store, { tenant: PERSONAL_TENANT, dataset: asId(dataset) });
      counts = {
        datasets: counts.datasets + 1,
        items: counts.items + items,
        storageBytes: counts.storageBytes + storageBytes,
      };
    }
  }
  return counts;
}

async function countItems(
  store: DocumentStore,
  scope: Scope,
  /** User whose items do not count. */
  uncounted?: UserId,
): Promise<Omit<StoredCounts, 'datasets'>> {
  let items = 0;
  let storageBytes = 0;
  const query: Query<ItemDocument> = { sort: [{ field: 'createdAt' }], limit: PAGE };
  for await (const found of pagesOf((after) => store.find(scope, dataItemsCollection, { ...query, after }))) {
    const counted = found.filter(({ value }) => value.ownerId !== uncounted);
    for (const { value } of counted) storageBytes += value.sizeBytes;
    items += counted.length;
  }
  return { items, storageBytes };
}

import { isDeepStrictEqual } from 'node:util';
import type { DataItemId, UserId } from '../../kernel/brand.ts';
import { asId, dataItemId } from '../../kernel/ids.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import {
  type DocumentStore,
  remove,
  removeWhere,
  type Stored,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import type { Judgement } from '../../text/statements/judge.ts';
import { supersessionId } from '../../text/statements/statement.ts';
import { put, repository } from '../base/repository.ts';
import type { StoredStatement } from './statements.ts';

type Side = {
  readonly text: string;
  readonly value: string;
  readonly generation: number;
  /** ISO. */
  readonly at: string;
  readonly from: string;
  /** Items that say the same. */
  readonly support: number;
};

type SupersessionDocument = {
  readonly key: string;
  readonly subject: string;
  readonly predicate: string;
  readonly reason: Judgement['reason'];
  readonly older: Side;
  readonly newer: Side;
  readonly olderItem: string;
  readonly olderChunk: string;
  readonly newerItem: string;
  readonly newerChunk: string;
  readonly detectedAt: string;
};

/** Written by cognify when it compares statements. */
export const supersessionsCollection: OwnedCollection<SupersessionDocument> = {
  name: 'supersessions',
  level: 'dataset',
  owner: 'cognify',
  readers: ['ingest', 'search'],
  belongsTo: { dataset: 'scope' },
  isMemory: true,
  inSnapshots: true,
  indexes: [
    { fields: ['detectedAt'] },
    { fields: ['olderChunk'] },
    { fields: ['newerChunk'] },
    { fields: ['olderItem'] },
    { fields: ['newerItem'] },
  ],
};

type RevertDocument = { readonly userId: string; readonly at: string; readonly olderItem: string };

/** Supersessions that a user has reverted, by their id; a revert stays when the supersession is found again. */
export const supersessionRevertsCollection: OwnedCollection<RevertDocument> = {
  name: 'supersession_reverts',
  level: 'dataset',
  owner: 'ingest',
  readers: ['cognify', 'search'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [{ fields: ['olderItem'] }],
};

export interface SupersededSide extends Side {
  readonly item: DataItemId;
  readonly chunk: string;
}

export interface Supersession {
  readonly id: string;
  readonly subject: string;
  readonly predicate: string;
  readonly reason: Judgement['reason'];
  readonly older: SupersededSide;
  readonly newer: SupersededSide;
  /** ISO. */
  readonly detectedAt: string;
  /** Null while the older statement stays replaced. */
  readonly reverted: { readonly by: UserId; readonly at: string } | null;
}

export type Supersessions = ReturnType<typeof createSupersessions>;

export function createSupersessions(store: DocumentStore) {
  const collection = supersessionsCollection;
  const records = repository(store, collection, (stored) => stored);
  const reverts = repository(store, supersessionRevertsCollection, (stored) => stored);
  const withReverts = async (scope: DatasetScope, found: readonly Stored<SupersessionDocument>[]) => {
    const ids = found.map(({ id }) => id);
    const byId = new Map((await reverts.getMany(scope, ids)).map(({ id, value }) => [id, value]));
    return found.map((stored) => supersessionOf(stored, byId.get(stored.id) ?? null));
  };
  const byField = (scope: DatasetScope, field: 'olderChunk' | 'newerChunk' | 'olderItem', values: readonly string[]) =>
    records.allOf(scope, values, (some) => ({ where: { [field]: { in: some } } }));
  return {
    /** Newest first. The statements may belong to generations that are not visible (any more). */
    async list(scope: DatasetScope, { after, limit }: { readonly after: string | null; readonly limit: number }) {
      const sort = [{ field: 'detectedAt', descending: true }] as const;
      const page = await records.page(scope, { sort, limit, after });
      return { items: await withReverts(scope, page.items), next: page.next };
    },
    /** All of the dataset in the order of `ofChunks`, by id; null: there are more than `most`, which is 1000 at most. */
    async few(scope: DatasetScope, most: number): Promise<readonly Supersession[] | null> {
      const { items, next } = await records.page(scope, { limit: most });
      return next === null ? withReverts(scope, items) : null;
    },
    async get(scope: DatasetScope, id: string): Promise<Supersession | null> {
      const stored = await records.get(scope, id);
      return stored === null ? null : ((await withReverts(scope, [stored]))[0] ?? null);
    },
    /** Supersessions with a statement in one of the passages, on either side. */
    async ofChunks(scope: DatasetScope, chunks: readonly string[]): Promise<readonly Supersession[]> {
      const [older, newer] = await Promise.all([
        byField(scope, 'olderChunk', chunks),
        byField(scope, 'newerChunk', chunks),
      ]);
      return withReverts(scope, [...new Map([...older, ...newer].map((one) => [one.id, one])).values()]);
    },
    ofOlderItems: async (scope: DatasetScope, items: readonly string[]) =>
      withReverts(scope, await byField(scope, 'olderItem', items)),
    /**
     * Brings the stored supersessions of the judged statements in line with the judgements, and answers which are not stored yet;
     * `VersionConflictError` or `DuplicateKeyError` in the commit on a race.
     */
    async settleWrites(
      scope: DatasetScope,
      judged: readonly StoredStatement[],
      judgements: readonly Judgement<StoredStatement>[],
      at: string,
    ): Promise<{ readonly writes: readonly Write[]; readonly changed: readonly Judgement<StoredStatement>[] }> {
      const ids = [...new Set(judged.map((one) => supersessionId(one.id)))];
      return settlement(await records.getMany(scope, ids), judgements, at);
    },
    /** The older statement stands again, for good. `DuplicateKeyError`: it was taken back already. */
    revertWrite: ({ id, older }: Supersession, by: UserId, at: string) =>
      reverts.insertWrite(id, { userId: by, at, olderItem: older.item }),
    async removeOfItem(scope: DatasetScope, item: DataItemId): Promise<void> {
      await store.commit(scope, [
        removeWhere(collection, { olderItem: item }),
        removeWhere(collection, { newerItem: item }),
      ]);
    },
    async count(scope: DatasetScope, items?: readonly DataItemId[]): Promise<number> {
      if (items === undefined) return records.count(scope);
      const older = await records.countOf(scope, items, (some) => ({ olderItem: { in: some } }));
      return older + (await records.countOf(scope, items, (some) => ({ newerItem: { in: some } })));
    },
    removeRevertsWrite: (items: readonly DataItemId[]) => reverts.removeWhereWrite({ olderItem: { in: items } }),
  };
}

/** Writes that bring the stored ones in line with the judgements. */
function settlement(
  stored: readonly Stored<SupersessionDocument>[],
  judgements: readonly Judgement<StoredStatement>[],
  at: string,
): { readonly writes: readonly Write[]; readonly changed: readonly Judgement<StoredStatement>[] } {
  const present = new Map(stored.map((one) => [one.id, one]));
  const wanted = new Map(judgements.map((judgement) => [supersessionId(judgement.older.id), judgement]));
  const removals = [...present.values()]
    .filter(({ id }) => !wanted.has(id))
    .map(({ id, version }) => remove(supersessionsCollection, id, version));
  const changed: Judgement<StoredStatement>[] = [];
  const changes = [...wanted].flatMap(([id, judgement]): readonly Write[] => {
    const before = present.get(id);
    const document = documentOf(judgement, before?.value.detectedAt ?? at);
    if (before !== undefined && isDeepStrictEqual(before.value, document)) return [];
    changed.push(judgement);
    const isAsBefore = before === undefined || before.value.newer.text === document.newer.text;
    const detectedAt = isAsBefore ? document.detectedAt : at;
    return [put(supersessionsCollection, id, { ...document, detectedAt }, before)];
  });
  return { writes: [...removals, ...changes], changed };
}

function documentOf(
  { older, newer, reason, olderSupport, newerSupport }: Judgement<StoredStatement>,
  detectedAt: string,
): SupersessionDocument {
  const { key, subject, predicate } = older;
  const sides = { older: sideOf(older, olderSupport), newer: sideOf(newer, newerSupport) };
  const places = { olderItem: older.item, olderChunk: older.chunk, newerItem: newer.item, newerChunk: newer.chunk };
  return { key, subject, predicate, reason, ...sides, ...places, detectedAt };
}

function sideOf({ text, valueText, generation, at, from }: StoredStatement, support: number): Side {
  return { text, value: valueText, generation, at, from, support };
}

function supersessionOf({ id, value }: Stored<SupersessionDocument>, revert: RevertDocument | null): Supersession {
  const { subject, predicate, reason, detectedAt } = value;
  return {
    id,
    subject,
    predicate,
    reason,
    detectedAt,
    older: { ...value.older, item: dataItemId(value.olderItem), chunk: value.olderChunk },
    newer: { ...value.newer, item: dataItemId(value.newerItem), chunk: value.newerChunk },
    reverted: revert === null ? null : { by: asId<UserId>(revert.userId), at: revert.at },
  };
}

import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { asId, dataItemId } from '../../common/kernel/ids.ts';
import type { DatasetScope, SystemScope } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  removeWhere,
  type Stored,
  update,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type BegunForgetDocument = {
  /** A dataset that is made anew under the same id is another. */
  readonly createdAt: string;
  /** The dataset's, which what it counts for is given back to. */
  readonly ownerId: string;
  /** Milliseconds since 1970; from then on somebody else may go on. */
  readonly leasedUntilMs: number;
  /** ISO-8601, of memory only: what is built later stays. */
  readonly begunAt?: string;
};

/**
 * What is being forgotten: one document for each item and each dataset, from before the first step until all is gone. One
 * that nobody holds any more is ended by whoever finds it.
 */
export const begunForgetsCollection: Collection<BegunForgetDocument> = {
  name: 'begun_forgets',
  level: 'dataset',
  indexes: [{ fields: ['createdAt'] }, { fields: ['leasedUntilMs'], wide: true }],
};

export interface Forgotten {
  /** Null: the dataset itself. */
  readonly items: readonly DataItemId[] | null;
  /** What was built of them goes, they stay. */
  readonly memoryOnly: boolean;
}

export type ForgottenDataset = Pick<DatasetRef, 'id' | 'tenant' | 'createdAt' | 'ownerId'>;

export interface CutOffForget {
  readonly dataset: ForgottenDataset;
  /** The item; null: the dataset. */
  readonly item: DataItemId | null;
  /** When it was begun, if only its memory goes; null: all of it goes. */
  readonly memoryBefore: string | null;
  readonly leasedUntilMs: number;
}

export interface BeginTimes {
  readonly begunAt: string;
  readonly leasedUntilMs: number;
}

/** Ids of items are none like these. */
const WHOLE = 'dataset';
const MEMORY = 'memory';
const PAGE = 500;

export type BegunForgets = ReturnType<typeof createBegunForgets>;

export function createBegunForgets(store: DocumentStore) {
  const collection = begunForgetsCollection;
  const cutOff = async (scope: SystemScope, beforeMs: number): Promise<readonly CutOffForget[]> => {
    const where = { leasedUntilMs: { atMost: beforeMs } };
    return (await store.find(scope, collection, { where, limit: PAGE })).items.map(cutOffOf);
  };
  const hold = async (scope: DatasetScope, ids: readonly string[], leasedUntilMs: number): Promise<void> => {
    await store.commit(
      scope,
      ids.map((id) => update(collection, id, { set: { leasedUntilMs } })),
    );
  };
  return {
    /** Commits `writes` with it. What was begun before is held from now on. */
    async begin(
      dataset: ForgottenDataset,
      what: Forgotten,
      { begunAt, leasedUntilMs }: BeginTimes,
      writes: readonly Write[],
    ): Promise<void> {
      const scope = scopeOf(dataset);
      const { createdAt, ownerId } = dataset;
      const document = { createdAt, ownerId, leasedUntilMs, ...(what.memoryOnly ? { begunAt } : {}) };
      const ids = idsOf(what);
      // An end that somebody else comes to, or a beginning, meanwhile.
      await retryOnConflict(async () => {
        const known = new Set((await store.getMany(scope, collection, ids)).map(({ id }) => id));
        const marks = ids.map((id) =>
          known.has(id) ? update(collection, id, { set: document, required: true }) : insert(collection, id, document),
        );
        await store.commit(scope, [...marks, ...writes]);
      });
    },
    /** Whether the dataset itself is being forgotten. */
    ofDataset: async (dataset: Pick<DatasetRef, 'tenant' | 'id'>) =>
      (await store.get(scopeOf(dataset), collection, WHOLE)) !== null,
    /** Until somebody else may go on. */
    hold: (dataset: ForgottenDataset, what: Forgotten, untilMs: number) => hold(scopeOf(dataset), idsOf(what), untilMs),
    /** It is gone, and with a dataset all that was begun of its items. */
    async end(dataset: ForgottenDataset, what: Forgotten): Promise<void> {
      const { createdAt } = dataset;
      await store.commit(scopeOf(dataset), [
        removeWhere(collection, isWhole(what) ? { createdAt } : { id: { in: idsOf(what) }, createdAt }),
      ]);
    },
    /** What nobody has held since then, of all tenants, at most 500. */
    cutOff,
    /** False: somebody else goes on with it, or ended it. */
    async take(forget: CutOffForget, leasedUntilMs: number): Promise<boolean> {
      const { dataset, leasedUntilMs: read } = forget;
      const change = { where: { leasedUntilMs: read }, set: { leasedUntilMs } };
      const [result] = await store.commit(scopeOf(dataset), [update(collection, idOf(forget), change)]);
      return result?.changed === 1;
    },
    /** For a process that has the store alone: whoever held them is dead. */
    async releaseAll(scope: SystemScope): Promise<void> {
      for (;;) {
        const held = await store.find(scope, collection, { where: { leasedUntilMs: { greaterThan: 0 } }, limit: PAGE });
        for (const stored of held.items) await hold(scopeOf(cutOffOf(stored).dataset), [stored.id], 0);
        if (held.items.length < PAGE) return;
      }
    },
  };
}

function isWhole({ items, memoryOnly }: Forgotten): boolean {
  return items === null && !memoryOnly;
}

function idsOf({ items, memoryOnly }: Forgotten): readonly string[] {
  const ids = items === null ? [WHOLE] : [...new Set(items)];
  return memoryOnly ? ids.map((id) => `${MEMORY} ${id}`) : ids;
}

function idOf({ item, memoryBefore }: CutOffForget): string {
  return idsOf({ items: item === null ? null : [item], memoryOnly: memoryBefore !== null })[0] ?? WHOLE;
}

function cutOffOf({ id, tenant, dataset, value }: Stored<BegunForgetDocument>): CutOffForget {
  const { createdAt, ownerId, leasedUntilMs, begunAt = null } = value;
  const name = begunAt === null ? id : id.slice(MEMORY.length + 1);
  const owner = { id: asId<DatasetRef['id']>(dataset ?? ''), tenant: asId<DatasetRef['tenant']>(tenant ?? '') };
  return {
    dataset: { ...owner, createdAt, ownerId: asId(ownerId) },
    item: name === WHOLE ? null : dataItemId(name),
    memoryBefore: begunAt,
    leasedUntilMs,
  };
}

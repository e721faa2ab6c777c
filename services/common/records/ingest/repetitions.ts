import type { DataItemId } from '../../kernel/brand.ts';
import { dataItemId } from '../../kernel/ids.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import type { DocumentStore, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type RepetitionDocument = {
  /** Number of repetitions. */
  readonly count: number;
  /** ISO. */
  readonly lastAt: string;
  /** Its statements were compared since with other statements: they count as new as the last repetition. */
  readonly settled: boolean;
};

/** Items that were added again word for word: support instead of a copy. Written by ingest, settled by cognify. */
export const repetitionsCollection: OwnedCollection<RepetitionDocument> = {
  name: 'repetitions',
  level: 'dataset',
  owner: 'ingest',
  writers: { cognify: 'settles a repetition in the commit that compares its statements' },
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [{ fields: ['settled'] }],
};

interface Repetition {
  readonly item: DataItemId;
  readonly count: number;
  readonly lastAt: string;
}

export type Repetitions = ReturnType<typeof createRepetitions>;

export function createRepetitions(store: DocumentStore) {
  const records = repository(store, repetitionsCollection, repetitionOf);
  return {
    async note(scope: DatasetScope, item: DataItemId, at: string): Promise<void> {
      await retryOnConflict(async () => {
        const change = { set: { lastAt: at, settled: false }, increment: { count: 1 } };
        const [result] = await store.commit(scope, [records.updateWrite(item, change)]);
        if (result?.stored) return;
        await store.commit(scope, [records.insertWrite(item, { count: 1, lastAt: at, settled: false })]);
      });
    },
    async of(scope: DatasetScope, items: readonly string[]): Promise<ReadonlyMap<string, Repetition>> {
      const found = await records.getMany(scope, [...new Set(items)].slice(0, 1000));
      return new Map(found.map((repetition) => [repetition.item, repetition]));
    },
    /** Up to 1000 that were noted since they were settled. */
    async unsettled(scope: DatasetScope): Promise<readonly Repetition[]> {
      return (await records.page(scope, { where: { settled: false }, limit: 1000 })).items;
    },
    /** Does nothing for one that was noted again meanwhile. */
    settledWrite: ({ item, count }: Repetition) =>
      records.updateWrite(item, { where: { count }, set: { settled: true } }),
    removeWrite: (items: readonly DataItemId[]) => records.removeWhereWrite({ id: { in: items } }),
  };
}

function repetitionOf({ id, value: { count, lastAt } }: Stored<RepetitionDocument>): Repetition {
  return { item: dataItemId(id), count, lastAt };
}

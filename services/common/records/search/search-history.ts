import type { DatasetId, UserId } from '../../kernel/brand.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { Scope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import type { IdSource } from '../../ports/system.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type HistoryDocument = {
  readonly userId: string;
  /** The dataset that answered; null when none was searched. */
  readonly datasetId: string | null;
  readonly searchType: string;
  /** `user`: a question, `system`: its answer. */
  readonly speaker: 'user' | 'system';
  readonly text: string;
  readonly createdAt: string;
  /** The items that an answer was made from; none of a question. */
  readonly items?: readonly string[];
};

export const searchHistoryCollection: OwnedCollection<HistoryDocument> = {
  name: 'search_history',
  level: 'tenant',
  owner: 'search',
  readers: ['ingest'],
  belongsTo: { tenant: 'scope', dataset: 'datasetId' },
  indexes: [{ fields: ['userId'] }, { fields: ['datasetId'] }],
};

export interface HistoryEntry extends HistoryDocument {
  readonly id: string;
}

interface AnsweredQuestion {
  readonly userId: UserId;
  readonly datasetId: DatasetId | null;
  readonly searchType: string;
  readonly question: string;
  readonly answer: string;
  readonly askedAt: string;
  readonly answeredAt: string;
  /** Items that the answer was made from. */
  readonly items: readonly string[];
}

/** An answer has up to 64,000 characters. */
const ANSWERS_AT_ONCE = 100;

export type SearchHistory = ReturnType<typeof createSearchHistory>;

/** Questions and answers of searches and recalls, by user. */
export function createSearchHistory(store: DocumentStore, ids: IdSource) {
  const records = repository(store, searchHistoryCollection, ({ id, value }): HistoryEntry => ({ id, ...value }));
  return {
    /** One commit: a question never stands without its answer. */
    async append(scope: Scope, answered: readonly AnsweredQuestion[]): Promise<void> {
      const writes = answered.flatMap(({ question, answer, askedAt, answeredAt, items, ...common }) => [
        records.insertWrite(ids.ordered(), { ...common, speaker: 'user', text: question, createdAt: askedAt }),
        records.insertWrite(ids.ordered(), {
          ...common,
          speaker: 'system',
          text: answer,
          createdAt: answeredAt,
          items,
        }),
      ]);
      const { maxWritesPerCommit } = store.capabilities;
      const step = Math.max(2, maxWritesPerCommit - (maxWritesPerCommit % 2));
      for (const slice of slices(writes, step)) await store.commit(scope, slice);
    },
    /** Every row of the user, oldest first. */
    // Ids are time-ordered, so the id alone gives the order in which rows were written.
    ofUser: (scope: Scope, user: UserId) => records.all(scope, { where: { userId: user } }),
    /** When the user asked last; null: never. */
    async lastAsked(scope: Scope, user: UserId): Promise<string | null> {
      const sort = [{ field: 'id' as const, descending: true }];
      return (await records.first(scope, { where: { userId: user }, sort }))?.createdAt ?? null;
    },
    /** Returns how many rows went. */
    eraseDataset: (scope: Scope, dataset: DatasetId) => records.removeWhere(scope, { datasetId: dataset }),
    /** Answers made from any of the items lose their text. Returns how many did; repeating it is harmless. */
    async eraseAnswers(scope: Scope, dataset: DatasetId, items: readonly string[]): Promise<number> {
      const doomed = new Set(items);
      const where = { datasetId: dataset };
      let erased = 0;
      for await (const page of pagesOf((after) => records.page(scope, { where, limit: ANSWERS_AT_ONCE, after }))) {
        const answers = page.filter((entry) => entry.items?.some((item) => doomed.has(item)));
        const writes = answers.map(({ id }) => records.updateWrite(id, { set: { text: '', items: [] } }));
        if (writes.length > 0) await store.commit(scope, writes);
        erased += writes.length;
      }
      return erased;
    },
    countDataset: (scope: Scope, dataset: DatasetId) => records.count(scope, { datasetId: dataset }),
  };
}

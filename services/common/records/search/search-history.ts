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
  /** `user`: a question; `system`: an answer in a document of its own, as they were kept before. */
  readonly speaker: 'user' | 'system';
  readonly text: string;
  readonly createdAt: string;
  /** Of the question. */
  readonly answer?: { readonly id: string; readonly text: string; readonly createdAt: string };
  /** The items that the answer was made from. */
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

/** A question or an answer. */
export interface HistoryEntry extends Omit<HistoryDocument, 'answer' | 'items'> {
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
  const records = repository(store, searchHistoryCollection, ({ id, value }) => ({ id, ...value }));
  return {
    /** A document for each: a question never stands without its answer, and one alone needs no transaction. */
    async append(scope: Scope, answered: readonly AnsweredQuestion[]): Promise<void> {
      const writes = answered.map(({ question, answer, askedAt, answeredAt, ...common }) =>
        records.insertWrite(ids.ordered(), {
          ...common,
          speaker: 'user',
          text: question,
          createdAt: askedAt,
          answer: { id: ids.ordered(), text: answer, createdAt: answeredAt },
        }),
      );
      for (const slice of slices(writes, store.capabilities.maxWritesPerCommit)) await store.commit(scope, slice);
    },
    /** Every question and answer of the user, oldest first. */
    // Ids are time-ordered, so the id alone gives the order in which documents were written.
    async ofUser(scope: Scope, user: UserId): Promise<readonly HistoryEntry[]> {
      const found = await records.all(scope, { where: { userId: user } });
      return found.flatMap(({ answer, items: _, ...asked }): HistoryEntry[] => [
        asked,
        ...(answer === undefined ? [] : [{ ...asked, ...answer, speaker: 'system' as const }]),
      ]);
    },
    /** When the user asked last; null: never. */
    async lastAsked(scope: Scope, user: UserId): Promise<string | null> {
      const sort = [{ field: 'id' as const, descending: true }];
      return (await records.first(scope, { where: { userId: user }, sort }))?.createdAt ?? null;
    },
    /** Returns how many documents went. */
    eraseDataset: (scope: Scope, dataset: DatasetId) => records.removeWhere(scope, { datasetId: dataset }),
    /** Answers made from any of the items lose their text. Returns how many did; repeating it is harmless. */
    async eraseAnswers(scope: Scope, dataset: DatasetId, items: readonly string[]): Promise<number> {
      const doomed = new Set(items);
      const where = { datasetId: dataset };
      let erased = 0;
      for await (const page of pagesOf((after) => records.page(scope, { where, limit: ANSWERS_AT_ONCE, after }))) {
        const answers = page.filter((entry) => entry.items?.some((item) => doomed.has(item)));
        const writes = answers.map(({ id, answer }) => {
          const emptied = answer === undefined ? { text: '' } : { answer: { ...answer, text: '' } };
          return records.updateWrite(id, { set: { ...emptied, items: [] } });
        });
        if (writes.length > 0) await store.commit(scope, writes);
        erased += writes.length;
      }
      return erased;
    },
    countDataset: (scope: Scope, dataset: DatasetId) => records.count(scope, { datasetId: dataset }),
  };
}

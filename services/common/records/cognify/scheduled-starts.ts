import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { put, withVersion } from '../base/repository.ts';

type Start = {
  /** The time that it was due by its schedule, ISO-8601. */
  readonly dueAt: string;
  /** The run of cognify, the job of improve; empty: not known any more. */
  readonly startedId: string;
};

/**
 * For which time of its schedule each pipeline of a dataset was started last, so that asking twice for one time starts it
 * once. Written in the commit that starts, removed with the dataset.
 */
export const scheduledStartsCollection: OwnedCollection<Start> = {
  name: 'scheduled_starts',
  level: 'dataset',
  owner: 'cognify',
  writers: { improve: 'notes the start of a scheduled improve in the commit that starts it' },
  belongsTo: { dataset: 'scope' },
  indexes: [],
};

type ScheduledStart = Start & { readonly version: number };

export type ScheduledStarts = ReturnType<typeof createScheduledStarts>;

export function createScheduledStarts(store: DocumentStore) {
  const collection = scheduledStartsCollection;
  return {
    async get(scope: DatasetScope, pipeline: string): Promise<ScheduledStart | null> {
      const stored = await store.get(scope, collection, pipeline);
      return stored && withVersion(stored);
    },
    /** `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before` was read. */
    putWrite: (pipeline: string, start: Start, before: ScheduledStart | null) =>
      put(collection, pipeline, start, before),
  };
}

import type { DatasetScope } from '../domain/scope.ts';
import { type Collection, type DocumentStore, insert, replace, type Write } from '../ports/document-store.ts';

type ScheduledStartDocument = {
  /** The time that it was due by its schedule, ISO-8601. */
  readonly dueAt: string;
  /** The run of cognify, the job of improve. */
  readonly startedId: string;
};

/**
 * For which time of its schedule each pipeline of a dataset was started last, so that asking twice for one time starts it
 * once. Written in the commit that starts, removed with the dataset.
 */
export const scheduledStartsCollection: Collection<ScheduledStartDocument> = {
  name: 'scheduled_starts',
  level: 'dataset',
  indexes: [],
};

export interface ScheduledStart extends ScheduledStartDocument {
  readonly version: number;
}

export interface ScheduledStarts {
  get(scope: DatasetScope, pipeline: string): Promise<ScheduledStart | null>;
  /** `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before` was read. */
  putWrite(pipeline: string, start: ScheduledStartDocument, before: ScheduledStart | null): Write;
}

export function createScheduledStarts(store: DocumentStore): ScheduledStarts {
  const collection = scheduledStartsCollection;
  return {
    async get(scope, pipeline) {
      const stored = await store.get(scope, collection, pipeline);
      return stored === null ? null : { ...stored.value, version: stored.version };
    },
    putWrite: (pipeline, start, before) =>
      before === null ? insert(collection, pipeline, start) : replace(collection, pipeline, start, before.version),
  };
}

import { randomUUID } from 'node:crypto';
import { SYSTEM_SCOPE } from '../../services/common/domain/scope.ts';
import { type Collection, type DocumentStore, insert } from '../../services/common/ports/document-store.ts';
import type { EventLog } from '../../services/common/ports/event-log.ts';

type RecordedEvent = { readonly type: string; readonly subjectId: string };

export const recordedEventsCollection: Collection<RecordedEvent> = {
  name: 'recorded_events',
  level: 'tenant',
  sequenced: true,
  indexes: [{ fields: ['sequence'] }],
};

/** Keeps what a service appends in its commits, so that a test can tell which events were committed and which were not. */
export const recordedEventLog: EventLog = {
  appendWrites: (_scope, events) =>
    events.map(({ type, subjectId }) => insert(recordedEventsCollection, randomUUID(), { type, subjectId })),
  read: () => Promise.reject(new Error('read the collection')),
};

/** Types of the committed events, in commit order. */
export async function recordedEventTypes(store: DocumentStore): Promise<readonly string[]> {
  const sort = [{ field: 'sequence' as const }];
  const { items } = await store.find(SYSTEM_SCOPE, recordedEventsCollection, { sort, limit: 1000 });
  return items.map((stored) => stored.value.type);
}

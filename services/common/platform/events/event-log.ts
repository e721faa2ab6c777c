import type { JsonObject } from '../../kernel/json.ts';
import { isSystemScope } from '../../kernel/scope.ts';
import type { EventLog, LoggedEvent } from '../../ports/event-log.ts';
import type { IdSource, WallClock } from '../../ports/system.ts';
import { type DocumentStore, insert, type Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

type EventDocument = {
  readonly type: string;
  readonly subjectId: string;
  /** Dataset of the event; null for events of a tenant, which is the document's own. */
  readonly dataset: string | null;
  readonly occurredAt: string;
  readonly data: JsonObject;
};

/** The offset of an event is its sequence in the store. */
export const eventsCollection: OwnedCollection<EventDocument> = {
  name: 'events',
  level: 'tenant',
  owner: 'platform',
  readers: ['ingest'],
  belongsTo: 'system',
  sequenced: true,
  indexes: [{ fields: ['dataset', 'sequence'] }, { fields: ['type', 'sequence'] }],
};

interface EventLogOptions {
  readonly store: DocumentStore;
  readonly clock: WallClock;
  readonly ids: Pick<IdSource, 'ordered'>;
}

/** The log on a document store; `eventsCollection` must be prepared. A dataset's scope reads that dataset's events. */
export function createEventLog({ store, clock, ids }: EventLogOptions): EventLog {
  return {
    appendWrites(scope, events) {
      const occurredAt = clock.now().toISOString();
      const dataset = scope.dataset ?? null;
      return events.map(({ type, subjectId, data }) =>
        insert(eventsCollection, ids.ordered(), { type, subjectId, dataset, occurredAt, data }),
      );
    },
    async read(scope, { after, limit, types }) {
      if (types?.length === 0) return [];
      const dataset = isSystemScope(scope) ? undefined : scope.dataset;
      const page = await store.find(scope, eventsCollection, {
        where: {
          sequence: { greaterThan: after },
          ...(dataset === undefined ? {} : { dataset }),
          ...(types === undefined ? {} : { type: { in: types } }),
        },
        sort: [{ field: 'sequence' }],
        limit,
      });
      return page.items.map(toEvent);
    },
  };
}

function toEvent(stored: Stored<EventDocument>): LoggedEvent {
  const { type, subjectId, dataset, occurredAt, data } = stored.value;
  const offset = stored.sequence ?? 0;
  return { offset, id: stored.id, tenant: stored.tenant ?? '', dataset, type, subjectId, occurredAt, data };
}

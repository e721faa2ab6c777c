import type { TenantId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import { datasetScope } from '../domain/scope.ts';
import type { EventLog, LoggedEvent } from '../ports/event-log.ts';
import type { PublishedEvent } from '../ports/event-publisher.ts';
import { domainEventCodec } from './codecs/domain-events.ts';

/** What tells of an item that is there. */
const ITEM_EVENTS = ['item.added', 'item.updated'] as const;
/** Events of a dataset that are looked at together when it is removed. */
const PAGE = 500;

/**
 * Events of the log as what is published, in batches and in the same order. An erasure is preceded by tombstones for what
 * was published of it: of an item, its addition and its update; of a dataset, everything. Throws for an event that this release does not
 * know: it is not to be passed over.
 */
export async function* publishedEvents(
  eventLog: Pick<EventLog, 'read'>,
  events: readonly LoggedEvent[],
): AsyncGenerator<readonly PublishedEvent[]> {
  let batch: PublishedEvent[] = [];
  for (const event of events) {
    if (event.type === 'item.forgotten') {
      for (const type of ITEM_EVENTS) batch.push(tombstone(type, event.subjectId, event));
    }
    if (event.type === 'dataset.removed') {
      for await (const tombstones of datasetTombstones(eventLog, event)) {
        yield [...batch, ...tombstones];
        batch = [];
      }
    }
    batch.push(publishedEvent(event));
  }
  if (batch.length > 0) yield batch;
}

/** Headers are CloudEvents' for Kafka in binary mode, so that its libraries and gateways read them. */
function publishedEvent(event: LoggedEvent): PublishedEvent {
  const { type, tenant, dataset, subjectId, id, offset, occurredAt } = event;
  return {
    type,
    key: keyOf(tenant, subjectId),
    headers: {
      ce_specversion: '1.0',
      ce_id: id,
      ce_source: `/engram/tenants/${tenant}`,
      ce_type: `engram.${type}`,
      ce_subject: subjectId,
      ce_time: occurredAt,
      ce_dataschema: 'engram.events.v1.DomainEvent',
      ce_offset: String(offset),
      ce_tenant: tenant,
      ...(dataset === null ? {} : { ce_dataset: dataset }),
      'content-type': 'application/protobuf',
    },
    payload: domainEventCodec.encode(event),
  };
}

/** For everything of the dataset that the log has before its removal. Its name may be used again: later events stay. */
async function* datasetTombstones(
  eventLog: Pick<EventLog, 'read'>,
  removal: LoggedEvent,
): AsyncGenerator<readonly PublishedEvent[]> {
  const scope = datasetScope(asId<TenantId>(removal.tenant), asId(removal.dataset ?? removal.subjectId));
  for (let after = 0; ; ) {
    const page = await eventLog.read(scope, { after, limit: PAGE });
    const told = page.filter(({ offset, type }) => offset < removal.offset && type !== 'dataset.removed');
    const distinct = new Map(told.map(({ type, subjectId }) => [`${type}/${subjectId}`, { type, subjectId }]));
    if (distinct.size > 0) yield [...distinct.values()].map((each) => tombstone(each.type, each.subjectId, removal));
    after = page.at(-1)?.offset ?? removal.offset;
    if (page.length < PAGE || after >= removal.offset) return;
  }
}

function tombstone(type: string, subjectId: string, { tenant, id, offset }: LoggedEvent): PublishedEvent {
  return {
    type,
    key: keyOf(tenant, subjectId),
    headers: { 'erased-by': id, 'erased-at-offset': String(offset) },
    payload: null,
  };
}

function keyOf(tenant: string, subjectId: string): string {
  return `${tenant}/${subjectId}`;
}

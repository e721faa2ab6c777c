import { create, type DescMessage, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf';
import { type DomainEvent, DomainEventSchema } from '../../../../proto/gen/engram/events/v1/events_pb.ts';
import type { TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { datasetScope, type Scope } from '../../kernel/scope.ts';
import type { EventLog, LoggedEvent } from '../../ports/event-log.ts';
import type { PublishedEvent } from '../../storage/ports/event-publisher.ts';
import type { Codec } from './codec.ts';

/** Events that announce an item. */
const ITEM_EVENTS = ['item.added', 'item.updated'] as const;
/** Events of a dataset or tenant that are looked at together when it is removed. */
const PAGE = 500;

/**
 * Events of the log as what is published, in batches and in the same order. An erasure is preceded by tombstones for what
 * was published of it: of an item, its addition and its update; of a dataset, everything; of a tenant, everything that is
 * not of its datasets. Throws for an event that this release does not know: it is not to be passed over.
 */
export async function* publishedEvents(
  eventLog: EventLog,
  events: readonly LoggedEvent[],
): AsyncGenerator<readonly PublishedEvent[]> {
  let batch: PublishedEvent[] = [];
  for (const event of events) {
    if (event.type === 'item.forgotten') {
      for (const type of ITEM_EVENTS) batch.push(tombstone(type, event.subjectId, event));
    }
    const erased = erasedScope(event);
    if (erased !== null) {
      for await (const tombstones of tombstonesOf(eventLog, event, erased)) {
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

/** Returns what an event removes; null when it removes nothing. */
function erasedScope({ type, tenant, dataset, subjectId }: LoggedEvent): Scope | null {
  const id = asId<TenantId>(tenant);
  if (type === 'dataset.removed') return datasetScope(id, asId(dataset ?? subjectId));
  return type === 'tenant.erased' ? { tenant: id } : null;
}

/** Finds all its events before its removal. A name may be used again: later events stay. */
async function* tombstonesOf(eventLog: EventLog, removal: LoggedEvent, scope: Scope) {
  // What datasets of a tenant had was taken back with each of them.
  const isMeant = ({ offset, type, dataset }: LoggedEvent) =>
    offset < removal.offset && type !== removal.type && (scope.dataset !== undefined || dataset === null);
  for (let after = 0; ; ) {
    const page = await eventLog.read(scope, { after, limit: PAGE });
    const found = page.filter(isMeant);
    const distinct = new Map(found.map(({ type, subjectId }) => [`${type}/${subjectId}`, { type, subjectId }]));
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

interface EventData {
  readonly field: string;
  readonly schema: DescMessage;
}

/** By the type in the log, `item.added`: field of `DomainEvent.data`, `itemAdded`, and its message. */
export const DOMAIN_EVENTS: ReadonlyMap<string, EventData> = new Map(
  DomainEventSchema.oneofs.flatMap(({ fields }) =>
    fields.flatMap(({ localName, message }): [string, EventData][] => {
      const type = localName.replace(/[A-Z]/, (letter) => `.${letter.toLowerCase()}`);
      return message === undefined ? [] : [[type, { field: localName, schema: message }]];
    }),
  ),
);

/**
 * Events of the log as `engram.events.v1.DomainEvent`. The log keeps an event's data as ProtoJSON of its message: `encode`
 * throws for a type that `events.proto` does not have, and for data that is not as it says.
 */
export const domainEventCodec: Codec<LoggedEvent> = {
  encode(event) {
    const { offset, id, type, subjectId, tenant, dataset, occurredAt } = event;
    const { field, schema } = eventOf(type);
    const value = fromJson(schema, event.data as JsonObject);
    return toBinary(
      DomainEventSchema,
      create(DomainEventSchema, {
        offset: BigInt(offset),
        id,
        type,
        subjectId,
        tenant,
        datasetId: dataset ?? undefined,
        occurredAt,
        data: { case: field, value } as DomainEvent['data'],
      }),
    );
  },
  decode(payload) {
    const { offset, id, type, subjectId, tenant, datasetId, occurredAt, data } = fromBinary(DomainEventSchema, payload);
    const { schema, field } = eventOf(type);
    if (data.case !== field) throw new Error(`an event of type ${type} carries ${data.case ?? 'nothing'}`);
    return {
      offset: Number(offset),
      id,
      type,
      subjectId,
      tenant,
      dataset: datasetId ?? null,
      occurredAt,
      data: toJson(schema, data.value, { alwaysEmitImplicit: true }) as JsonObject,
    };
  },
};

function eventOf(type: string): EventData {
  const known = DOMAIN_EVENTS.get(type);
  if (known === undefined) throw new Error(`proto/engram/events/v1/events.proto has no event ${type}`);
  return known;
}

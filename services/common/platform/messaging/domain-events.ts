import { create, type DescMessage, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf';
import { type DomainEvent, DomainEventSchema } from '../../../../proto/gen/engram/events/v1/events_pb.ts';
import type { LoggedEvent } from '../../ports/event-log.ts';
import type { Codec } from './codec.ts';

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

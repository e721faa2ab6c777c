import { SpansEndedSchema } from '../../../../../proto/gen/engram/events/v1/events_pb.ts';
import type { Span, SpanAttributes } from '../../../domain/span.ts';
import { messageCodec } from '../codec.ts';
import { idOf } from './shared.ts';

export const endedSpansCodec = messageCodec(
  SpansEndedSchema,
  ({ spans }: { readonly spans: readonly Span[] }) => ({
    spans: spans.map(({ traceId, id, parentId, rootId, name, startMs, endMs, status, attributes, owner }) => ({
      ...{ traceId, spanId: id, rootSpanId: rootId, name, startMs, endMs, failed: status === 'ERROR' },
      attributes: { ...attributes },
      ...(parentId === null ? {} : { parentSpanId: parentId }),
      ...(owner === null ? {} : { userId: owner.user, tenantId: owner.tenant }),
    })),
  }),
  ({ spans }) => ({
    spans: spans.map(
      ({ traceId, spanId, parentSpanId, rootSpanId, failed, attributes, userId, tenantId, ...span }): Span => ({
        ...{ traceId, id: spanId, parentId: parentSpanId ?? null, rootId: rootSpanId, name: span.name },
        ...{ startMs: span.startMs, endMs: span.endMs, status: failed ? 'ERROR' : 'OK' },
        attributes: plain(attributes ?? {}),
        owner: userId === undefined || tenantId === undefined ? null : { user: idOf(userId), tenant: idOf(tenantId) },
      }),
    ),
  }),
);

function plain(attributes: Readonly<Record<string, unknown>>): SpanAttributes {
  const values = Object.entries(attributes).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(values) as SpanAttributes;
}

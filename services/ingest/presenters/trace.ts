import { z } from 'zod';
import type { Span, Trace } from '../../common/domain/span.ts';

const status = z.enum(['OK', 'ERROR']);
const span = z
  .object({
    name: z.string(),
    trace_id: z.string(),
    span_id: z.string(),
    parent_span_id: z.string().nullable(),
    start_time_ns: z.number(),
    end_time_ns: z.number(),
    duration_ms: z.number(),
    status,
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  })
  .meta({ id: 'Span' });

/** A trace on the wire (ingest.md §8.3). */
export const traceSchema = z
  .object({
    trace_id: z.string(),
    root_name: z.string(),
    duration_ms: z.number(),
    span_count: z.int(),
    status,
    spans: z.array(span),
  })
  .meta({ id: 'Trace' });

export function presentTrace({ id, root, spans }: Trace): z.input<typeof traceSchema> {
  const lastMs = Math.max(...spans.map(({ endMs }) => endMs));
  return {
    trace_id: id,
    root_name: root.name,
    duration_ms: rounded(lastMs - root.startMs),
    span_count: spans.length,
    status: root.status,
    spans: spans.map(presentSpan),
  };
}

function presentSpan(ended: Span): z.input<typeof span> {
  return {
    name: ended.name,
    trace_id: ended.traceId,
    span_id: ended.id,
    parent_span_id: ended.parentId,
    start_time_ns: nanoseconds(ended.startMs),
    end_time_ns: nanoseconds(ended.endMs),
    duration_ms: rounded(ended.endMs - ended.startMs),
    status: ended.status,
    attributes: ended.attributes,
  };
}

/** Beyond 2^53: right to a quarter of a microsecond. */
function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

/** Milliseconds with microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

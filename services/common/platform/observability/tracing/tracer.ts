import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Span, SpanAttributes, SpanOwner } from '../../../domain/span.ts';
import type { Clock } from '../../../ports/system.ts';
import type { SpanDetails, Tracer } from '../../../ports/tracer.ts';
import type { Bus } from '../../../storage/ports/bus.ts';
import type { Metrics } from '../metrics.ts';

interface SpanTracer extends Tracer {
  /** A step that has just ended, at this place of the code. */
  ended(name: string, durationMs: number, details: SpanDetails): void;
  /** Work for a step of another process, or of this one: `carried` came in a message. */
  answer<Result>(carried: string, name: string, work: () => Promise<Result>): Promise<Result>;
}

interface TracerOptions {
  readonly clock: Clock;
  /** Gets each span as it ends. Must not throw. */
  readonly record: (span: Span) => void;
  /** Most spans of one root in this process; its own span is always recorded. */
  readonly maxSpans?: number;
}

/** Spans that are recorded together: a request, a run, or the answer to a message of another process. */
interface Unit {
  readonly traceId: string;
  readonly rootId: string;
  /** Added to the monotonic time. */
  readonly epochMs: number;
  spans: number;
  dropped: number;
  /** Monotonic. */
  endedMs: number;
}

interface Place {
  readonly unit: Unit;
  readonly spanId: string;
}

interface Opened {
  readonly unit: Unit;
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly attributes: SpanAttributes;
  readonly owner: SpanOwner | null;
}

/** Time in which work after a request still belongs to its trace; timers that it started do not. */
const AFTER_END_MS = 60_000;
const DEFAULT_MAX_SPANS = 500;

/** Records where time goes. The step under way follows the asynchronous calls by itself. */
export function createTracer({ clock, record, maxSpans = DEFAULT_MAX_SPANS }: TracerOptions): SpanTracer {
  const under = new AsyncLocalStorage<Place>();
  const current = (): Place | undefined => {
    const place = under.getStore();
    return place === undefined || clock.monotonicMs() > place.unit.endedMs + AFTER_END_MS ? undefined : place;
  };
  const write = (opened: Opened, times: Times, failed: boolean): void => {
    const { unit } = opened;
    unit.spans += 1;
    if (unit.spans <= maxSpans || isRoot(opened)) record(spanOf(opened, times, failed));
    else unit.dropped += 1;
  };
  const run = async <Result>(opened: Opened, work: (describe: (more: SpanDetails) => void) => Promise<Result>) => {
    const startMs = clock.monotonicMs();
    let described = opened;
    let failed = false;
    const describe = ({ failed: isFailure, attributes, ...more }: SpanDetails): void => {
      described = { ...described, ...more, attributes: { ...described.attributes, ...attributes } };
      failed ||= isFailure === true;
    };
    try {
      return await under.run({ unit: opened.unit, spanId: opened.id }, () => work(describe));
    } catch (error) {
      describe({ failed: true, attributes: { error: errorName(error) } });
      throw error;
    } finally {
      write(described, { startMs, endMs: clock.monotonicMs() }, failed);
    }
  };
  const newUnit = (traceId: string, rootId: string): Unit => ({
    traceId,
    rootId,
    spans: 0,
    dropped: 0,
    endedMs: Number.POSITIVE_INFINITY,
    epochMs: clock.now().getTime() - clock.monotonicMs(),
  });
  const runUnit = async <Result>(opened: Opened, work: Parameters<typeof run<Result>>[1]): Promise<Result> => {
    try {
      return await run(opened, work);
    } finally {
      opened.unit.endedMs = clock.monotonicMs();
    }
  };
  return {
    root({ name, owner = null, attributes = {}, continues }, work) {
      const before = readCarried(continues);
      const id = hexadecimal(8);
      const unit = newUnit(before?.traceId ?? hexadecimal(16), id);
      return runUnit({ unit, id, parentId: before?.spanId ?? null, name, attributes, owner }, work);
    },
    step(name, attributes, work) {
      const place = current();
      if (place === undefined) return work();
      const { unit, spanId: parentId } = place;
      return run({ unit, id: hexadecimal(8), parentId, name, attributes, owner: null }, work);
    },
    ended(name, durationMs, { attributes = {}, failed = false }) {
      const place = current();
      if (place === undefined) return;
      const endMs = clock.monotonicMs();
      const { unit, spanId: parentId } = place;
      const span = { unit, id: hexadecimal(8), parentId, name, attributes, owner: null };
      write(span, { startMs: endMs - durationMs, endMs }, failed);
    },
    answer(carried, name, work) {
      const before = readCarried(carried);
      // Inside a process the answer is the step that asked.
      if (!isWhole(before) || under.getStore()?.spanId === before.spanId) return work();
      const unit = newUnit(before.traceId, before.rootId);
      return runUnit({ unit, id: hexadecimal(8), parentId: before.spanId, name, attributes: {}, owner: null }, work);
    },
    carried() {
      const place = current();
      return place && writeCarried({ ...place.unit, spanId: place.spanId });
    },
  };
}

/** Monotonic. */
type Times = Pick<Span, 'startMs' | 'endMs'>;

function isRoot({ id, unit }: Opened): boolean {
  return id === unit.rootId;
}

function spanOf(opened: Opened, { startMs, endMs }: Times, failed: boolean): Span {
  const { id, parentId, name, owner, attributes, unit } = opened;
  const { traceId, rootId, epochMs, dropped } = unit;
  return {
    traceId,
    rootId,
    id,
    parentId,
    name,
    owner,
    startMs: epochMs + startMs,
    endMs: epochMs + endMs,
    status: failed ? 'ERROR' : 'OK',
    attributes: isRoot(opened) && dropped > 0 ? { ...attributes, dropped_spans: dropped } : attributes,
  };
}

function isWhole(trace: CarriedTrace | null): trace is Required<CarriedTrace> {
  return trace?.rootId !== undefined;
}

/** Returns the name of an error, never its message: that may quote texts of users. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}

function hexadecimal(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** The place in a trace where another process, a client or a job goes on. */
interface CarriedTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** The request or run that the work is for; absent in what clients send. */
  readonly rootId?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ROOT = /^([0-9a-f]{16});/;
const ZEROS = /^0+$/;

/** `<root>;<traceparent>`, the second as in the W3C recommendation. */
export function writeCarried({ traceId, spanId, rootId }: Required<CarriedTrace>): string {
  return `${rootId};00-${traceId}-${spanId}-01`;
}

/** Returns null for texts that are neither from `writeCarried` nor a `traceparent`, which later versions may make longer. */
export function readCarried(text: string | undefined): CarriedTrace | null {
  if (text === undefined || text.length > 256) return null;
  const rootId = ROOT.exec(text)?.[1];
  const [, version, traceId, spanId, more] = TRACEPARENT.exec(rootId === undefined ? text : text.slice(17)) ?? [];
  if (traceId === undefined || spanId === undefined || version === 'ff' || (version === '00' && more !== undefined)) {
    return null;
  }
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return rootId === undefined ? { traceId, spanId } : { traceId, spanId, rootId };
}

const HEADER = 'trace';

/** A bus whose requests are steps of what is under way, here and at the process that answers. */
export function tracedBus<Carrier extends Bus>(bus: Carrier, tracer: SpanTracer): Carrier {
  return {
    ...bus,
    request: (subject, payload, options) =>
      tracer.step(`ask ${shortOf(subject)}`, {}, () => {
        const trace = tracer.carried();
        if (trace === undefined) return bus.request(subject, payload, options);
        return bus.request(subject, payload, { ...options, headers: { ...options.headers, [HEADER]: trace } });
      }),
    respond: (subject, handler) =>
      bus.respond(subject, (message, signal) => {
        const trace = message.headers[HEADER];
        if (trace === undefined) return handler(message, signal);
        return tracer.answer(trace, `answer ${shortOf(subject)}`, () => handler(message, signal));
      }),
  };
}

/** `engram.auth.Authenticate` → `auth.Authenticate` */
function shortOf(subject: string): string {
  return subject.slice(subject.indexOf('.') + 1);
}

/** Metrics that also record ended calls of ports as steps of the current trace. */
export function tracedMetrics(metrics: Metrics, tracer: SpanTracer): Metrics {
  return {
    ...metrics,
    store(call) {
      metrics.store(call);
      tracer.ended(`${call.port}.${call.method}`, call.durationMs, { failed: call.outcome === 'error' });
    },
    modelCall(call) {
      metrics.modelCall(call);
      const { model, purpose, usage, outcome, durationMs } = call;
      const tokens = usage === undefined ? {} : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
      const attributes = { model, purpose, ...tokens };
      tracer.ended(`model ${call.kind}`, durationMs, { attributes, failed: outcome === 'error' });
    },
  };
}

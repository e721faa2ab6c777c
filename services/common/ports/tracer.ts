import type { SpanAttributes, SpanOwner, Trace } from '../domain/span.ts';

/** Sets attributes of the span; later values override. */
export interface SpanDetails {
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  readonly owner?: SpanOwner;
  /** It did not throw, and was a failure all the same. */
  readonly failed?: boolean;
}

export type Describe = (details: SpanDetails) => void;

export interface TraceRoot {
  readonly name: string;
  readonly owner?: SpanOwner;
  readonly attributes?: SpanAttributes;
  /** The trace that the work goes on with, as `carried` wrote it or as a W3C `traceparent`; anything else begins a new one. */
  readonly continues?: string | undefined;
}

/** Records spans. Every method returns what the work returns, and throws what it throws. */
export interface Tracer {
  /** Work of an account: a request, a run. */
  root<Result>(root: TraceRoot, work: (describe: Describe) => Promise<Result>): Promise<Result>;
  /** A step of what is under way; nothing is recorded where nothing is. */
  step<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result>;
  /** Stands for the step that is under way, in a message or a job; undefined: none is. */
  carried(): string | undefined;
}

const nothing: Describe = () => {};

/** While tracing is off. */
export const NO_TRACER: Tracer = {
  root: (_, work) => work(nothing),
  step: (_name, _attributes, work) => work(),
  carried: () => undefined,
};

/** Recent traces. */
export interface TraceSource {
  /** Oldest first. Asked of the owner of each request and run: another's may have the same trace id. */
  list(isVisible: (owner: SpanOwner | null) => boolean): readonly Trace[];
}

/** While tracing is off. */
export const NO_TRACES: TraceSource = { list: () => [] };

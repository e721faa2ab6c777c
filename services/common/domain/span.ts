import type { TenantId, UserId } from '../kernel/brand.ts';

/** Ids, counts, names and states: never content, never a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Account and tenant of the request or run. */
export interface SpanOwner {
  readonly user: UserId;
  readonly tenant: TenantId;
}

/** A piece of work that has ended. */
export interface Span {
  /** 32 hexadecimal digits. A client may name it (W3C `traceparent`), so it says nothing about whose the span is. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly id: string;
  readonly parentId: string | null;
  /** Id of the span of the request or run that this was done for; its own id, when it is that. Made by us alone. */
  readonly rootId: string;
  readonly name: string;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly status: 'OK' | 'ERROR';
  readonly attributes: SpanAttributes;
  /** Owner of root spans; null without authentication. */
  readonly owner: SpanOwner | null;
}

/** Requests and runs with one trace id. */
export interface Trace {
  readonly id: string;
  /** The earliest root. */
  readonly root: Span;
  /** By their start. */
  readonly spans: readonly Span[];
}

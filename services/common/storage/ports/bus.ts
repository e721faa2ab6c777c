/**
 * Messages between services. Adapters: in-process, NATS. Payloads are bytes; `common/platform/messaging` gives them types.
 *
 * - `request` goes to one responder of the subject, whichever is free; it throws `ServiceUnavailableError` at once when
 *   there is none, `DeadlineExceededError` when the answer does not come in time, and re-throws the responder's
 *   `EngramError` as it was (name, status, message, extra).
 * - `publish` reaches every subscription that exists at the time, at most once, in order per publisher and subject. A
 *   message without listeners is no error.
 * - Subjects are dot-separated; a subscription may end in `>` (all below).
 * - Subjects below a kept prefix (`KeptSubjects`, an option of the adapter) are delivered at least once, in order, to every
 *   subscription from the moment it exists, also over a lost connection. `publish` of these resolves when the message is
 *   kept.
 * - A message larger than the bus carries is `PayloadTooLargeError`; answers may have any size up to 32 MiB.
 */
export interface Bus {
  request(subject: string, payload: Uint8Array, options: RequestOptions): Promise<Uint8Array>;
  respond(subject: string, handler: BusHandler): Promise<Subscription>;
  publish(subject: string, payload: Uint8Array): Promise<void>;
  subscribe(subject: string, listener: (message: BusMessage) => void | Promise<void>): Promise<Subscription>;
  /** Stops taking requests, lets those in flight end, then closes. */
  drain(): Promise<void>;
}

/** Limits of the messages that a bus keeps below a prefix; the oldest make room for new ones. */
export interface KeptSubjects {
  /** One word. */
  readonly name: string;
  /** Without its last dot: `engram.runs`. */
  readonly prefix: string;
  readonly maxAgeMs: number;
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** Of a request: its id, tenant, principal, trace. */
export type BusHeaders = Readonly<Record<string, string>>;

export interface BusMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: BusHeaders;
}

export type BusHandler = (message: BusMessage, signal: AbortSignal) => Promise<Uint8Array>;

export interface RequestOptions {
  readonly deadlineMs: number;
  readonly headers?: BusHeaders;
  readonly signal?: AbortSignal;
}

export interface Subscription {
  /** No message is delivered after it resolves; handlers in flight have ended. */
  stop(): Promise<void>;
}

/**
 * Structured log lines: an event name that never changes, and fields. Never bodies, keys or tokens. Adapters: pino, none.
 * Fields come first, as in pino, so that its logger is one.
 */
export interface Logger {
  debug(fields: LogFields, event: string): void;
  info(fields: LogFields, event: string): void;
  warn(fields: LogFields, event: string): void;
  error(fields: LogFields, event: string): void;
}

/** `error` under the key `err`. */
export type LogFields = Readonly<Record<string, unknown>>;

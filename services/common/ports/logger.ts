/** Fields of the event: ids, counts, durations, an `error`. Never bodies, keys or tokens. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * One structured line per event; event names are stable, dotted and lower case. `common/platform/observability` has the loggers;
 * this is what parts ask for that only write.
 */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

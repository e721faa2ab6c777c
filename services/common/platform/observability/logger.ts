import { type BaseLogger, type DestinationStream, pino } from 'pino';
import type { Logger as EventLogger, LogFields } from '../../ports/logger.ts';
import { standardLogOutput } from './log-output.ts';
import { describeError, redact } from './redact.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** One line of JSON per event: `run.completed`, `http.request`. */
export interface Logger extends EventLogger {
  /** The same log with fields added to every line. */
  child(fields: LogFields): Logger;
}

interface LoggerOptions {
  readonly level: LogLevel;
  /** The process or service that speaks. */
  readonly name: string;
  /** Default: standard output, which never blocks or ends the process. */
  readonly destination?: DestinationStream;
  /** Makes of a line of JSON what is written. */
  readonly format?: (line: string) => string;
}

/** Secrets are masked by field name, errors are printed with their causes. */
export function createLogger(options: LoggerOptions): Logger {
  if (options.destination !== undefined) return loggerTo(options.destination, options);
  const output = standardLogOutput();
  const { format } = options;
  const logger = loggerTo(format === undefined ? output : { write: (line) => output.write(format(line)) }, options);
  output.onRecovered((lines) => logger.warn('log.lines_dropped', { lines }));
  return logger;
}

function loggerTo(destination: DestinationStream, options: LoggerOptions): Logger {
  const base = pino(
    {
      level: options.level,
      name: options.name,
      base: { name: options.name },
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return wrap(base);
}

/** Logger for tests, and for parts without a logger. */
export function createSilentLogger(): Logger {
  const silent: Logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: ignore,
    child: () => silent,
  };
  return silent;
}

function ignore(): void {}

type PinoLogger = BaseLogger & {
  isLevelEnabled(level: string): boolean;
  child(fields: Record<string, unknown>): PinoLogger;
};

function wrap(base: PinoLogger): Logger {
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (event: string, fields?: LogFields) => {
    if (!base.isLevelEnabled(level)) return;
    if (fields === undefined) base[level](event);
    else base[level](printable(fields), event);
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => wrap(base.child(printable(fields) as Record<string, unknown>)),
  };
}

function printable(fields: LogFields): object {
  const { error, ...rest } = fields;
  return { ...(redact(rest) as object), ...(error === undefined ? {} : { error: describeError(error) }) };
}

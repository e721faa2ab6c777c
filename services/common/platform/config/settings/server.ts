import { SERVICE_NAMES } from '../../../domain/service-paths.ts';
import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { flag, optional, setting } = rowsOf('Server');

/** The logger's levels; it takes exactly these. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Spellings of Python's logging module. */
const LEVEL_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    warning: 'warn',
    critical: 'error',
    fatal: 'error',
    notset: 'debug',
  }),
);

export const server = {
  port: optional('HTTP_API_PORT', {
    type: type.integer({ min: 0, max: 65_535 }),
    shownDefault: '8000 (agent mode: 8011)',
    meaning: 'Port of the HTTP API; 0 takes any free one.',
  }),
  host: optional('HTTP_API_HOST', {
    type: type.text(),
    shownDefault: '`127.0.0.1` (cluster: `0.0.0.0`)',
    meaning:
      'Address to listen on. On any address but loopback authentication is required unless switched off by hand.',
  }),
  services: optional(['ENGRAM_SERVICES', 'SERVICES'], {
    type: type.listOf(SERVICE_NAMES),
    shownDefault: 'all',
    meaning: `Services that this process runs: a comma list of ${SERVICE_NAMES.join(', ')}. A part of them needs cluster stores.`,
  }),
  logLevel: setting('LOG_LEVEL', {
    type: type
      .text()
      .transform((value) => LEVEL_WORDS.get(value.trim().toLowerCase()) ?? value.trim().toLowerCase())
      .pipe(type.oneOf(LOG_LEVELS)),
    default: 'info',
    meaning: 'Least level that is logged: debug, info, warn, error, silent.',
  }),
  tracingEnabled: flag(
    'COGNEE_TRACING_ENABLED',
    'false',
    'Traces requests and runs for `GET /api/v1/activity/spans`: the last hundred, in memory. W3C `traceparent` headers of clients are followed.',
  ),
  drainTimeoutMs: setting('BACKGROUND_DRAIN_TIMEOUT_SECONDS', {
    type: type.secondsAsMs({ min: 0, max: 3_600 }),
    default: '8',
    meaning: 'Seconds that a stop waits for requests and runs.',
  }),
  agentMode: flag(
    'COGNEE_AGENT_MODE',
    'false',
    'The server lives for its agents: after the first has registered a connection, it stops within a minute of the last being unregistered. Only with an embedded document store.',
  ),
  environmentFile: optional('COGNEE_ENV_FILE', {
    type: type.text(),
    shownDefault: '`.env`, when there is one',
    meaning: 'File with further variables; it must exist. Variables of the process win over the file.',
  }),
};

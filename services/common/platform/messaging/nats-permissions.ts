import { SERVICE_NAMES, type ServiceName } from '../../domain/service-paths.ts';
import { KEPT_SUBJECTS } from './kept-topics.ts';
import { methodFacts } from './subject-map.ts';

/** Processes with a NATS user of their own. */
export const NATS_USERS = [...SERVICE_NAMES, 'operator'] as const;
type NatsUser = (typeof NATS_USERS)[number];

/**
 * Returns the permissions of a user for a NATS server's configuration. Subjects begin with `{prefix}` (ENGRAM_NATS_SUBJECT_PREFIX),
 * names of streams with `{PREFIX}` (the same in capitals, with `_` for `.`).
 */
interface NatsPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Answers to requests that reached the user: how many messages, and for how long, in seconds. */
  readonly allowResponses: { readonly max: number; readonly expiresSeconds: number } | null;
}

/** Publishers by subject: those of proto/README.md under "Published". */
const PUBLISHERS: Readonly<Record<string, readonly NatsUser[]>> = {
  'runs.>': ['cognify'],
  'jobs.>': ['cognify', 'improve', 'ingest', 'integrations'],
  'access.>': ['auth'],
  'settings.>': ['auth'],
  'mcp.>': ['integrations'],
  'spans.>': SERVICE_NAMES,
};

/** Not kept by JetStream: heard by subscribing to the subject itself. */
const HEARD_DIRECTLY: Readonly<Record<string, readonly NatsUser[]>> = {
  'settings.>': SERVICE_NAMES,
  'mcp.>': ['integrations'],
  'spans.>': ['ingest'],
};

/** An answer of 32 MiB in messages of 256 KiB, the least that a server is set to. */
const MESSAGES_PER_ANSWER = 128;
/** Beyond the longest deadline, for clocks and queues. */
const ANSWER_MARGIN_SECONDS = 60;

/** Everything that the user's process does on the bus, and nothing else. */
export function natsPermissions(user: NatsUser): NatsPermissions {
  const answered = methodFacts.filter(({ service }) => service === user || (service === 'system' && isService(user)));
  const longestSeconds = Math.max(0, ...answered.map(({ deadlineMs }) => deadlineMs / 1000));
  return {
    publish: [
      ...methodFacts.filter(({ callers }) => callers.includes(user)).flatMap(({ path }) => subjectsAsked(path)),
      ...Object.entries(PUBLISHERS).flatMap(([subject, tellers]) => (tellers.includes(user) ? [ours(subject)] : [])),
      ours('cancel.*'),
      ...(isService(user) ? jetStreamSubjects() : []),
    ].toSorted(),
    subscribe: [
      ...answered.map(({ path }) => ours(path.replace(/^system\./, `${user}.`))),
      ...Object.entries(HEARD_DIRECTLY).flatMap(([subject, hearers]) =>
        hearers.includes(user) ? [ours(subject)] : [],
      ),
      ours('cancel.*'),
      `_INBOX.{prefix}.${user}.>`,
    ].toSorted(),
    allowResponses:
      answered.length === 0
        ? null
        : { max: MESSAGES_PER_ANSWER, expiresSeconds: longestSeconds + ANSWER_MARGIN_SECONDS },
  };
}

function isService(user: NatsUser): user is ServiceName {
  return user !== 'operator';
}

/** Expands methods of every service to one subject for each service. */
function subjectsAsked(path: string): readonly string[] {
  return path.startsWith('system.')
    ? SERVICE_NAMES.map((service) => ours(path.replace(/^system\./, `${service}.`)))
    : [ours(path)];
}

function ours(subject: string): string {
  return `{prefix}.${subject}`;
}

/** Every service makes the streams that are missing, and follows them by consumers of its own. */
function jetStreamSubjects(): readonly string[] {
  const api = (words: string) => `$JS.API.${words}`;
  return [
    api('INFO'),
    ...KEPT_SUBJECTS.map(({ name }) => `{PREFIX}_${name}`).flatMap((stream) => [
      ...['INFO', 'CREATE', 'UPDATE'].map((verb) => api(`STREAM.${verb}.${stream}`)),
      ...['CREATE', 'DURABLE.CREATE', 'INFO', 'DELETE', 'MSG.NEXT'].map((verb) => api(`CONSUMER.${verb}.${stream}.>`)),
      api(`CONSUMER.CREATE.${stream}`),
      `$JS.ACK.${stream}.>`,
    ]),
  ];
}

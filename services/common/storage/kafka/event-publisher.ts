import { readFileSync } from 'node:fs';
import { Kafka, type KafkaConfig, logLevel, Partitioners, type Producer, type TopicMessages } from 'kafkajs';
import { engramError } from '../../kernel/errors.ts';
import { abortable } from '../../platform/async/abortable.ts';
import { settlesWithin, withTimeout } from '../../platform/async/time-limit.ts';
import type { EventPublisher, PublishedEvent } from '../ports/event-publisher.ts';
import { isNotAllowed, kafkaError } from './kafka-errors.ts';

export interface KafkaOptions {
  /** `host:port` of at least one. */
  readonly brokers: readonly string[];
  /** Start of the topics' names, which go on with the event's type: `engram.` gives `engram.item.added`. */
  readonly topicPrefix: string;
  /** Both or none. */
  readonly user?: string;
  readonly password?: string;
  /** PEM file of the authority that signed the brokers' certificates; turns TLS on. */
  readonly caFile?: string;
  /** Default 3000. */
  readonly connectTimeoutMs?: number;
  /** Time limit of one exchange with a broker; default 5000. */
  readonly requestTimeoutMs?: number;
  /** Time limit of a whole `publish`, with connecting and all attempts; default 20 000. */
  readonly publishTimeoutMs?: number;
}

const DEFAULTS = {
  connectTimeoutMs: 3_000,
  requestTimeoutMs: 5_000,
  publishTimeoutMs: 20_000,
} as const;
type Settings = KafkaOptions & Required<Pick<KafkaOptions, keyof typeof DEFAULTS>>;

/** The newest event of each key stays, within the broker's retention; a tombstone removes it. */
const TOPIC_CONFIGURATION = [{ name: 'cleanup.policy', value: 'compact,delete' }];
const CLOSE_TIMEOUT_MS = 2_000;

interface Session {
  readonly kafka: Kafka;
  readonly producer: Producer;
  /** Topics that were seen to. */
  readonly topics: Set<string>;
}

/**
 * Events in Kafka: written by an idempotent producer with all replicas' acknowledgement, partitioned by key as Java clients
 * do it. Topics that are missing are made, with the brokers' default numbers of partitions and replicas, where the user may.
 */
export function createKafkaEventPublisher(options: KafkaOptions): EventPublisher {
  const settings: Settings = { ...DEFAULTS, ...options };
  const address = settings.brokers.join(',');
  const config = kafkaConfig(settings);
  let session: Promise<Session> | null = null;
  let underWay: Promise<unknown> = Promise.resolve();
  const discard = async (): Promise<void> => {
    const ended = session;
    session = null;
    const producer = (await ended?.catch(() => null))?.producer;
    await producer?.disconnect().catch(() => {});
  };
  const send = async (events: readonly PublishedEvent[]): Promise<void> => {
    session ??= openSession(config);
    const { kafka, producer, topics } = await session;
    const topicMessages = messagesByTopic(settings.topicPrefix, events);
    await makeTopics(kafka, topics, topicMessages);
    await producer.sendBatch({ acks: -1, timeout: settings.requestTimeoutMs, topicMessages });
  };
  return {
    async publish(events, signal) {
      signal?.throwIfAborted();
      if (events.length === 0) return;
      let isGivenUp = false;
      // What a publication that was given up still sends must not come after what follows it.
      const work = underWay.then(() => (isGivenUp ? undefined : send(events)));
      underWay = work.catch(() => {}); // heard below, unless it is too late
      try {
        // The whole of it, since the driver's own limits add up; it goes on in the background afterwards.
        await withTimeout(abortable(work, signal), settings.publishTimeoutMs, () => {
          throw engramError('DeadlineExceededError', `Kafka at ${address} did not answer in time`, { retryable: true });
        });
      } catch (error) {
        isGivenUp = true;
        // Its sequence numbers may not be the broker's any more, so it is done with.
        void discard();
        signal?.throwIfAborted();
        throw kafkaError(error, address);
      }
    },
    async close() {
      await settlesWithin(discard(), CLOSE_TIMEOUT_MS);
    },
  };
}

function kafkaConfig(settings: Settings): KafkaConfig {
  const { brokers, user, password, caFile, connectTimeoutMs, requestTimeoutMs } = settings;
  if ((user === undefined) !== (password === undefined)) {
    throw engramError('CogneeSystemError', 'Kafka credentials are incomplete: set both user and password');
  }
  return {
    brokers: [...brokers],
    clientId: 'engram',
    connectionTimeout: connectTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    logLevel: logLevel.NOTHING,
    // Few: the caller retries with growing pauses.
    retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000 },
    ...(caFile === undefined ? {} : { ssl: { ca: readFileSync(caFile) } }),
    ...(user === undefined || password === undefined
      ? {}
      : { sasl: { mechanism: 'scram-sha-256', username: user, password } }),
  };
}

async function openSession(config: KafkaConfig): Promise<Session> {
  const kafka = new Kafka(config);
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  try {
    await producer.connect();
  } catch (error) {
    await producer.disconnect().catch(() => {});
    throw error;
  }
  return { kafka, producer, topics: new Set() };
}

function messagesByTopic(prefix: string, events: readonly PublishedEvent[]): TopicMessages[] {
  const byType = Map.groupBy(events, ({ type }) => type);
  return [...byType].map(([type, list]) => ({
    topic: prefix + type,
    messages: list.map(({ key, headers, payload }) => ({
      key,
      headers: { ...headers },
      value: payload === null ? null : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
    })),
  }));
}

/** Creates missing topics. Without the permission they must exist already; if not, sending fails. */
async function makeTopics(kafka: Kafka, known: Set<string>, wanted: readonly TopicMessages[]): Promise<void> {
  const unknown = wanted.map(({ topic }) => topic).filter((topic) => !known.has(topic));
  if (unknown.length === 0) return;
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createTopics({ topics: unknown.map((topic) => ({ topic, configEntries: TOPIC_CONFIGURATION })) });
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
  } finally {
    await admin.disconnect();
  }
  for (const topic of unknown) known.add(topic);
}

import {
  DiscardPolicy,
  ErrorCode,
  type JetStreamClient,
  type JetStreamManager,
  NatsError,
  nanos,
  nuid,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { isEngramError } from '../../../kernel/errors.ts';
import type { KeptSubjects } from '../../ports/bus.ts';
import { requireOwn } from '../../rules/installation.ts';
import { jetStreamError } from './nats-errors.ts';
import type { NatsLink } from './nats-link.ts';
import type { SubjectNames } from './subject-names.ts';
import { requireFits } from './wire-message.ts';

/** A kept prefix as a stream of the server. */
export interface KeptStream {
  readonly name: string;
  /** Without its last dot. */
  readonly prefix: string;
  /** Makes it when the server has lost it. Answers when it was made: another time is another stream. */
  ensure(): Promise<string>;
  /** The last message there is, 0 when there never was one. */
  lastSequence(): Promise<number>;
  /** Resolves with its sequence when the message is kept. Sent again under the same id when the answer is lost. */
  publish(subject: string, name: string, payload: Uint8Array): Promise<number>;
}

interface StreamsOptions {
  readonly link: NatsLink;
  readonly jetStream: JetStreamClient;
  readonly names: SubjectNames;
  readonly kept: readonly KeptSubjects[];
  /** Absent: it is not looked whose streams they are. */
  readonly installation?: string;
}

const PUBLISH_TIMEOUT_MS = 2000;
const PUBLISH_ATTEMPTS = 3;

/** Makes the streams, or brings them to their present limits. Throws as `jetStreamError`. */
export async function openStreams(options: StreamsOptions): Promise<readonly KeptStream[]> {
  const { link, kept, names, installation } = options;
  const manager = await link.connection.jetstreamManager().catch((error: unknown) => {
    throw jetStreamError(error, link.address, '');
  });
  const streams: KeptStream[] = [];
  for (const one of kept) {
    const prefix = names.toServer(one.prefix);
    const name = `${names.prefix.replaceAll('.', '_').toUpperCase()}_${one.name}`;
    const config = configOf(one, name, prefix);
    const prepare = () =>
      installation === undefined
        ? prepareStream(manager, config)
        : prepareOwnStream(manager, config, { installation, address: link.address });
    const stream = createStream(options, manager, { name, prefix, prepare });
    await stream.ensure();
    streams.push(stream);
  }
  return streams;
}

function configOf(kept: KeptSubjects, name: string, prefix: string): Partial<StreamConfig> {
  return {
    name,
    subjects: [`${prefix}.>`],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    storage: StorageType.File,
    num_replicas: 1,
    max_age: nanos(kept.maxAgeMs),
    max_msgs: kept.maxMessages,
    max_bytes: kept.maxBytes,
    duplicate_window: nanos(Math.min(kept.maxAgeMs, DUPLICATE_WINDOW_MS)),
  };
}

/** Within it a message id is known: longer than all attempts to publish take. */
const DUPLICATE_WINDOW_MS = 60_000;

/** A stream says in its description whose it is. */
async function prepareOwnStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig>,
  { installation, address }: { readonly installation: string; readonly address: string },
): Promise<StreamInfo> {
  return prepareStream(manager, { ...config, description: OWNER + installation }, ({ name, description = '' }) => {
    if (!description.startsWith(OWNER)) return;
    const place = { what: `The stream ${name} of NATS at ${address}`, setting: 'ENGRAM_NATS_SUBJECT_PREFIX' };
    requireOwn(place, installation, description.slice(OWNER.length));
  });
}

const OWNER = 'Engram installation ';

async function prepareStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig>,
  inspect: (present: StreamConfig) => void = () => {},
): Promise<StreamInfo> {
  const { name = '' } = config;
  const present = await manager.streams.info(name).catch((error: unknown) => {
    if (error instanceof NatsError && error.api_error?.err_code === STREAM_NOT_FOUND) return null;
    throw error;
  });
  // Two processes that start together both add it: the same configuration again is no error.
  if (present === null) return manager.streams.add(config);
  inspect(present.config);
  return isOutdated(present.config, config) ? manager.streams.update(name, config) : present;
}

const STREAM_NOT_FOUND = 10_059;

function isOutdated(present: StreamConfig, wanted: Partial<StreamConfig>): boolean {
  return Object.entries(wanted).some(
    ([key, value]) => JSON.stringify(present[key as keyof StreamConfig]) !== JSON.stringify(value),
  );
}

interface StreamParts extends Pick<KeptStream, 'name' | 'prefix'> {
  prepare(): Promise<StreamInfo>;
}

function createStream(
  { link, jetStream }: StreamsOptions,
  manager: JetStreamManager,
  { name, prefix, prepare }: StreamParts,
): KeptStream {
  const ensure = async () => {
    link.requireUp();
    try {
      return (await prepare()).created;
    } catch (error) {
      if (isEngramError(error)) throw error;
      throw jetStreamError(error, link.address, name);
    }
  };
  return {
    name,
    prefix,
    ensure,
    async lastSequence() {
      link.requireUp();
      try {
        return (await manager.streams.info(name)).state.last_seq;
      } catch (error) {
        throw jetStreamError(error, link.address, name);
      }
    },
    async publish(subject, busSubject, payload) {
      requireFits(busSubject, payload, link.maxMessageBytes());
      const msgID = nuid.next();
      for (let attempt = 1; ; attempt += 1) {
        link.requireUp();
        try {
          return (await jetStream.publish(subject, payload, { msgID, timeout: PUBLISH_TIMEOUT_MS })).seq;
        } catch (error) {
          const isRefused = error instanceof NatsError && error.api_error !== undefined;
          if (isRefused || attempt === PUBLISH_ATTEMPTS) throw jetStreamError(error, link.address, name);
          // No stream takes the subject: the server has lost it.
          if (error instanceof NatsError && error.code === ErrorCode.NoResponders) await ensure();
        }
      }
    },
  };
}

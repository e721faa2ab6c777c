import { setTimeout as sleep } from 'node:timers/promises';
import { DeliverPolicy, type JetStreamClient } from 'nats';
import type { BusMessage } from '../../ports/bus.ts';
import type { Listener } from '../rules/listener.ts';
import { createSubjectTable } from '../rules/subject-table.ts';
import { type KeptStream, openStreams } from './kept-streams.ts';
import type { NatsLink } from './nats-link.ts';
import type { NatsBusOptions } from './nats-options.ts';
import type { SubjectNames } from './subject-names.ts';
import { fromNatsHeaders } from './wire-message.ts';

/** Subjects that JetStream keeps. */
export type KeptTopics = Awaited<ReturnType<typeof createKeptTopics>>;

export async function createKeptTopics(options: NatsBusOptions, link: NatsLink, names: SubjectNames) {
  const { kept = [], streamCheckMs = 5_000, onStreamLost } = options;
  const { toServer, fromServer } = names;
  const jetStream = link.connection.jetstream();
  const streams = kept.length === 0 ? [] : await openStreams({ ...options, kept, link, jetStream, names });
  const table = createSubjectTable<Listener>();
  const feeds = new Map<KeptStream, Promise<Feed>>();
  const published = new Map<KeptStream, number>();
  const watch = watchStreams(streams, streamCheckMs, async (stream) => {
    onStreamLost?.(stream.name);
    published.delete(stream);
    await (await feeds.get(stream))?.restart();
  });

  const dispatch = (message: BusMessage): void => {
    for (const listener of table.match(message.subject)) listener.deliver(message);
  };
  const feedOf = (stream: KeptStream): Promise<Feed> => {
    const open = feeds.get(stream);
    if (open !== undefined) return open;
    const opening = openFeed({ link, jetStream, fromServer }, stream, dispatch);
    feeds.set(stream, opening);
    opening.catch(() => feeds.delete(stream)); // the next subscription tries again
    return opening;
  };
  return {
    /** Undefined for subjects that are not kept. */
    streamOf(subject: string) {
      const name = toServer(subject);
      return streams.find((stream) => name.startsWith(`${stream.prefix}.`));
    },
    async publish(stream: KeptStream, subject: string, payload: Uint8Array) {
      const sequence = await stream.publish(toServer(subject), subject, payload);
      published.set(stream, Math.max(sequence, published.get(stream) ?? 0));
    },
    /** Gives the listener what is published from now on; the answer ends that. */
    async follow(stream: KeptStream, subject: string, listener: Listener) {
      const feed = await feedOf(stream);
      // The feed may run behind: what it still has to hand over came before this subscription.
      await feed.reached(await stream.lastSequence());
      const remove = table.add(subject, listener);
      return async () => remove();
    },
    /** Resolves when what this process published was delivered to its own subscriptions. */
    async caughtUp() {
      for (const [stream, opening] of feeds) await (await opening).reached(published.get(stream) ?? 0);
    },
    async close() {
      watch.stop();
      for (const opening of feeds.values()) await (await opening).close();
    },
  };
}

/** Creates lost streams again, and returns those that were replaced. */
function watchStreams(streams: readonly KeptStream[], everyMs: number, onLost: (stream: KeptStream) => Promise<void>) {
  const made = new Map<KeptStream, string>();
  let isLooking = false;
  const look = async (stream: KeptStream) => {
    const created = await stream.ensure();
    const before = made.get(stream);
    if (before !== undefined && before !== created) await onLost(stream);
    // Only then: what failed is tried again.
    made.set(stream, created);
  };
  const lookAtAll = async () => {
    if (isLooking) return;
    isLooking = true;
    // The next caller learns that the server cannot be reached.
    await Promise.allSettled(streams.map(look));
    isLooking = false;
  };
  void lookAtAll();
  const timer = setInterval(() => void lookAtAll(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** Everything that a stream gets from now on, in order and once, also over a lost connection. */
type Feed = Awaited<ReturnType<typeof openFeed>>;

/** Time for which the server keeps a pull open; also the pause of the client after a failure. */
const PULL_MS = 5000;
const REACH_TIMEOUT_MS = 2000;

interface FeedOptions {
  readonly link: NatsLink;
  readonly jetStream: JetStreamClient;
  /** Subject of the server → subject of the bus. */
  readonly fromServer: (subject: string) => string;
}

/** One ordered consumer for all subscriptions of a process: the server keeps nothing for it. */
async function openFeed(
  { link, jetStream, fromServer }: FeedOptions,
  stream: KeptStream,
  deliver: (message: BusMessage) => void,
) {
  let delivered = await stream.lastSequence();
  const consume = async () => {
    const consumer = await jetStream.consumers.get(stream.name, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: delivered + 1,
    });
    const messages = await consumer.consume({
      expires: PULL_MS,
      callback({ seq, subject, data, headers }) {
        // After a reset the server may start before what we have.
        if (seq <= delivered) return;
        delivered = seq;
        deliver({ subject: fromServer(subject), payload: data, headers: fromNatsHeaders(headers) });
      },
    });
    const close = async () => {
      const error = await messages.close();
      if (error instanceof Error) throw error;
    };
    return { consumer, close };
  };
  let open = await consume();
  return {
    /** The stream is another one: hands over what that has, from its first message on. */
    async restart() {
      await open.close().catch(() => {}); // its stream is gone
      delivered = 0;
      open = await consume();
    },
    /** Resolves when the message of the sequence was handed over, at the latest after a moment. */
    async reached(sequence: number) {
      const deadline = performance.now() + REACH_TIMEOUT_MS;
      while (delivered < sequence && performance.now() < deadline && !link.connection.isClosed()) await sleep(2);
    },
    async close() {
      await open.close();
      try {
        link.requireUp();
        await open.consumer.delete();
      } catch {
        // The server removes it by a timeout.
      }
    },
  };
}

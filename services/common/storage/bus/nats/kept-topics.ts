import type { BusHeaders, BusMessage } from '../../ports/bus.ts';
import type { Listener } from '../rules/listener.ts';
import { createSubjectTable } from '../rules/subject-table.ts';
import { type Feed, openFeed, openGroup } from './kept-feed.ts';
import { type KeptStream, openStreams } from './kept-streams.ts';
import { jetStreamError } from './nats-errors.ts';
import type { NatsLink } from './nats-link.ts';
import type { NatsBusOptions } from './nats-options.ts';
import type { SubjectNames } from './subject-names.ts';

/** Subjects that JetStream keeps. */
export interface KeptTopics {
  /** Undefined for subjects that are not kept. */
  streamOf(subject: string): KeptStream | undefined;
  publish(stream: KeptStream, subject: string, payload: Uint8Array, headers: BusHeaders): Promise<void>;
  /** Gives the listener what is published from now on; the answer ends that. */
  follow(stream: KeptStream, subject: string, listener: Listener): Promise<() => Promise<void>>;
  /** Resolves when what this process published was delivered to its own subscriptions. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

export async function createKeptTopics(
  {
    kept = [],
    streamReplicas = 1,
    ackWaitMs = 30_000,
    streamCheckMs = 5_000,
    onStreamLost,
    installation,
  }: NatsBusOptions,
  link: NatsLink,
  names: SubjectNames,
): Promise<KeptTopics> {
  if (kept.length === 0) return NOTHING_KEPT;
  const jetStream = link.connection.jetstream();
  const manager = await link.connection.jetstreamManager().catch((error: unknown) => {
    throw jetStreamError(error, link.address, '');
  });
  const { toServer, fromServer, prefix } = names;
  const namePrefix = prefix.replaceAll('.', '_').toUpperCase();
  const streams = await openStreams({
    link,
    jetStream,
    manager,
    kept,
    toServer,
    namePrefix,
    replicas: streamReplicas,
    ...(installation === undefined ? {} : { installation }),
  });
  const feedOptions = { link, jetStream, manager, fromServer, ackWaitMs };
  const table = createSubjectTable<Listener>();
  const feeds = new Map<KeptStream, Promise<Feed>>();
  const published = new Map<KeptStream, number>();
  const groups = new Map<KeptStream, Set<Pick<Feed, 'restart'>>>(streams.map((stream) => [stream, new Set()]));
  const watch = watchStreams(streams, streamCheckMs, async (stream) => {
    onStreamLost?.(stream.name);
    published.delete(stream);
    await (await feeds.get(stream))?.restart();
    for (const group of groups.get(stream) ?? []) await group.restart();
  });

  const dispatch = (message: BusMessage): void => {
    for (const listener of table.match(message.subject)) listener.deliver(message);
  };
  const feedOf = (stream: KeptStream): Promise<Feed> => {
    const open = feeds.get(stream);
    if (open !== undefined) return open;
    const opening = openFeed(feedOptions, stream, dispatch);
    feeds.set(stream, opening);
    opening.catch(() => feeds.delete(stream)); // the next subscription tries again
    return opening;
  };
  return {
    streamOf(subject) {
      const name = toServer(subject);
      return streams.find((stream) => name.startsWith(`${stream.prefix}.`));
    },
    async publish(stream, subject, payload, headers) {
      const sequence = await stream.publish(toServer(subject), subject, payload, headers);
      published.set(stream, Math.max(sequence, published.get(stream) ?? 0));
    },
    async follow(stream, subject, listener) {
      if (listener.queue !== null) {
        const group = { name: listener.queue, subject: toServer(subject) };
        const member = await openGroup(feedOptions, stream, group, listener.deliver);
        groups.get(stream)?.add(member);
        return () => {
          groups.get(stream)?.delete(member);
          return member.close();
        };
      }
      const feed = await feedOf(stream);
      // The feed may run behind: what it still has to hand over came before this subscription.
      await feed.reached(await stream.lastSequence());
      const remove = table.add(subject, listener);
      return async () => remove();
    },
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
function watchStreams(
  streams: readonly KeptStream[],
  everyMs: number,
  onLost: (stream: KeptStream) => Promise<void>,
): { stop(): void } {
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

const NOTHING_KEPT: KeptTopics = {
  streamOf: () => undefined,
  publish: async () => {},
  follow: async () => async () => {},
  caughtUp: async () => {},
  close: async () => {},
};

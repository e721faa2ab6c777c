import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  nanos,
} from 'nats';
import type { BusMessage } from '../../ports/bus.ts';
import type { KeptStream } from './kept-streams.ts';
import { jetStreamError } from './nats-errors.ts';
import type { NatsLink } from './nats-link.ts';
import { fromNatsHeaders } from './wire-message.ts';

interface FeedOptions {
  readonly link: NatsLink;
  readonly jetStream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Subject of the server → subject of the bus. */
  readonly fromServer: (subject: string) => string;
  readonly ackWaitMs: number;
}

/** Everything that a stream gets from now on, in order and once, also over a lost connection. */
export type Feed = Awaited<ReturnType<typeof openFeed>>;

/** Time for which the server keeps a pull open; also the pause of the client after a failure. */
const PULL_MS = 5000;
const REACH_TIMEOUT_MS = 2000;

/** One ordered consumer for all subscriptions of a process: the server keeps nothing for it. */
export async function openFeed(
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
      callback(message) {
        // After a reset the server may start before what we have.
        if (message.seq <= delivered) return;
        delivered = message.seq;
        deliver(busMessage(message, fromServer));
      },
    });
    return { consumer, messages };
  };
  let open = await consume();
  return {
    /** The stream is another one: hands over what that has, from its first message on. */
    async restart() {
      await closeMessages(open.messages).catch(() => {}); // its stream is gone
      delivered = 0;
      open = await consume();
    },
    /** Resolves when the message of the sequence was handed over, at the latest after a moment. */
    async reached(sequence: number) {
      const deadline = performance.now() + REACH_TIMEOUT_MS;
      while (delivered < sequence && performance.now() < deadline && !link.connection.isClosed()) await sleep(2);
    },
    async close() {
      await closeMessages(open.messages);
      try {
        link.requireUp();
        await open.consumer.delete();
      } catch {
        // The server removes it by a timeout.
      }
    },
  };
}

const MAX_DELIVERIES = 5;
/** The server removes a group without members. */
const FORGET_GROUP_MS = 24 * 3_600_000;

/** A durable consumer of the group: each message to one member, acknowledged when its listener has ended. */
export async function openGroup(
  { link, jetStream, manager, fromServer, ackWaitMs }: FeedOptions,
  stream: KeptStream,
  group: { readonly name: string; readonly subject: string },
  deliver: (message: BusMessage, handled: () => void) => void,
): Promise<Omit<Feed, 'reached'>> {
  const durable = `${group.name}_${group.subject}`.replaceAll(/[^\w-]/g, '_');
  const consume = async (from: DeliverPolicy) => {
    try {
      await manager.consumers.add(stream.name, {
        durable_name: durable,
        filter_subject: group.subject,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        max_deliver: MAX_DELIVERIES,
        deliver_policy: from,
        inactive_threshold: nanos(FORGET_GROUP_MS),
      });
    } catch (error) {
      // Another member may have made it with the other policy, which matters only at its beginning.
      const isThere = await manager.consumers.info(stream.name, durable).then(Boolean, () => false);
      if (!isThere) throw jetStreamError(error, link.address, stream.name);
    }
    const consumer = await jetStream.consumers.get(stream.name, durable);
    return consumer.consume({
      expires: PULL_MS,
      max_messages: 1, // what waits here could go to a free member
      callback: (message) => deliver(busMessage(message, fromServer), () => message.ack()),
    });
  };
  let messages = await consume(DeliverPolicy.New);
  return {
    async restart() {
      // First: it would take messages of the new stream along, which then wait for their next delivery.
      await closeMessages(messages).catch(() => {});
      messages = await consume(DeliverPolicy.All);
    },
    close: () => closeMessages(messages),
  };
}

function busMessage(message: JsMsg, fromServer: (subject: string) => string): BusMessage {
  const { subject, data, headers } = message;
  return { subject: fromServer(subject), payload: data, headers: fromNatsHeaders(headers) };
}

async function closeMessages(messages: ConsumerMessages): Promise<void> {
  const error = await messages.close();
  if (error instanceof Error) throw error;
}

import type { Subscription as NatsSubscription } from 'nats';
import { engramError } from '../../../kernel/errors.ts';
import type { BusHandler } from '../../ports/bus.ts';
import { createResponder, leastBusy, type Responder } from '../rules/responder.ts';
import type { AnswerRequest } from './answers.ts';
import type { NatsLink } from './nats-link.ts';

/** One queue group for all processes: the server gives each request to one of them. */
const GROUP = 'responders';

interface Served {
  readonly subscription: NatsSubscription;
  readonly responders: Responder[];
  /** The server refuses the subscription. */
  isRefused: boolean;
}

/** The answering side. */
export function createResponders(link: NatsLink, answer: AnswerRequest) {
  const served = new Map<string, Served>();
  const open = (subject: string, name: string): Served => {
    const responders: Responder[] = [];
    const entry: Omit<Served, 'subscription'> = { responders, isRefused: false };
    const subscription = link.connection.subscribe(subject, {
      queue: GROUP,
      callback(error, message) {
        if (error !== null) entry.isRefused = true;
        // The connection was lost meanwhile: the caller's deadline ends the request.
        else answer(message, name, responders).catch(() => {});
      },
    });
    const opened: Served = Object.assign(entry, { subscription });
    served.set(subject, opened);
    return opened;
  };
  const remove = async (subject: string, entry: Served, responder: Responder): Promise<void> => {
    const isLast = entry.responders.length === 1 && entry.responders[0] === responder;
    if (isLast) {
      if (served.get(subject) === entry) served.delete(subject);
      await drained(link, entry.subscription);
    }
    const at = entry.responders.indexOf(responder);
    if (at >= 0) entry.responders.splice(at, 1);
  };
  return {
    async add(subject: string, name: string, handler: BusHandler) {
      const responder = createResponder(handler);
      const entry = served.get(subject) ?? open(subject, name);
      entry.responders.push(responder);
      try {
        await link.flushed();
        if (entry.isRefused) {
          throw engramError('ServiceUnavailableError', `The NATS user of this service may not answer ${name}`);
        }
      } catch (error) {
        await remove(subject, entry, responder);
        throw error;
      }
      return {
        async stop() {
          await remove(subject, entry, responder);
          await responder.idle();
        },
      };
    },
    /** The one of this process, to be asked without the server; undefined when there is none. */
    local: (subject: string) => leastBusy(served.get(subject)?.responders ?? []),
    /** Takes no further requests; those in flight go on. */
    async close() {
      await Promise.all([...served.values()].map(({ subscription }) => drained(link, subscription)));
    },
  };
}

/** Everything that the server sent before it heard of the end is delivered. */
export async function drained(link: NatsLink, subscription: NatsSubscription): Promise<void> {
  try {
    link.requireUp();
    const isOver = subscription.isClosed() || link.connection.isClosed();
    if (!isOver) await Promise.all([subscription.drain(), link.flushed()]);
  } catch {
    subscription.unsubscribe(); // the connection is lost: nothing more comes
  }
}

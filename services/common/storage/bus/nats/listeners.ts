import { engramError } from '../../../kernel/errors.ts';
import type { Bus, Subscription } from '../../ports/bus.ts';
import { createListener, type Listener } from '../rules/listener.ts';
import type { KeptTopics } from './kept-topics.ts';
import type { NatsLink } from './nats-link.ts';
import { drained } from './responders.ts';
import type { SubjectNames } from './subject-names.ts';
import { fromNatsHeaders } from './wire-message.ts';

/** The hearing side of `publish`. */
export interface Listeners {
  add: Bus['subscribe'];
  /** Resolves when everything that came so far was heard; nothing more comes. */
  finish(): Promise<void>;
}

export function createListeners(
  link: NatsLink,
  names: SubjectNames,
  { kept, onError }: { readonly kept: KeptTopics; readonly onError: (error: unknown, subject: string) => void },
): Listeners {
  /** Listener → what ends its source. */
  const open = new Map<Listener, () => Promise<void>>();

  /** From the server directly: at most once. */
  const hear = async (subject: string, listener: Listener, queue: string | undefined): Promise<() => Promise<void>> => {
    link.requireUp();
    let isRefused = false;
    const subscription = link.connection.subscribe(names.toServer(subject), {
      ...(queue === undefined ? {} : { queue }),
      callback(error, message) {
        if (error !== null) isRefused = true;
        else {
          const { subject: from, data, headers } = message;
          listener.deliver({ subject: names.fromServer(from), payload: data, headers: fromNatsHeaders(headers) });
        }
      },
    });
    const end = () => drained(link, subscription);
    try {
      await link.flushed();
    } catch (error) {
      await end();
      throw error;
    }
    if (!isRefused) return end;
    throw engramError('ServiceUnavailableError', `The NATS user of this service may not hear ${subject}`);
  };
  return {
    async add(subject, receive, { queue } = {}): Promise<Subscription> {
      const listener = createListener(receive, queue ?? null, onError);
      const stream = kept.streamOf(subject);
      const end =
        stream === undefined ? await hear(subject, listener, queue) : await kept.follow(stream, subject, listener);
      open.set(listener, end);
      return {
        async stop() {
          if (!open.delete(listener)) return;
          await end();
          await listener.stop();
        },
      };
    },
    async finish() {
      const all = [...open];
      open.clear();
      await Promise.all(all.map(([, end]) => end()));
      await Promise.all(all.map(([listener]) => listener.finish()));
    },
  };
}

import type { BusMessage } from '../../ports/bus.ts';

/** A subscription's side of `publish`: messages one after the other, in the order they were published. */
export type Listener = ReturnType<typeof createListener>;

export function createListener(
  receive: (message: BusMessage) => void | Promise<void>,
  queue: string | null,
  onError: (error: unknown, subject: string) => void,
) {
  const waiting: { readonly message: BusMessage; readonly handled: (() => void) | undefined }[] = [];
  let closed = false;
  let worker: Promise<void> | null = null;

  const work = async () => {
    await Promise.resolve(); // the publisher goes on first
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await receive(next.message);
      } catch (error) {
        onError(error, next.message.subject);
      }
      next.handled?.();
    }
    worker = null;
  };
  return {
    queue,
    /** `handled` is called when the listener has ended with it, or failed; not when it was dropped. */
    deliver(message: BusMessage, handled?: () => void) {
      if (closed) return;
      waiting.push({ message, handled });
      worker ??= work();
    },
    /** Drops waiting messages and resolves when the message in flight is done. */
    async stop() {
      closed = true;
      waiting.length = 0;
      await worker;
    },
    /** Resolves when everything delivered so far is done; takes nothing more. */
    async finish() {
      closed = true;
      await worker;
    },
  };
}

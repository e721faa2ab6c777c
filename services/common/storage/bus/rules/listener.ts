import type { BusMessage } from '../../ports/bus.ts';

/** A subscription's side of `publish`: messages one after the other, in the order they were published. */
export type Listener = ReturnType<typeof createListener>;

export type OnListenerError = (error: unknown, subject: string) => void;

export function createListener(
  receive: (message: BusMessage) => void | Promise<void>,
  onError: OnListenerError = warn,
) {
  const waiting: BusMessage[] = [];
  let closed = false;
  let worker: Promise<void> | null = null;

  const work = async () => {
    await Promise.resolve(); // the publisher goes on first
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await receive(next);
      } catch (error) {
        onError(error, next.subject);
      }
    }
    worker = null;
  };
  return {
    deliver(message: BusMessage) {
      if (closed) return;
      waiting.push(message);
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

function warn(error: unknown, subject: string): void {
  process.emitWarning(`listener of ${subject} failed: ${error instanceof Error ? error.stack : String(error)}`);
}

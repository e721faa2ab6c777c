import { Readable } from 'node:stream';
import { engramError } from '../../common/kernel/errors.ts';

/** Streams of one caller and of this process that are open at a time, and how long each may last (search-recall.md §8.4). */
const PER_CALLER = 8;
const IN_ALL = 32;
const LIFETIME_MS = 300_000;
/** Time in which a client can read why its stream ends. */
const GRACE_MS = 5000;

type Places = ReturnType<typeof createPlaces>;

/** Counts what is open, by caller. */
export function createPlaces({ perCaller = PER_CALLER, inAll = IN_ALL } = {}) {
  const open = new Map<string, number>();
  let all = 0;
  return {
    /** Returns the function that gives the place back; null when there is none. */
    take(caller: string): (() => void) | null {
      const own = open.get(caller) ?? 0;
      if (own >= perCaller || all >= inAll) return null;
      open.set(caller, own + 1);
      all += 1;
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        all -= 1;
        const left = (open.get(caller) ?? 1) - 1;
        if (left === 0) open.delete(caller);
        else open.set(caller, left);
      };
    },
  };
}

/**
 * Streams server-sent events while there is a place for the caller, at most for the lifetime; then an `error` event with status
 * 408 is the last one. Throws `GraphStreamCapacityError` (503).
 */
export async function placedStream(
  places: Places,
  caller: string,
  load: () => Promise<Iterable<string>>,
  { lifetimeMs = LIFETIME_MS, graceMs = GRACE_MS } = {},
): Promise<Readable> {
  const leave = places.take(caller);
  if (leave === null) {
    const text = `Too many graph streams are open: at most ${PER_CALLER} for one caller. Close one or try again shortly.`;
    throw engramError('GraphStreamCapacityError', text, { retryable: true, retryAfterSeconds: 5 });
  }
  try {
    const endsAt = performance.now() + lifetimeMs;
    const stream = Readable.from(until(endsAt, await load()));
    const timer = setTimeout(() => stream.destroy(), lifetimeMs + graceMs).unref();
    stream.once('close', () => {
      clearTimeout(timer);
      leave();
    });
    return stream;
  } catch (error) {
    leave();
    throw error;
  }
}

async function* until(endsAt: number, pieces: Iterable<string>): AsyncGenerator<string> {
  for (const piece of pieces) {
    if (performance.now() > endsAt) {
      const late = { message: 'The stream took longer than its lifetime.', status: 408 };
      yield `event: error\ndata: ${JSON.stringify(late)}\n\n`;
      return;
    }
    yield piece;
  }
}

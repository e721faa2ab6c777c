import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGoneError, tooLarge, tooSlow } from './request-faults.ts';

/** A request body that is read at most once, within a size and with an eye on the clock. */
export type BodySource = ReturnType<typeof createBodySource>;

export interface BodyLimit {
  readonly limitBytes: number;
  /** The variable that sets it, for the error; null: nothing raises it. */
  readonly setting: string | null;
}

export interface BodyTimes {
  /** Longest silence of a client in the middle of a body; default 30 s. */
  readonly idleTimeoutMs?: number;
  /** How long a body may keep us waiting, and one more second for each `SLOWEST_BYTES_PER_SECOND` of it; default 60 s. */
  readonly bodyTimeoutMs?: number;
}

const IDLE_TIMEOUT_MS = 30_000;
const BODY_TIMEOUT_MS = 60_000;

/** A poor mobile connection is faster. */
const SLOWEST_BYTES_PER_SECOND = 4096;

export function createBodySource(
  request: IncomingMessage,
  response: ServerResponse,
  { idleTimeoutMs = IDLE_TIMEOUT_MS, bodyTimeoutMs = BODY_TIMEOUT_MS }: BodyTimes = {},
  shut?: AbortSignal,
) {
  const { headers } = request;
  const declared = headers['content-length'];
  const declaredBytes = declared === undefined ? null : Number(declared);
  return {
    headers,
    /** Length that the client declared, or null when it sends in chunks. */
    declaredBytes,
    /** Neither declared nor chunked: there is no body. */
    isAbsent: declaredBytes === 0 || (declaredBytes === null && headers['transfer-encoding'] === undefined),
    /**
     * Throws `PayloadTooLargeError` at once when more is declared, else as soon as more has come; 408 when the client pauses
     * too long, or sends little for long; `ClientGoneError` when it goes away; what `shut` was aborted with. Leaving the loop keeps the connection.
     */
    async *chunks({ limitBytes, setting }: BodyLimit) {
      if (declaredBytes !== null && declaredBytes > limitBytes) throw tooLarge(declaredBytes, limitBytes, setting);
      // Only now: a client that asked first has not sent a byte of a body that is refused.
      if (headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
      shut?.throwIfAborted();
      const idle = idleAlarm(idleTimeoutMs, shut);
      const iterator = (request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
      let received = 0;
      let waitedMs = 0;
      try {
        for (;;) {
          // The reader's own time is not the client's.
          const start = performance.now();
          const { done, value } = await idle.guard(iterator.next());
          if (done === true) break;
          idle.refresh();
          waitedMs += performance.now() - start;
          received += value.length;
          if (waitedMs > bodyTimeoutMs + (received / SLOWEST_BYTES_PER_SECOND) * 1000) throw tooSlow();
          if (received > limitBytes) throw tooLarge(null, limitBytes, setting);
          yield value;
        }
        if (!request.complete) throw new ClientGoneError('The connection closed in the middle of the body.');
      } catch (error) {
        if (isConnectionLoss(error)) throw new ClientGoneError('The connection broke.', { cause: error });
        throw error;
      } finally {
        idle.clear();
        // Lets go of the stream, so that what is left of the body can be discarded. Not awaited: a client that has gone
        // silent would hold it for ever.
        iterator.return?.().catch(() => undefined);
      }
    },
  };
}

export async function readAll(source: BodySource, limit: BodyLimit): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source.chunks(limit)) chunks.push(chunk);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

interface IdleAlarm {
  /** The outcome of the step, or a 408 when the alarm rings first. */
  guard<T>(step: Promise<T>): Promise<T>;
  refresh(): void;
  clear(): void;
}

/** Not `Promise.race` with one alarm: the alarm would hold the result of every race, which is the whole upload. */
function idleAlarm(timeoutMs: number, shut?: AbortSignal): IdleAlarm {
  let ring: (error: Error) => void = () => {};
  const timer = setTimeout(() => ring(tooSlow()), timeoutMs);
  const onShut = () => ring(shut?.reason);
  shut?.addEventListener('abort', onShut, { once: true });
  return {
    guard: (step) =>
      new Promise((resolve, reject) => {
        ring = reject;
        step.then(resolve, reject);
      }),
    refresh: () => timer.refresh(),
    clear() {
      clearTimeout(timer);
      shut?.removeEventListener('abort', onShut);
    },
  };
}

function isConnectionLoss(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

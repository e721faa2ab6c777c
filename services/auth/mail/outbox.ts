import type { Logger } from '../../common/ports/logger.ts';
import { MailRefusedError } from '../../common/ports/mailer.ts';

/** One mail from the wish to the server; called again after a failure that may pass. */
export type MailTask = (signal: AbortSignal) => Promise<void>;

/**
 * Mails on their way. Requests only put something in, so neither a mail server that hangs nor whether an account exists can
 * be told from their answers. It is memory of this process: what waits when it ends is lost, after `stop` has given it a
 * moment. Nobody was promised that mail, and whoever gets none asks again; kept in the store it would be a list of who
 * asked for what.
 */
export interface Outbox {
  /** When too much waits already, the task is dropped and a warning logged. */
  add(task: MailTask): void;
  stop(): Promise<void>;
}

export interface OutboxOptions {
  readonly logger: Logger;
  readonly capacity?: number;
  readonly concurrency?: number;
  /** Before each further attempt. Servers that greylist take a mail after some minutes. */
  readonly retryDelaysMs?: readonly number[];
  /** What is under way at the stop may take so long. */
  readonly stopWithinMs?: number;
}

interface Entry {
  readonly task: MailTask;
  /** Attempts that failed. */
  failures: number;
}

const RETRY_DELAYS_MS = [5000, 30_000, 120_000, 600_000];

export function createOutbox({
  logger,
  capacity = 1000,
  concurrency = 4,
  retryDelaysMs = RETRY_DELAYS_MS,
  stopWithinMs = 5000,
}: OutboxOptions): Outbox {
  const waiting: Entry[] = [];
  const delayed = new Map<Entry, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const abort = new AbortController();
  let isStopping = false;

  const next = (): void => {
    while (running.size < concurrency && !abort.signal.aborted) {
      const entry = waiting.shift();
      if (entry === undefined) return;
      const attempt = deliver(entry).finally(() => {
        running.delete(attempt);
        next();
      });
      running.add(attempt);
    }
  };
  const deliver = async (entry: Entry): Promise<void> => {
    try {
      await entry.task(abort.signal);
    } catch (error) {
      const delayMs = retryDelaysMs[entry.failures];
      entry.failures += 1;
      if (error instanceof MailRefusedError || delayMs === undefined || isStopping) {
        logger.warn('auth.mail.given_up', { error, attempts: entry.failures });
        return;
      }
      logger.info('auth.mail.delayed', { error, attempts: entry.failures });
      const timer = setTimeout(() => {
        delayed.delete(entry);
        waiting.push(entry);
        next();
      }, delayMs);
      timer.unref();
      delayed.set(entry, timer);
    }
  };
  return {
    add(task) {
      if (isStopping || waiting.length + delayed.size + running.size >= capacity) {
        logger.warn('auth.mail.dropped', { waiting: waiting.length, delayed: delayed.size });
        return;
      }
      waiting.push({ task, failures: 0 });
      // Not in the caller's turn: the answer goes out first.
      setImmediate(next);
    },
    async stop() {
      isStopping = true;
      for (const timer of delayed.values()) clearTimeout(timer);
      const timer = setTimeout(() => abort.abort(), stopWithinMs);
      while (running.size > 0 || (waiting.length > 0 && !abort.signal.aborted)) {
        next();
        await Promise.allSettled(running);
      }
      clearTimeout(timer);
      const lost = waiting.length + delayed.size;
      if (lost > 0) logger.warn('auth.mail.lost', { lost });
    },
  };
}

import type { Logger } from '../../common/ports/logger.ts';
import { MailRefusedError } from '../../common/ports/mailer.ts';

/** Prepares and sends one mail; called again after a transient failure. */
export type MailTask = (signal: AbortSignal) => Promise<void>;

/**
 * Sends mails in the background. Requests only add tasks, so their answers reveal neither a hanging mail server nor whether
 * an account exists. The queue is in memory: tasks that wait when the process ends are lost, after `stop` has waited for a
 * moment. Clients can request the mail again, and a stored queue would be a record of who requested what.
 */
export type Outbox = ReturnType<typeof createOutbox>;

interface OutboxOptions {
  readonly logger: Logger;
  readonly capacity?: number;
  readonly concurrency?: number;
  /** Pauses before further attempts. Servers that greylist accept a mail after some minutes. */
  readonly retryDelaysMs?: readonly number[];
  /** Time limit for tasks in flight when the service stops. */
  readonly stopWithinMs?: number;
}

interface Entry {
  readonly task: MailTask;
  /** Failed attempts. */
  failures: number;
}

const RETRY_DELAYS_MS = [5000, 30_000, 120_000, 600_000];

export function createOutbox({
  logger,
  capacity = 1000,
  concurrency = 4,
  retryDelaysMs = RETRY_DELAYS_MS,
  stopWithinMs = 5000,
}: OutboxOptions) {
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
    /** When too many tasks wait, the task is dropped and a warning logged. */
    add(task: MailTask) {
      if (isStopping || waiting.length + delayed.size + running.size >= capacity) {
        logger.warn('auth.mail.dropped', { waiting: waiting.length, delayed: delayed.size });
        return;
      }
      waiting.push({ task, failures: 0 });
      // After the caller's turn: the answer is sent first.
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

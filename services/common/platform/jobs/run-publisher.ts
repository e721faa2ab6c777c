import type { RunEvent } from '../../domain/run.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Messenger } from '../messaging/messenger.ts';
import { createErrorDeduplicator } from './error-deduplicator.ts';

/** Publishes the events of runs. Never fails: a subscriber that misses an event reads the run after a while. */
export function createRunPublisher({
  messenger,
  logger,
}: {
  readonly messenger: Pick<Messenger, 'publish'>;
  readonly logger: Logger;
}): (event: RunEvent) => Promise<void> {
  const faults = createErrorDeduplicator();
  return async (event) => {
    try {
      await messenger.publish('runs', event.run.id, event);
      faults.forget();
    } catch (error) {
      // An unavailable bus would otherwise fill the log with a line for each step of each item.
      if (faults.isNew(error)) logger.warn('run.event.publish_failed', { error, runId: event.run.id });
    }
  };
}

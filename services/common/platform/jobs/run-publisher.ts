import type { RunEvent } from '../../domain/run.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Messenger } from '../messaging/messenger.ts';
import { createErrorDeduplicator } from './error-deduplicator.ts';

/** Tells the subscribers of a run what becomes of it; never fails: whoever hears nothing asks after a while. */
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
      // A bus that is away would otherwise bring a line for each step of each item.
      if (faults.isNew(error)) logger.warn('run.event.unpublished', { error, runId: event.run.id });
    }
  };
}

import type { RunEvent } from '../../domain/run.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Messenger } from '../messaging/messenger.ts';
import { createFaultMemory } from './fault-memory.ts';

/** Tells the subscribers of a run what becomes of it; never fails: whoever hears nothing asks after a while. */
export function createRunNews({
  messenger,
  logger,
}: {
  readonly messenger: Pick<Messenger, 'publish'>;
  readonly logger: Logger;
}): (event: RunEvent) => Promise<void> {
  const faults = createFaultMemory();
  return async (event) => {
    try {
      await messenger.publish('runs', event.run.id, event);
      faults.forget();
    } catch (error) {
      // A bus that is away would otherwise bring a line for each step of each item.
      if (faults.isNews(error)) logger.warn('run.event.unpublished', { error, runId: event.run.id });
    }
  };
}

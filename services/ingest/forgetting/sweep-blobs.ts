import type { SystemScope } from '../../common/kernel/scope.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** An add in flight is younger than this. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Removes blobs without an owner: of adds that were interrupted before their records were committed, of updates, and of
 * background additions whose job was discarded. Returns the number of such groups.
 */
export async function sweepBlobs(
  { intents, blobs, clock, workQueue }: Pick<IngestDependencies, 'intents' | 'blobs' | 'clock' | 'workQueue'>,
  scope: SystemScope,
): Promise<number> {
  const before = new Date(clock.now().getTime() - ABANDONED_AFTER_MS).toISOString();
  let swept = 0;
  for (const intent of await intents.stale(scope, before)) {
    // The intent of a background addition has the id of its job.
    if (await workQueue.exists(scope, intent.id)) continue;
    swept += 1;
    if (!(await intents.abandon(intent.scope, intent.id))) continue;
    for (const prefix of intent.prefixes) await blobs.removeAll(intent.scope, prefix);
    await intents.settle(intent.scope, intent.id);
  }
  return swept;
}

import type { SystemScope } from '../../common/domain/scope.ts';
import type { IngestDependencies } from './dependencies.ts';

/** An add that is still at work is younger than this. */
const ABANDONED_AFTER_MS = 3_600_000;

/** Removes the blobs of adds that were cut off before their records were committed, and what updates left. How many those were. */
export async function sweepBlobs(
  { intents, blobs, clock }: Pick<IngestDependencies, 'intents' | 'blobs' | 'clock'>,
  scope: SystemScope,
): Promise<number> {
  const before = new Date(clock.now().getTime() - ABANDONED_AFTER_MS).toISOString();
  const stale = await intents.stale(scope, before);
  for (const intent of stale) {
    if (!(await intents.abandon(intent.scope, intent.id))) continue;
    for (const prefix of intent.prefixes) await blobs.removeAll(intent.scope, prefix);
    await intents.settle(intent.scope, intent.id);
  }
  return stale.length;
}

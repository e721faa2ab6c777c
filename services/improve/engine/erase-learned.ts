import { setTimeout as sleep } from 'node:timers/promises';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { AnswerOf } from '../../common/platform/messaging/messages.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import { claimKeys, eraserOf } from '../../common/records/improve/improve-claims.ts';
import { learnedCollections } from '../collections.ts';
import type { ImproveDependencies } from '../dependencies.ts';

type Dependencies = Pick<ImproveDependencies, 'store' | 'improveRequests' | 'claims' | 'clock' | 'ids'>;

/** How long a running improve has to stop; longer than a lease, because its process may be gone. */
const WAIT_MS = 30_000;
const POLL_MS = 20;
/** Lease for the erasure itself. */
const ERASURE_MS = 60_000;

/**
 * Removes what was learned of a dataset, and requests for improves of it. A running improve of it is stopped first. The
 * watermarks of sessions stay, so that their content is not persisted again in another dataset. `ServiceUnavailableError`
 * (retryable) when an improve does not stop.
 */
export async function eraseLearned(deps: Dependencies, dataset: DatasetRef): Promise<AnswerOf<'improve.Erase'>> {
  const owner = eraserOf(deps.ids.uuid());
  try {
    await stopImprove(deps, dataset, owner);
    return await erase(deps, dataset);
  } finally {
    await deps.claims.release(claimKeys(dataset.tenant, dataset.id, []), owner);
  }
}

async function stopImprove({ claims, clock }: Dependencies, dataset: DatasetRef, owner: string): Promise<void> {
  const end = clock.monotonicMs() + WAIT_MS;
  await claims.seize(dataset.id, owner, { nowMs: clock.now().getTime(), leaseMs: WAIT_MS + ERASURE_MS });
  while (!(await claims.hasLeft(dataset.id, owner, clock.now().getTime()))) {
    if (clock.monotonicMs() >= end) {
      const text = 'An improve of the dataset does not stop; repeat the deletion.';
      throw engramError('ServiceUnavailableError', text, { retryable: true });
    }
    await sleep(POLL_MS);
  }
}

async function erase({ store, improveRequests }: Dependencies, dataset: DatasetRef) {
  const { removed, left } = await eraseCollections(store, scopeOf(dataset), learnedCollections);
  return { removed, residue: left + (await improveRequests.eraseDataset({ tenant: dataset.tenant }, dataset.id)) };
}

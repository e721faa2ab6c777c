import { keyAllows, keyReaches } from '../../common/domain/permissions.ts';
import { type Principal, reachesTenant } from '../../common/kernel/principal.ts';
import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDependencies } from '../dependencies.ts';

/** The sync of the caller's account that is under way, as far as its API key reaches. */
export async function runningSync(
  { runs }: Pick<SyncDependencies, 'runs'>,
  principal: Principal,
): Promise<SyncRun | null> {
  const run = await runs.running(principal.id);
  return run === null || !reachesTenant(principal, run.tenant) ? null : seenBy(principal, run);
}

/** Other datasets than those of an API key do not exist for it. */
function seenBy(principal: Principal, run: SyncRun): SyncRun {
  const isSeen = run.datasetIds.map((id) => keyAllows(principal, 'write') && keyReaches(principal, id));
  return {
    ...run,
    datasetIds: run.datasetIds.filter((_, at) => isSeen[at]),
    datasetNames: run.datasetNames.filter((_, at) => isSeen[at]),
  };
}

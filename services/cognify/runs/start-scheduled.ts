import { COGNIFY_PIPELINE, type RunState } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { startCognify } from './start-cognify.ts';

type Dependencies = Pick<CognifyDependencies, 'engine' | 'configurations' | 'ledger' | 'runs' | 'scheduledStarts'>;
type Request = Omit<Parameters<typeof startCognify>[1], 'also'> & { readonly dueAt: string };

/**
 * Starts a run for one time of its schedule, once, however often and by how many it is asked for: answers the run that there
 * is. The run and that it was started for that time are one commit.
 */
export function startScheduled(deps: Dependencies, { dueAt, ...request }: Request): Promise<RunState> {
  const { runs, scheduledStarts } = deps;
  const scope = scopeOf(request.dataset);
  return retryOnConflict(async () => {
    const before = await scheduledStarts.get(scope, COGNIFY_PIPELINE);
    const known = before?.dueAt === dueAt ? await runs.get(scope, asId<RunId>(before.startedId)) : null;
    if (known !== null) return known.state;
    const noted = (run: RunId) => scheduledStarts.putWrite(COGNIFY_PIPELINE, { dueAt, startedId: run }, before);
    return startCognify(deps, { ...request, also: (run) => [noted(run)] });
  });
}

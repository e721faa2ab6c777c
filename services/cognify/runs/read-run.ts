import { isTerminal, type RunState } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { CognifyDependencies } from '../dependencies.ts';

export interface FoundRun {
  readonly run: RunState;
  readonly tenant: string;
}

/** A run by its id alone, with its items once it has ended. The caller checks who may see it. */
export async function readRun({ runs }: Pick<CognifyDependencies, 'runs'>, runId: string): Promise<FoundRun | null> {
  if (!isUuid(runId)) return null;
  const stored = await runs.get(SYSTEM_SCOPE, asId<RunId>(runId));
  if (stored === null) return null;
  const { state, scope } = stored;
  const items = isTerminal(state.status) ? await runs.items(stored) : [];
  return { run: { ...state, items }, tenant: scope.tenant };
}

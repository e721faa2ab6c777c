import { createTruthState } from '../../common/records/improve/truth-state.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { createStructureItems } from '../repositories/structure-items.ts';
import type { Stage } from '../stage.ts';
import { runCustomTasks } from '../structure/custom-tasks.ts';
import { createBuildTruthSubspace } from './build-truth-subspace.ts';
import { createGlobalContextIndex } from './global-context-index.ts';
import { createTripletEnrichment } from './triplet-enrichment.ts';

/** Stages 7 to 9. `others`: the stages before them, which tasks by name may stand for. */
export function createStructureStages(deps: ImproveDependencies, others: readonly Stage[]): readonly Stage[] {
  const structureItems = createStructureItems(deps.store);
  const structured = { ...deps, structureItems };
  return [
    createBuildTruthSubspace({ ...deps, truth: createTruthState(deps.store) }),
    createTripletEnrichment({
      ...structured,
      customTasks: (pass, custom) => runCustomTasks({ ...structured, stages: others }, pass, custom),
    }),
    createGlobalContextIndex(structured),
  ];
}

import type { ImproveDependencies } from '../dependencies.ts';
import type { Stage } from '../stage.ts';
import { createLearningStages } from './learning-stages.ts';

/** The stages that this build has: one line each. What is not listed is answered as `backend_unsupported`. */
export function createStages(deps: ImproveDependencies): readonly Stage[] {
  return [...createLearningStages(deps)];
}

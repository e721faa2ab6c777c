import { createSessionContexts } from '../../common/records/sessions/session-context.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { Stage } from '../stage.ts';
import { createFeedbackWeights } from './feedback-weights.ts';
import { createLearningStages } from './learning-stages.ts';
import { createPersistAgentTraces } from './persist-agent-traces.ts';
import { createPersistSessionQa } from './persist-session-qa.ts';
import { createStructureStages } from './structure-stages.ts';

/** The stages that this build has: one line each. What is not listed is answered as `backend_unsupported`. */
export function createStages(deps: ImproveDependencies): readonly Stage[] {
  const bridging: readonly Stage[] = [
    createFeedbackWeights({ ...deps, contexts: createSessionContexts(deps.store) }),
    createPersistSessionQa(deps),
    createPersistAgentTraces(deps),
  ];
  return [...bridging, ...createLearningStages(deps), ...createStructureStages(deps, bridging)];
}

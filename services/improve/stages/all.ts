import { createDistillations } from '../../common/records/improve/distillations.ts';
import { createPreferences } from '../../common/records/improve/preferences.ts';
import { createTruthState } from '../../common/records/improve/truth-state.ts';
import { createSessionContexts } from '../../common/records/sessions/session-context.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { Stage } from '../model.ts';
import { noteOnSession } from '../pass-sessions.ts';
import { createStructureItems } from '../repositories/structure-items.ts';
import { createDistillSessions } from './distill-sessions.ts';
import { createExtractAgentContext } from './extract-agent-context.ts';
import { createFeedbackWeights } from './feedback-weights.ts';
import { keepDocuments } from './keep-documents.ts';
import { createPersistAgentTraces } from './persist-agent-traces.ts';
import { createPersistSessionQa } from './persist-session-qa.ts';
import { runCustomTasks } from './run-tasks.ts';
import { createBuildTruthSubspace, createGlobalContextIndex, createTripletEnrichment } from './structure-stages.ts';
import { createUpdateUserPreferences } from './update-user-preferences.ts';

/** Creates the nine stages with their repositories. */
export function createStages(deps: ImproveDependencies): readonly Stage[] {
  const { store } = deps;
  const contexts = createSessionContexts(store);
  const structureItems = createStructureItems(store);
  const sessionStages: readonly Stage[] = [
    createFeedbackWeights({ ...deps, contexts }),
    createPersistSessionQa(deps),
    createPersistAgentTraces(deps),
  ];
  return [
    ...sessionStages,
    createExtractAgentContext({ ...deps, contexts }),
    createDistillSessions({
      ...deps,
      contexts,
      distillations: createDistillations(store),
      keepDocuments: (pass, documents) => keepDocuments(deps, pass, documents),
    }),
    createUpdateUserPreferences({
      ...deps,
      contexts,
      preferences: createPreferences(store),
      noteOnSession: (pass, key, notes) => noteOnSession(deps, pass, key, notes),
    }),
    createBuildTruthSubspace({ ...deps, truth: createTruthState(store) }),
    createTripletEnrichment({
      ...deps,
      structureItems,
      customTasks: (pass, custom) => runCustomTasks({ ...deps, structureItems, stages: sessionStages }, pass, custom),
    }),
    createGlobalContextIndex({ ...deps, structureItems }),
  ];
}

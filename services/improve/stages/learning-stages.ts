import { createDistillations } from '../../common/records/improve/distillations.ts';
import { createPreferences } from '../../common/records/improve/preferences.ts';
import { createSessionContexts } from '../../common/records/sessions/session-context.ts';
import { keepDocuments } from '../bridge/keep-documents.ts';
import { noteOnSession } from '../bridge/note-on-session.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { Stage } from '../stage.ts';
import { createDistillSessions } from './distill-sessions.ts';
import { createExtractAgentContext } from './extract-agent-context.ts';
import { createUpdateUserPreferences } from './update-user-preferences.ts';

/** Stages 4 to 6, with the repositories that are theirs alone. */
export function createLearningStages(deps: ImproveDependencies): readonly Stage[] {
  const contexts = createSessionContexts(deps.store);
  const preferences = createPreferences(deps.store);
  const distillations = createDistillations(deps.store);
  return [
    createExtractAgentContext({ ...deps, contexts }),
    createDistillSessions({
      ...deps,
      contexts,
      distillations,
      keepDocuments: (pass, documents) => keepDocuments(deps, pass, documents),
    }),
    createUpdateUserPreferences({
      ...deps,
      contexts,
      preferences,
      noteOnSession: (pass, key, notes) => noteOnSession(deps, pass, key, notes),
    }),
  ];
}

import { payerOf } from '../../common/domain/budget.ts';
import type { SessionKey } from '../../common/domain/session.ts';
import type { NewContextRow } from '../../common/domain/session-context.ts';
import type { ModelSource } from '../../common/ports/active-models.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { Sessions } from '../../common/records/sessions/sessions.ts';
import type { ImproveSettings } from '../dependencies.ts';
import { lessonsByModel, lessonsByRules } from '../learning/agent-lessons.ts';
import type { ImprovePass, Stage } from '../model.ts';
import { eachSession, outcomeOf, sessionOf, sessionScope } from '../pass-sessions.ts';

interface ExtractAgentContextDependencies {
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
  readonly models: ModelSource;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: ImproveSettings;
}

const NAME = 'extract_agent_context';
const PROGRESS = 'agent_context';
/** Steps read before the new ones, so that a remedy finds its failure. */
const OVERLAP = 3;
/** Newest steps that are read of a longer backlog: a model call is paid for, rules cost memory. */
const MAX_STEPS = { model: 40, rules: 1000 } as const;

/**
 * Stage 4 (cognify-improve.md §3.9): extracts lessons from the new steps of agents and keeps them as context rows of the
 * session, in the commit that moves its progress. `lessons` counts rows that are new or were confirmed.
 */
export function createExtractAgentContext(deps: ExtractAgentContextDependencies): Stage {
  return {
    name: NAME,
    async gate() {
      const { sessionMemory, autoFeedback } = deps.settings;
      if (!sessionMemory) return { status: 'skipped', reason: 'session_manager_unavailable' };
      return autoFeedback ? null : { status: 'skipped', reason: 'auto_feedback_disabled' };
    },
    async run(pass) {
      const { languageModel } = await deps.models.current(pass.principal.tenant);
      let lessons = 0;
      let isUnchanged = true;
      const failures = await eachSession({ logger: deps.logger, stage: NAME }, pass, async (key) => {
        const extracted = await extract(deps, pass, { key, languageModel });
        if (extracted === null) return;
        isUnchanged = false;
        lessons += extracted;
      });
      const outcome = outcomeOf(failures, { lessons, sessions_failed: failures.count });
      return { ...outcome, isUnchanged: isUnchanged && failures.count === 0 };
    },
  };
}

/** Extracts the lessons of a session; null when there are no new steps. */
async function extract(
  deps: ExtractAgentContextDependencies,
  pass: ImprovePass,
  { key, languageModel }: { readonly key: SessionKey; readonly languageModel: LanguageModel | null },
): Promise<number | null> {
  const scope = sessionScope(pass);
  const [session, progress] = await Promise.all([
    sessionOf(deps, pass, key),
    deps.contexts.progress(scope, key, PROGRESS),
  ]);
  if (session === null) return null;
  const { traceCount: total, startedAt } = session;
  // Progress of an earlier session with the same name does not count.
  const processed = progress?.['startedAt'] === startedAt ? Number(progress['processedTraceCount']) : 0;
  const pending = total - processed;
  if (pending <= 0) return null;
  const limit = Math.min(MAX_STEPS[languageModel === null ? 'rules' : 'model'], pending + OVERLAP, total);
  const steps = await deps.entries.tracesAfter(scope, key, total - limit, limit);
  let lessons: readonly NewContextRow[];
  if (languageModel === null) lessons = lessonsByRules(steps);
  else
    lessons = await lessonsByModel(
      languageModel,
      { steps, known: await deps.contexts.rows(scope, key) },
      callContext(pass),
    );
  pass.signal.throwIfAborted();
  const learned = await deps.contexts.learn(scope, key, lessons, {
    newId: () => deps.ids.uuid(),
    at: deps.clock.now().toISOString(),
    progress: { name: PROGRESS, state: { processedTraceCount: total, startedAt } },
  });
  return learned.length;
}

/** Makes the context of a model call, with its payer. */
function callContext({ principal, signal }: ImprovePass): ModelCallContext {
  return { scope: { tenant: principal.tenant }, purpose: 'extraction', payer: payerOf(principal), signal };
}

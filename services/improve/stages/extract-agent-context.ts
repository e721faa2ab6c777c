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
import { sessionOf } from '../bridge/pass-sessions.ts';
import type { ImproveSettings } from '../dependencies.ts';
import { lessonsByModel } from '../learning/agent-lessons.ts';
import { eachSession, outcomeOf, sessionScope } from '../learning/each-session.ts';
import { lessonsByRules } from '../learning/trace-rules.ts';
import type { ImprovePass, Stage } from '../stage.ts';

export interface ExtractAgentContextDependencies {
  readonly sessions: Pick<Sessions, 'getMany'>;
  readonly entries: Pick<SessionEntries, 'tracesAfter'>;
  readonly contexts: Pick<SessionContexts, 'rows' | 'learn' | 'progress'>;
  readonly models: Pick<ModelSource, 'current'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: Pick<ImproveSettings, 'sessionMemory' | 'autoFeedback'>;
}

const NAME = 'extract_agent_context';
const PROGRESS = 'agent_context';
/** Steps before the new ones, so that a remedy finds its failure. */
const OVERLAP = 3;
/** Of a longer backlog the newest are read: what a model reads is paid for, what rules read is memory. */
const MAX_STEPS = { model: 40, rules: 1000 } as const;

/**
 * Stage 4 (cognify-improve.md §3.9): what the new steps of agents teach, kept as context rows of the session in the commit
 * that moves its watermark. `lessons` counts rows that are new or were confirmed.
 */
export function createExtractAgentContext(deps: ExtractAgentContextDependencies): Stage {
  return {
    name: NAME,
    needsSessions: true,
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

/** Null when there are no new steps. */
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
  // Progress of a session of that name that is gone says nothing about this one.
  const processed = progress?.['startedAt'] === startedAt ? Number(progress['processedTraceCount']) : 0;
  const pending = total - processed;
  if (pending <= 0) return null;
  const limit = Math.min(MAX_STEPS[languageModel === null ? 'rules' : 'model'], pending + OVERLAP, total);
  const steps = await deps.entries.tracesAfter(scope, key, total - limit, limit);
  let lessons: readonly NewContextRow[];
  if (languageModel === null) lessons = lessonsByRules(steps);
  else
    lessons = await lessonsByModel(languageModel, { steps, known: await deps.contexts.rows(scope, key) }, asked(pass));
  pass.signal.throwIfAborted();
  const learned = await deps.contexts.learn(scope, key, lessons, {
    newId: () => deps.ids.uuid(),
    at: deps.clock.now().toISOString(),
    progress: { name: PROGRESS, state: { processedTraceCount: total, startedAt } },
  });
  return learned.length;
}

/** What the calls of a pass are for, and who pays. */
function asked({ principal, signal }: ImprovePass): ModelCallContext {
  return { scope: { tenant: principal.tenant }, purpose: 'extraction', payer: payerOf(principal), signal };
}

import type { RunState } from '../../common/domain/run.ts';
import { sessionDocumentId, type TraceEntry } from '../../common/domain/session.ts';
import type { PlannedWindow } from '../../common/records/improve/watermarks.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { type ImprovePass, PartlyDoneError, type Stage } from '../model.ts';
import { reportPersisted } from '../pass-sessions.ts';
import { keepDocuments, type PersistedDocument } from './keep-documents.ts';
import { type Backlog, backlogsOf, completeWindow, planWindow, sessionFileName } from './session-backlog.ts';

type Dependencies = Pick<
  ImproveDependencies,
  'sessions' | 'entries' | 'watermarks' | 'store' | 'messenger' | 'settings'
>;

const NODE_SET = 'agent_trace_feedbacks';

/** Sessions that get one window each per run of cognify. */
const SESSIONS_TOGETHER = 10;

/**
 * Stage 3 (cognify-improve.md §3.8): persists the steps of agents as documents of the dataset, in windows, oldest first, the
 * sessions in turn. Windows beyond the limit wait for the next improve, which begins at a window that failed.
 */
export function createPersistAgentTraces(deps: Dependencies): Stage {
  return {
    name: 'persist_agent_traces',
    async gate(pass) {
      const backlogs = await backlogsOf(deps, pass, 'agent_traces');
      return backlogs.length > 0 ? null : { status: 'already_completed', reason: 'no_new_trace_steps' };
    },
    async run(pass) {
      const limit = deps.settings.traceWindowsPerRun || Number.POSITIVE_INFINITY;
      let waiting = await backlogsOf(deps, pass, 'agent_traces');
      let windows = 0;
      let run: RunState | null = null;
      const counts = () => ({ sessions: pass.sessions.length, windows });
      while (waiting.length > 0 && windows < limit) {
        const together = waiting.slice(0, Math.min(SESSIONS_TOGETHER, limit - windows));
        try {
          const kept = await keepWindows(deps, pass, together);
          windows += together.length;
          run = kept.run ?? run;
          // Sessions that had their turn come last, so that none waits for a long one.
          waiting = [...waiting.slice(together.length), ...kept.left.filter(({ from, to }) => to > from)];
        } catch (error) {
          throw new PartlyDoneError(error, counts());
        }
      }
      return { status: 'completed', counts: counts(), ...(run === null ? {} : { run }) };
    },
  };
}

/** Persists one window of each backlog. A window is only completed when all of them are in memory. */
async function keepWindows(deps: Dependencies, pass: ImprovePass, backlogs: readonly Backlog[]) {
  pass.signal.throwIfAborted();
  const steps = deps.settings.traceWindowSteps || Number.POSITIVE_INFINITY;
  const planned = await Promise.all(
    backlogs.map(async (backlog) => ({
      backlog,
      plan: await planWindow(deps, pass, backlog, async () => Math.min(backlog.to, backlog.from + steps)),
    })),
  );
  const documents = await Promise.all(
    planned.map(async ({ backlog: { session, from }, plan: { window } }) => {
      const scope = { tenant: pass.principal.tenant };
      const entries = await deps.entries.tracesAfter(scope, session, from, window.to - from);
      return documentOf(session, window, entries);
    }),
  );
  const present = documents.filter((document) => document !== null);
  const run = present.length === 0 ? null : await keepDocuments(deps, pass, present);
  const left: Backlog[] = [];
  for (const { backlog, plan } of planned) {
    await reportPersisted(deps, pass, backlog.session, { traces: plan.window.to });
    left.push(await completeWindow(deps, pass, backlog, plan));
  }
  return { left, run };
}

/** Makes the document of a window; null when its steps have no text. */
function documentOf(
  { user, session, startedAt, nodeSets }: Backlog['session'],
  { from, to }: PlannedWindow,
  steps: readonly TraceEntry[],
): PersistedDocument | null {
  const lines = steps.map(stepText).filter((line) => line !== '');
  const last = steps.at(-1);
  if (lines.length === 0 || last === undefined) return null;
  return {
    key: `agent_traces/${sessionDocumentId({ user, session })}/${startedAt}/${from + 1}-${to}`,
    name: sessionFileName(session, `steps ${from + 1}-${to}`),
    text: `Session ID: ${session}\n\n${lines.join('\n')}`,
    nodeSets: [...new Set([NODE_SET, ...(nodeSets ?? [])])],
    externalMetadata: { effective_date: last.time },
  };
}

/** Returns the feedback about a step; when that only says whether it succeeded, also the output of the step. */
function stepText({ originFunction, errorMessage, methodReturnValue, sessionFeedback }: TraceEntry): string {
  const feedback = sessionFeedback.trim();
  const plain = [
    `${originFunction} succeeded.`,
    `${originFunction} failed.`,
    `${originFunction} failed. Reason: ${errorMessage}.`,
  ];
  if (!plain.some((line) => line.trim() === feedback) || methodReturnValue === null) return feedback;
  const output = typeof methodReturnValue === 'string' ? methodReturnValue : JSON.stringify(methodReturnValue);
  return output === '' ? feedback : `${feedback} Output: ${output}`;
}

import type { RunState } from '../../common/domain/run.ts';
import { type QaEntry, sessionDocumentId } from '../../common/domain/session.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { PlannedWindow } from '../../common/records/improve/watermarks.ts';
import { saysSomething } from '../../common/text/repetition/fingerprint.ts';
import { ACKNOWLEDGEMENT, isOwnAnswer, withoutEvidence } from '../../common/text/repetition/own-answers.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { type ImprovePass, isBudgetError, type Stage } from '../model.ts';
import { reportPersisted } from '../pass-sessions.ts';
import { beyondAcknowledgement } from './beyond-acknowledgement.ts';
import { keepDocuments, type PersistedDocument } from './keep-documents.ts';
import { type Backlog, backlogsOf, completeWindow, planWindow, sessionFileName } from './session-backlog.ts';

type Dependencies = Pick<ImproveDependencies, 'sessions' | 'entries' | 'watermarks' | 'store' | 'messenger'>;

/** Node set of all documents from sessions. */
const NODE_SET = 'user_sessions_from_cache';

/** Limits of one document; a long backlog becomes several, each durable before the next is read. */
const WINDOW_ENTRIES = 500;
const WINDOW_CHARACTERS = 2_000_000;
const PAGE = 50;

/**
 * Stage 2 (cognify-improve.md §3.7): persists new questions and answers as documents of the dataset, each exactly once. Its
 * failure ends the improve, because without it nothing of a session would be remembered.
 */
export function createPersistSessionQa(deps: Dependencies): Stage {
  return {
    name: 'persist_session_qa',
    async gate(pass) {
      const backlogs = await backlogsOf(deps, pass, 'session_qa');
      return backlogs.length > 0 ? null : { status: 'already_completed', reason: 'no_new_entries' };
    },
    async run(pass) {
      let run: RunState | null = null;
      for (const backlog of await backlogsOf(deps, pass, 'session_qa')) {
        let left = backlog;
        while (left.from < left.to) {
          const kept = await keepWindow(deps, pass, left);
          left = kept.left;
          run = kept.run ?? run;
        }
      }
      return { status: 'completed', counts: { sessions: pass.sessions.length }, ...(run === null ? {} : { run }) };
    },
  };
}

async function keepWindow(deps: Dependencies, pass: ImprovePass, backlog: Backlog) {
  pass.signal.throwIfAborted();
  const { session, from } = backlog;
  const planned = await planWindow(deps, pass, backlog, async () => {
    const entries = await readEntries(deps, pass, backlog, WINDOW_CHARACTERS);
    return entries.at(-1)?.number ?? backlog.to;
  });
  const entries = await readEntries(deps, pass, { ...backlog, to: planned.window.to });
  const document = documentOf(session, planned.window, entries);
  const run = document === null ? null : await keep(deps, pass, document);
  // Before the watermark: after a crash in between the report is repeated, so that entries can expire.
  await reportPersisted(deps, pass, session, { qas: planned.window.to });
  return { left: await completeWindow(deps, pass, { ...backlog, from }, planned), run };
}

/** Reads entries from the oldest on, until they have `characters`. */
async function readEntries(
  { entries }: Dependencies,
  { principal }: ImprovePass,
  { session, from, to }: Backlog,
  characters = Number.POSITIVE_INFINITY,
): Promise<readonly QaEntry[]> {
  const read: QaEntry[] = [];
  let length = 0;
  for (;;) {
    const wanted = Math.min(PAGE, Math.min(to - from, WINDOW_ENTRIES) - read.length);
    if (wanted <= 0) return read;
    const after = read.at(-1)?.number ?? from;
    const page = await entries.qasAfter({ tenant: principal.tenant }, session, after, wanted);
    for (const entry of page) {
      if (entry.number > to) return read;
      read.push(entry);
      length += entry.question.length + entry.answer.length;
      if (length >= characters) return read;
    }
    if (page.length < wanted) return read;
  }
}

/** Makes the document of a window; null when the user states nothing in it. */
function documentOf(
  { user, session, startedAt, nodeSets }: Backlog['session'],
  { from, to }: PlannedWindow,
  entries: readonly QaEntry[],
): PersistedDocument | null {
  const last = entries.at(-1);
  const turns = entries.map(turnText).filter((text) => text !== '');
  if (turns.length === 0) return null;
  return {
    key: `session_qa/${sessionDocumentId({ user, session })}/${startedAt}/${from + 1}-${to}`,
    name: sessionFileName(session, `answers ${from + 1}-${to}`),
    text: `Session ID: ${session}\n\n${turns.join('')}`,
    nodeSets: [...new Set([NODE_SET, ...(nodeSets ?? [])])],
    externalMetadata: last === undefined ? {} : { effective_date: last.time },
  };
}

/**
 * Returns the text of a turn; '' when there is nothing to persist. An answer from memory is not persisted again: only what the
 * user stated remains. An answer that only acknowledges the question is left out too.
 */
function turnText({ question, answer: given, usedGraphElements, isAcknowledgement }: QaEntry): string {
  const isFromMemory = (usedGraphElements?.nodeIds ?? []).length > 0;
  const answer = isFromMemory ? withoutEvidence(given) : given;
  const says = saysSomething(`Question: ${question.trim()}`);
  if (!isOwnAnswer(answer, isFromMemory)) {
    // When the user stated nothing, the answer is the whole content.
    const left = !says ? answer : isAcknowledgement ? null : beyondAcknowledgement(question, answer);
    return left === null ? `Question: ${question}\n\n` : `Question: ${question}\n\nAnswer: ${left}\n\n`;
  }
  const isStatement = /[.!]["”'’)]*$/u.test(question.trim()) && says;
  return isStatement && answer !== ACKNOWLEDGEMENT ? `Question: ${question}\n\n` : '';
}

async function keep(deps: Dependencies, pass: ImprovePass, document: PersistedDocument): Promise<RunState> {
  try {
    return await keepDocuments(deps, pass, [document]);
  } catch (error) {
    // The message of an unknown error is not for clients.
    if (isBudgetError(error) || !isEngramError(error)) throw error;
    throw engramError('CogneeSystemError', `Failed to cognify session data: ${error.message}`, { cause: error });
  }
}

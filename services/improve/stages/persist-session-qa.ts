import type { RunState } from '../../common/domain/run.ts';
import { type QaEntry, sessionDocumentId } from '../../common/domain/session.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { PlannedWindow } from '../../common/records/improve/watermarks.ts';
import { saysSomething } from '../../common/text/repetition/fingerprint.ts';
import { ACKNOWLEDGEMENT, isOwnAnswer, withoutEvidence } from '../../common/text/repetition/own-answers.ts';
import { beyondAcknowledgement } from '../bridge/beyond-acknowledgement.ts';
import { sessionFileName } from '../bridge/file-name.ts';
import { type BridgedDocument, keepDocuments } from '../bridge/keep-documents.ts';
import { type Backlog, backlogsOf, plannedWindow, windowDone } from '../bridge/pending-entries.ts';
import { tellBridged } from '../bridge/tell-bridged.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { isBudgetError } from '../engine/improve-result.ts';
import type { ImprovePass, Stage } from '../stage.ts';

type Dependencies = Pick<ImproveDependencies, 'sessions' | 'entries' | 'watermarks' | 'store' | 'messenger'>;

/** Node set of all that comes from sessions. */
const NODE_SET = 'user_sessions_from_cache';

/** One document; a long backlog becomes several, each durable before the next is read. */
const WINDOW_ENTRIES = 500;
const WINDOW_CHARACTERS = 2_000_000;
const PAGE = 50;

/**
 * Stage 2 (cognify-improve.md §3.7): new questions and answers become documents of the dataset, each once, however often
 * improve runs or dies. Without it nothing of a session would be remembered, so its failure ends the improve.
 */
export function createPersistSessionQa(deps: Dependencies): Stage {
  return {
    name: 'persist_session_qa',
    needsSessions: true,
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

async function keepWindow(
  deps: Dependencies,
  pass: ImprovePass,
  backlog: Backlog,
): Promise<{ readonly left: Backlog; readonly run: RunState | null }> {
  pass.signal.throwIfAborted();
  const { session, from } = backlog;
  const planned = await plannedWindow(deps, pass, backlog, async () => {
    const entries = await readEntries(deps, pass, backlog, WINDOW_CHARACTERS);
    return entries.at(-1)?.number ?? backlog.to;
  });
  const entries = await readEntries(deps, pass, { ...backlog, to: planned.window.to });
  const document = documentOf(session, planned.window, entries);
  const run = document === null ? null : await keep(deps, pass, document);
  // Before the watermark: who dies in between repeats it, and nothing is kept for ever because nobody was told.
  await tellBridged(deps, pass, session, { qas: planned.window.to });
  return { left: await windowDone(deps, pass, { ...backlog, from }, planned), run };
}

/** From the oldest on, until there are `characters` of them. */
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

/** Null when nobody but the service itself says anything. */
function documentOf(
  { user, session, startedAt, nodeSets }: Backlog['session'],
  { from, to }: PlannedWindow,
  entries: readonly QaEntry[],
): BridgedDocument | null {
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
 * What memory said by itself is no new memory: of such a turn stays what the user stated in a sentence. What an answer is
 * only acknowledged for is feedback, which is kept as that. That a statement was understood says nothing either, in
 * whatever words.
 */
function turnText({ question, answer: given, usedGraphElements, isAcknowledgement }: QaEntry): string {
  const isFromMemory = (usedGraphElements?.nodeIds ?? []).length > 0;
  const answer = isFromMemory ? withoutEvidence(given) : given;
  const says = saysSomething(`Question: ${question.trim()}`);
  if (!isOwnAnswer(answer, isFromMemory)) {
    // Of what the user did not state, the answer is all there is.
    const left = !says ? answer : isAcknowledgement ? null : beyondAcknowledgement(question, answer);
    return left === null ? `Question: ${question}\n\n` : `Question: ${question}\n\nAnswer: ${left}\n\n`;
  }
  const isStatement = /[.!]["”'’)]*$/u.test(question.trim()) && says;
  return isStatement && answer !== ACKNOWLEDGEMENT ? `Question: ${question}\n\n` : '';
}

async function keep(deps: Dependencies, pass: ImprovePass, document: BridgedDocument): Promise<RunState> {
  try {
    return await keepDocuments(deps, pass, [document]);
  } catch (error) {
    // An error that is none of ours tells a client nothing.
    if (isBudgetError(error) || !isEngramError(error)) throw error;
    throw engramError('CogneeSystemError', `Failed to cognify session data: ${error.message}`, { cause: error });
  }
}

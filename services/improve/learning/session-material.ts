import type { QaEntry, Session, SessionKey } from '../../common/domain/session.ts';
import { isDistillable } from '../../common/domain/session-context.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { Distillation, Distillations } from '../../common/records/improve/distillations.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { Sessions } from '../../common/records/sessions/sessions.ts';
import type { ImprovePass } from '../model.ts';
import { sessionOf, sessionScope } from '../pass-sessions.ts';
import { type Candidate, candidateOfRow, candidatesOfTurn, isLasting } from './candidates.ts';

export interface MaterialDependencies {
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
  readonly distillations: Distillations;
}

/** New content of a session since it was last distilled. */
export interface SessionMaterial {
  readonly session: Session;
  readonly before: Distillation;
  readonly candidates: readonly Candidate[];
  /** Turns that candidates come from, and the turn before each, shortened. */
  readonly turns: readonly QaEntry[];
  /** Number of the turn that each candidate of a turn comes from. */
  readonly turnOf: ReadonlyMap<string, number>;
}

/** Answers may have a megabyte each, so few are held at a time. */
const PAGE = 50;
/** Characters that are kept of a text for the record that a model reads. */
const MAX_KEPT = 8_000;

/**
 * Returns the candidates of the new turns, of turns with new feedback, and of the new context rows. Null when the session does
 * not exist or has nothing new. The cost depends on the new content only.
 */
export async function materialOf(
  deps: MaterialDependencies,
  pass: ImprovePass,
  key: SessionKey,
  reading: { readonly extractor: Extractor | null; readonly context: ModelCallContext; readonly byModel: boolean },
): Promise<SessionMaterial | null> {
  const scope = sessionScope(pass);
  const session = await sessionOf(deps, pass, key);
  if (session === null) return null;
  const [before, rows] = await Promise.all([
    deps.distillations.of(scopeOf(pass.dataset), session),
    deps.contexts.rows(scope, key),
  ]);
  const handled = new Set(before.rows);
  const candidates = rows
    .filter((row) => isDistillable(row) && !handled.has(row.id) && (reading.byModel || isLasting(row)))
    .map(candidateOfRow);
  const hasTurns = session.qaCount > before.turns || session.feedbackCount > before.feedback;
  if (!hasTurns && candidates.length === 0) return null;
  const turns = new Map<number, QaEntry>();
  const turnOf = new Map<string, number>();
  let previous: QaEntry | null = null;
  const read = async (turn: QaEntry, rated: boolean) => {
    const found = await candidatesOfTurn(reading.extractor, turn, { rated, context: reading.context });
    const fresh = found.filter(({ id }) => !handled.has(id));
    for (const { id } of fresh) turnOf.set(id, turn.number);
    candidates.push(...fresh);
    if (fresh.length > 0) for (const shown of [previous, turn]) if (shown !== null) turns.set(shown.number, cut(shown));
    previous = rated ? null : turn;
  };
  if (session.feedbackCount > before.feedback) {
    const newest = { done: before.feedback, until: session.feedbackCount };
    for await (const turn of paged(
      (after) => deps.entries.feedbackAfter(scope, key, after, PAGE),
      numberOfFeedback,
      newest,
    )) {
      pass.signal.throwIfAborted();
      if (turn.number <= before.turns) await read(turn, true);
    }
  }
  previous = null;
  const newest = { done: before.turns, until: session.qaCount };
  for await (const turn of paged(
    (after) => deps.entries.qasAfter(scope, key, after, PAGE),
    ({ number }) => number,
    newest,
  )) {
    pass.signal.throwIfAborted();
    await read(turn, false);
  }
  return { session, before, candidates, turns: [...turns.values()], turnOf };
}

function numberOfFeedback({ feedbackNumber }: QaEntry): number {
  return feedbackNumber ?? 0;
}

/** Yields the entries up to a number, read page by page. */
async function* paged(
  read: (after: number) => Promise<readonly QaEntry[]>,
  numberOf: (entry: QaEntry) => number,
  { done, until }: { readonly done: number; readonly until: number },
): AsyncGenerator<QaEntry> {
  let after = done;
  while (after < until) {
    const page = await read(after);
    for (const entry of page) if (numberOf(entry) <= until) yield entry;
    const last = page.at(-1);
    if (last === undefined) return;
    after = numberOf(last);
  }
}

function cut(turn: QaEntry): QaEntry {
  const { question, answer, feedbackText } = turn;
  return {
    ...turn,
    context: '',
    question: question.slice(0, MAX_KEPT),
    answer: answer.slice(0, MAX_KEPT),
    feedbackText: feedbackText?.slice(0, MAX_KEPT) ?? null,
  };
}

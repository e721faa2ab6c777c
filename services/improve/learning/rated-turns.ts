import type { QaEntry, Session } from '../../common/domain/session.ts';
import type { PreferenceProgress } from '../../common/records/improve/preferences.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import { remarksOf } from '../bridge/pass-sessions.ts';
import type { ImprovePass } from '../stage.ts';
import { sessionScope } from './each-session.ts';

export interface RatedTurnsDependencies {
  readonly entries: Pick<SessionEntries, 'feedbackAfter' | 'qa'>;
  readonly contexts: Pick<SessionContexts, 'feedback'>;
}

export interface RatedTurn {
  readonly turn: Pick<QaEntry, 'id' | 'number' | 'time'>;
  /** 1 to 5. */
  readonly rating: number;
  /** Nodes that the answer used. */
  readonly nodes: readonly string[];
}

export interface RatedTurns {
  readonly turns: readonly RatedTurn[];
  /** What is read by them. */
  readonly feedback: number;
  readonly remarks: string | null;
}

const PAGE = 20;
/** An answer is made from fewer; a caller may name any number. */
const MAX_NODES = 200;
const MAX_ID = 200;

/**
 * Turns whose rating is new, at most `limit` of those rated by a score. What users only said counts when no score was given,
 * the last of it. Turns that moved the weights already are left out.
 */
export async function ratedTurns(
  deps: RatedTurnsDependencies,
  pass: ImprovePass,
  {
    session,
    progress,
    limit,
  }: { readonly session: Session; readonly progress: PreferenceProgress; readonly limit: number },
): Promise<RatedTurns> {
  const scope = sessionScope(pass);
  const turns: RatedTurn[] = [];
  let { feedback } = progress;
  for (let left = limit; feedback < session.feedbackCount && left > 0; left -= PAGE) {
    const page = await deps.entries.feedbackAfter(scope, session, feedback, PAGE);
    for (const turn of page) {
      if (turn.feedbackScore !== null) turns.push(...rated(turn, turn.feedbackScore));
    }
    feedback = page.length < PAGE ? session.feedbackCount : (page.at(-1)?.feedbackNumber ?? session.feedbackCount);
  }
  const said = await remarksOf(deps, pass, session, progress.remarks);
  const last = new Map<string, number>();
  for (const { referencedQaIds, referencedQaRating } of said) {
    if (referencedQaRating !== null) for (const id of referencedQaIds) last.set(id, referencedQaRating);
  }
  for (const [id, rating] of last) {
    const turn = await deps.entries.qa(scope, session, id);
    if (turn !== null && turn.feedbackScore === null) turns.push(...rated(turn, rating));
  }
  return { turns, feedback, remarks: said.at(-1)?.createdAt ?? progress.remarks };
}

function rated(entry: QaEntry, rating: number): readonly RatedTurn[] {
  if (entry.memifyMetadata?.['preference_weights_applied'] === true) return [];
  const { id, number, time } = entry;
  return [{ turn: { id, number, time }, rating, nodes: nodesOf(entry) }];
}

/** Those that can be ids of nodes, each once. */
export function nodesOf({ usedGraphElements }: Pick<QaEntry, 'usedGraphElements'>): readonly string[] {
  const nodes = (usedGraphElements?.nodeIds ?? []).slice(0, 10 * MAX_NODES);
  const fit = nodes.filter((id) => id !== '' && id.length <= MAX_ID && id.isWellFormed());
  return [...new Set(fit)].toSorted().slice(0, MAX_NODES);
}

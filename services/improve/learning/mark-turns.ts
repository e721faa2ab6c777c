import type { QaEntry, Session, SessionKey } from '../../common/domain/session.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { SessionNote } from '../../common/platform/messaging/methods/ingest.ts';
import type { PreferenceProgress, Preferences } from '../../common/records/improve/preferences.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { ImprovePass } from '../stage.ts';
import { sessionScope } from './each-session.ts';
import { nodesOf } from './rated-turns.ts';

export interface MarkTurnsDependencies {
  readonly store: Pick<DocumentStore, 'commit'>;
  readonly entries: Pick<SessionEntries, 'feedbackAfter' | 'qasAfter'>;
  readonly preferences: Preferences;
  noteOnSession(pass: ImprovePass, key: SessionKey, notes: readonly SessionNote[]): Promise<unknown>;
}

const PAGE = 50;
const NEUTRAL_RATING = 3;

/**
 * Notes on the answers of a session what was counted and applied since the last marks; repeated until it is noted. `known`:
 * its progress as it stands, if that was read already.
 */
export async function markTurns(
  deps: MarkTurnsDependencies,
  pass: ImprovePass,
  session: Session,
  known?: PreferenceProgress,
): Promise<void> {
  const progress = known ?? (await deps.preferences.progress(scopeOf(pass.dataset), session));
  const { turns, feedback, markedTurns, markedFeedback } = progress;
  if (turns === markedTurns && feedback === markedFeedback) return;
  const scope = sessionScope(pass);
  for (let after = markedTurns; after < turns; ) {
    const page = await deps.entries.qasAfter(scope, session, after, PAGE);
    const counted = page.filter(({ number }) => number <= turns);
    await note(
      deps,
      pass,
      session,
      counted.map((turn) => noteOf(turn, { preference_turn_counted: true }, null)),
    );
    after = page.at(-1)?.number ?? turns;
  }
  for (let after = markedFeedback; after < feedback; ) {
    const page = await deps.entries.feedbackAfter(scope, session, after, PAGE);
    const worked = page.filter(({ feedbackNumber }) => (feedbackNumber ?? 0) <= feedback);
    await note(
      deps,
      pass,
      session,
      worked.flatMap((turn) => applied(turn)),
    );
    after = page.at(-1)?.feedbackNumber ?? feedback;
  }
  const marked = { ...progress, markedTurns: turns, markedFeedback: feedback };
  await deps.store.commit(scopeOf(pass.dataset), [deps.preferences.progressWrite(session, marked)]);
}

/** A neutral rating, or none, moves nothing and is not marked; one of an answer that used nothing could not move anything. */
function applied(turn: QaEntry): readonly SessionNote[] {
  const { feedbackScore, feedbackNumber } = turn;
  if (feedbackScore === null || feedbackScore === NEUTRAL_RATING) return [];
  return [noteOf(turn, { preference_weights_applied: nodesOf(turn).length > 0 }, feedbackNumber)];
}

function noteOf(
  { id }: QaEntry,
  memifyMetadata: SessionNote['memifyMetadata'],
  ofFeedback: number | null,
): SessionNote {
  return { qaId: id, memifyMetadata, ofFeedback };
}

async function note(
  { noteOnSession }: MarkTurnsDependencies,
  pass: ImprovePass,
  session: Session,
  notes: readonly SessionNote[],
): Promise<void> {
  const { user, session: name } = session;
  if (notes.length > 0) await noteOnSession(pass, { user, session: name }, notes);
}

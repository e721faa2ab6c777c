import type { QaEntry, Session, SessionKey } from '../../common/domain/session.ts';
import { isUsable } from '../../common/domain/session-context.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { SessionNote } from '../../common/platform/messaging/messages.ts';
import type { PreferenceProgress, Preferences, UserPreference } from '../../common/records/improve/preferences.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { DocumentWriter } from '../../common/storage/ports/document-store.ts';
import type { ImprovePass } from '../model.ts';
import { remarksOf, sessionScope } from '../pass-sessions.ts';
import { statementsOf } from './statements.ts';

interface PreferenceDependencies {
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
}

export interface RatedTurn {
  readonly turn: Pick<QaEntry, 'id' | 'number' | 'time'>;
  /** 1 to 5. */
  readonly rating: number;
  /** Nodes that the answer used. */
  readonly nodes: readonly string[];
}

interface RatedTurns {
  readonly turns: readonly RatedTurn[];
  /** Numbers of the last feedback and the last remark that were read. */
  readonly feedback: number;
  readonly remarks: string | null;
}

const RATED_PAGE = 20;
/** Limit of nodes of one answer; a client may name any number. */
const MAX_NODES = 200;
const MAX_ID = 200;

/**
 * Returns turns with a new rating, at most `limit` of those with a score. Without a score the last remark counts. Turns whose
 * rating was already applied are left out.
 */
export async function ratedTurns(
  deps: PreferenceDependencies,
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
  for (let left = limit; feedback < session.feedbackCount && left > 0; left -= RATED_PAGE) {
    const page = await deps.entries.feedbackAfter(scope, session, feedback, RATED_PAGE);
    for (const turn of page) {
      if (turn.feedbackScore !== null) turns.push(...rated(turn, turn.feedbackScore));
    }
    feedback =
      page.length < RATED_PAGE ? session.feedbackCount : (page.at(-1)?.feedbackNumber ?? session.feedbackCount);
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

/** Returns the distinct strings that can be ids of nodes. */
function nodesOf({ usedGraphElements }: Pick<QaEntry, 'usedGraphElements'>): readonly string[] {
  const nodes = (usedGraphElements?.nodeIds ?? []).slice(0, 10 * MAX_NODES);
  const fit = nodes.filter((id) => id !== '' && id.length <= MAX_ID && id.isWellFormed());
  return [...new Set(fit)].toSorted().slice(0, MAX_NODES);
}

interface NewLines {
  /** Newest first. */
  readonly lines: readonly string[];
  /** Time of the newest context row that was read. */
  readonly watermark: string | null;
}

const MAX_TEXT = 2_000;
const PAGE = 50;

/**
 * Returns new preferences: usable context rows, and sentences of new turns with the wording of a preference, without those that
 * a line already has.
 */
export async function newLines(
  deps: PreferenceDependencies,
  pass: ImprovePass,
  {
    steps,
    known,
  }: {
    readonly steps: readonly { readonly session: Session; readonly before: PreferenceProgress }[];
    readonly known: UserPreference;
  },
): Promise<NewLines> {
  const scope = sessionScope(pass);
  const found: { readonly at: string; readonly text: string }[] = [];
  let watermark = known.textWatermark;
  for (const { session, before } of steps) {
    for (const row of await deps.contexts.rows(scope, session)) {
      if (row.section !== 'preferences' || !isUsable(row)) continue;
      if (known.textWatermark !== null && row.createdAt <= known.textWatermark) continue;
      found.push({ at: row.createdAt, text: row.content });
      if (watermark === null || row.createdAt > watermark) watermark = row.createdAt;
    }
    for (let after = before.turns; after < session.qaCount; ) {
      const page = await deps.entries.qasAfter(scope, session, after, PAGE);
      for (const { question, time, number } of page) {
        if (number > session.qaCount) continue;
        const stated = statementsOf(question).filter(({ kind }) => kind === 'preference');
        found.push(...stated.map(({ text }) => ({ at: time, text })));
      }
      after = page.at(-1)?.number ?? session.qaCount;
    }
  }
  const said = new Set(known.text.toLowerCase().split('\n'));
  const newest = found.toSorted((left, right) => (left.at < right.at ? 1 : left.at > right.at ? -1 : 0));
  const lines: string[] = [];
  for (const { text } of newest) {
    if (said.has(text.toLowerCase())) continue;
    said.add(text.toLowerCase());
    lines.push(text);
  }
  return { lines, watermark };
}

/** Adds the new lines before the old ones; whole lines at the end are dropped when the text is too long. */
export function withLines(known: UserPreference, { lines, watermark }: NewLines): UserPreference {
  const all = [...lines, ...known.text.split('\n')].filter((text) => text !== '');
  const kept: string[] = [];
  let length = 0;
  for (const text of all) {
    length += text.length + 1;
    if (length > MAX_TEXT + 1) break;
    kept.push(text);
  }
  return { ...known, text: kept.join('\n'), textWatermark: watermark };
}

interface MarkTurnsDependencies {
  readonly store: DocumentWriter;
  readonly entries: SessionEntries;
  readonly preferences: Preferences;
  noteOnSession(pass: ImprovePass, key: SessionKey, notes: readonly SessionNote[]): Promise<unknown>;
}

export const NEUTRAL_RATING = 3;

/**
 * Notes on the answers of a session which turns were counted and which ratings applied since the last notes; repeated until they
 * are noted. `known`: the current progress, if it was already read.
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

/** Makes the note on a rated turn: applied when the answer used nodes. A neutral rating moves nothing and is not noted. */
function applied(turn: QaEntry): readonly SessionNote[] {
  const { feedbackScore, feedbackNumber } = turn;
  if (feedbackScore === null || feedbackScore === NEUTRAL_RATING) return [];
  return [noteOf(turn, { preference_weights_applied: nodesOf(turn).length > 0 }, feedbackNumber)];
}

function noteOf({ id }: QaEntry, memifyMetadata: SessionNote['memifyMetadata'], ofFeedback: number | null) {
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

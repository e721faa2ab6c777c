import {
  decayedWeight,
  forgottenAtTurn,
  isForgotten,
  movedWeight,
  NEUTRAL_PREFERENCE,
} from '../../common/domain/preference.ts';
import type { Session, SessionKey } from '../../common/domain/session.ts';
import { compareText } from '../../common/kernel/compare-text.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { SessionNote } from '../../common/platform/messaging/messages.ts';
import type { PreferenceProgress, Preferences, PreferenceWeight } from '../../common/records/improve/preferences.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { Sessions } from '../../common/records/sessions/sessions.ts';
import type { DocumentWriter, Write } from '../../common/storage/ports/document-store.ts';
import type { ImproveSettings } from '../dependencies.ts';
import { markTurns, NEUTRAL_RATING, newLines, type RatedTurn, ratedTurns, withLines } from '../learning/preferences.ts';
import type { ImprovePass, Stage } from '../model.ts';
import { sessionsOf } from '../pass-sessions.ts';

interface UpdateUserPreferencesDependencies {
  readonly store: DocumentWriter;
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
  readonly preferences: Preferences;
  readonly settings: ImproveSettings;
  /** Notes on answers what was made of them. */
  noteOnSession(pass: ImprovePass, key: SessionKey, notes: readonly SessionNote[]): Promise<unknown>;
}

/** Ratings of one commit, of all sessions together. */
const TURNS_AT_ONCE = 40;
const FORGOTTEN_AT_ONCE = 500;

/**
 * Stage 6 (cognify-improve.md §3.11): learns the caller's preferences about the dataset. Ratings move the weights of the nodes
 * that answers used, turns let them decay, stated preferences become lines of a text. Weights and progress are one commit, so
 * that nothing is counted twice; the notes on the sessions follow.
 */
export function createUpdateUserPreferences(deps: UpdateUserPreferencesDependencies): Stage {
  return {
    name: 'update_user_preferences',
    async gate() {
      return deps.settings.personalizationEnabled ? null : { status: 'skipped', reason: 'personalization_disabled' };
    },
    async run(pass) {
      const sessions = await sessionsOf(deps, pass);
      let progress: ReadonlyMap<Session, PreferenceProgress> = new Map();
      const counts = { turns_applied: 0, edges_written: 0, edges_pruned: 0, text_lines_added: 0 };
      let hasChanged = false;
      for (let isMore = true; isMore; ) {
        pass.signal.throwIfAborted();
        const round = await countTurns(deps, pass, sessions);
        ({ isMore, progress } = round);
        hasChanged ||= round.hasChanged;
        counts.turns_applied += round.applied;
        counts.edges_written += round.written;
        counts.text_lines_added += round.lines;
      }
      counts.edges_pruned = hasChanged ? await forget(deps, pass) : 0;
      for (const session of sessions) await markTurns(deps, pass, session, progress.get(session));
      return { status: 'completed', counts, ...(hasChanged ? {} : { reason: 'no_changes' }) };
    },
  };
}

/** Commits the turns since the last time, some of the ratings, and the new lines. */
async function countTurns(deps: UpdateUserPreferencesDependencies, pass: ImprovePass, sessions: readonly Session[]) {
  const scope = scopeOf(pass.dataset);
  const user = pass.principal.id;
  const known = await deps.preferences.of(scope, user);
  const steps: { session: Session; before: PreferenceProgress; after: PreferenceProgress }[] = [];
  const rated: RatedTurn[] = [];
  for (const session of sessions) {
    const before = await deps.preferences.progress(scope, session);
    const limit = TURNS_AT_ONCE - rated.length;
    const found = await ratedTurns(deps, pass, { session, progress: before, limit });
    rated.push(...found.turns);
    const { feedback, remarks } = found;
    steps.push({ session, before, after: { ...before, turns: session.qaCount, feedback, remarks } });
  }
  const newTurns = steps.reduce((sum, { session, before }) => sum + session.qaCount - before.turns, 0);
  const lines = await newLines(deps, pass, { steps, known });
  const turns = known.turns + newTurns;
  const { weights, applied } = await movedWeights(deps, pass, { rated, turns });
  const hasMoved = steps.some(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
  const preference = { ...withLines(known, lines), turns };
  const isWritten = weights.length > 0 || lines.lines.length > 0 || (known.version > 0 && newTurns > 0);
  if (hasMoved || isWritten) {
    const writes: readonly Write[] = [
      ...(isWritten ? [deps.preferences.preferenceWrite(user, preference)] : []),
      ...weights.map(({ version, ...weight }) => deps.preferences.weightWrite(user, weight, version)),
      ...steps.map(({ session, after }) => deps.preferences.progressWrite(session, after)),
    ];
    await deps.store.commit(scope, writes);
  }
  return {
    // A committed progress has another version.
    progress: new Map(hasMoved || isWritten ? [] : steps.map(({ session, before }) => [session, before])),
    applied,
    written: weights.length,
    lines: lines.lines.length,
    hasChanged: newTurns > 0 || isWritten,
    isMore: steps.some(({ session, after }) => after.feedback < session.feedbackCount),
  };
}

/** Moves the weights of the nodes of the rated turns in order of time, each from its decayed weight. */
async function movedWeights(
  { preferences, settings }: UpdateUserPreferencesDependencies,
  { dataset, principal }: ImprovePass,
  { rated, turns }: { readonly rated: readonly RatedTurn[]; readonly turns: number },
): Promise<{
  readonly weights: readonly (PreferenceWeight & { readonly version: number })[];
  readonly applied: number;
}> {
  const { preferenceAlpha: alpha, preferenceBeta: beta } = settings;
  const telling = rated
    .filter(({ rating, nodes }) => rating !== NEUTRAL_RATING && nodes.length > 0)
    .toSorted((left, right) => compareText(left.turn.time, right.turn.time) || left.turn.number - right.turn.number);
  const nodes = [...new Set(telling.flatMap((turn) => turn.nodes))];
  const stored = await preferences.weights(scopeOf(dataset), principal.id, nodes);
  const byNode = new Map(stored.map((weight) => [weight.nodeId, weight]));
  const current = new Map(
    nodes.map((node) => {
      const weight = byNode.get(node);
      return [node, weight === undefined ? NEUTRAL_PREFERENCE : decayedWeight(weight, turns, beta)];
    }),
  );
  for (const { rating, nodes: used } of telling) {
    for (const node of used) current.set(node, movedWeight(current.get(node) ?? NEUTRAL_PREFERENCE, rating, alpha));
  }
  const weights = [...current].map(([nodeId, weight]) => {
    const aging = { weight, updatedAtTurn: turns };
    return {
      nodeId,
      ...aging,
      forgottenAtTurn: forgottenAtTurn(aging, beta),
      version: byNode.get(nodeId)?.version ?? 0,
    };
  });
  return { weights, applied: telling.length };
}

/** Removes preferences that have come back to neutral. */
async function forget(deps: UpdateUserPreferencesDependencies, pass: ImprovePass): Promise<number> {
  const { preferences, settings, store } = deps;
  const scope = scopeOf(pass.dataset);
  const user = pass.principal.id;
  const { turns } = await preferences.of(scope, user);
  let pruned = 0;
  for (;;) {
    const found = await preferences.forgotten(scope, user, turns, FORGOTTEN_AT_ONCE);
    const writes = found.map((weight) => {
      if (isForgotten(weight, turns, settings.preferenceBeta)) return preferences.removeWeightWrite(user, weight);
      // It was to decay faster when it was written.
      const later = forgottenAtTurn(weight, settings.preferenceBeta);
      return preferences.weightWrite(user, { ...weight, forgottenAtTurn: later }, weight.version);
    });
    if (writes.length > 0) await store.commit(scope, writes);
    pruned += writes.filter(({ kind }) => kind === 'remove').length;
    if (found.length < FORGOTTEN_AT_ONCE) return pruned;
  }
}

import { movedWeight } from '../../common/domain/preference.ts';
import type { QaEntry, Session } from '../../common/domain/session.ts';
import type { SessionFeedback } from '../../common/domain/session-context.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { SessionNote } from '../../common/platform/messaging/messages.ts';
import { votesOfAnswersWrite, type WeightVote } from '../../common/records/improve/element-weights.ts';
import type { Watermark } from '../../common/records/improve/watermarks.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass, Stage } from '../model.ts';
import { noteOnSession, remarksOf, sessionsOf, watermarksOf } from '../pass-sessions.ts';
import { presentElements } from '../structure/present-elements.ts';
import { recordPipeline } from './record-pipeline.ts';

type Dependencies = Pick<
  ImproveDependencies,
  'sessions' | 'entries' | 'watermarks' | 'store' | 'messenger' | 'weights' | 'indexes' | 'ledger' | 'clock' | 'ids'
> & { readonly contexts: SessionContexts };

/** Answers that are processed and committed together. */
const BATCH = 100;
/** After this many attempts an element that is missing from the graph is given up. */
const MAX_ATTEMPTS = 3;
/** Limit of elements of one answer; a client may name any number. */
const MAX_ELEMENTS = 500;
const MAX_ID_LENGTH = 200;

/**
 * Stage 1 (cognify-improve.md §3.6): moves the weights of the nodes and edges that rated answers used. Reads only feedback that
 * is new or whose elements were missing from the graph. A rating moves an element once: weights and votes are one commit.
 */
export function createFeedbackWeights(deps: Dependencies): Stage {
  return {
    name: 'feedback_weights',
    gate: async () => null,
    async run(pass) {
      const recorded = await recordPipeline(deps, pass, async () => {
        let hasChanged = false;
        const [sessions] = await Promise.all([sessionsOf(deps, pass), watermarksOf(deps, pass)]);
        for (const session of sessions) hasChanged = (await applyRatings(deps, pass, session)) || hasChanged;
        return hasChanged ? 'changed' : 'unchanged';
      });
      return { status: 'completed', counts: { sessions: pass.sessions.length }, ...recorded };
    },
  };
}

interface Rating {
  readonly turn: QaEntry;
  /** 1 to 5. */
  readonly score: number;
  /** `implicit`: derived from a later remark of the user. */
  readonly source: 'explicit' | 'implicit';
}

/** Applies the new ratings of a session; returns whether anything was written. */
async function applyRatings(deps: Dependencies, pass: ImprovePass, session: Session): Promise<boolean> {
  const { watermarks, store } = deps;
  const scope = { tenant: pass.principal.tenant };
  let watermark = (await watermarksOf(deps, pass))(session, 'feedback');
  let hasChanged = false;
  const said = await remarksOf(deps, pass, session, watermark.remarks);
  let again = await turnsOf(deps, pass, session, [...watermark.pending, ...referenced(said)]);
  let carried: readonly string[] = [];
  for (let isLast = false; !isLast; again = []) {
    pass.signal.throwIfAborted();
    const isNew = session.feedbackCount > watermark.done;
    const scored = isNew ? await deps.entries.feedbackAfter(scope, session, watermark.done, BATCH) : [];
    isLast = scored.length < BATCH;
    const turns = [...new Map([...again, ...scored].map((turn) => [turn.id, turn])).values()];
    const { notes, pending } = await rateAll(
      deps,
      pass,
      session,
      turns.flatMap((turn) => ratingOf(turn, said)),
    );
    hasChanged ||= notes.length > 0;
    if (notes.length > 0 && (await noteOnSession(deps, pass, session, notes)) < notes.length)
      await withdrawVotes(deps, pass, session, notes);
    const last = Math.max(watermark.done, scored.at(-1)?.feedbackNumber ?? 0);
    const move = {
      done: isLast ? Math.max(last, session.feedbackCount) : last,
      remarks: said.at(-1)?.createdAt ?? watermark.remarks,
      pending: [...carried, ...pending],
    };
    if (isSame(watermark, move)) return hasChanged;
    hasChanged = true;
    await store.commit(scope, [watermarks.moveWrite(watermark, move)]);
    watermark = watermarks.moved(watermark, move);
    carried = move.pending;
  }
  return hasChanged;
}

function isSame(watermark: Watermark, { done, remarks, pending }: Pick<Watermark, 'done' | 'remarks' | 'pending'>) {
  const isUnmoved = watermark.done === done && watermark.remarks === remarks;
  return isUnmoved && watermark.pending.join() === pending.join();
}

/** Returns the answers that remarks of the session rate. */
function referenced(said: readonly SessionFeedback[]): readonly string[] {
  return said
    .filter(({ referencedQaRating }) => referencedQaRating !== null)
    .flatMap(({ referencedQaIds }) => referencedQaIds);
}

async function turnsOf(
  { entries }: Dependencies,
  { principal }: ImprovePass,
  session: Session,
  ids: readonly string[],
): Promise<readonly QaEntry[]> {
  const turns = await Promise.all([...new Set(ids)].map((id) => entries.qa({ tenant: principal.tenant }, session, id)));
  return turns.filter((turn) => turn !== null);
}

/** Returns the rating of a turn: its score, else the last rating from remarks. None when it was already applied. */
function ratingOf(turn: QaEntry, said: readonly SessionFeedback[]): readonly Rating[] {
  const noted = turn.memifyMetadata ?? {};
  const words = said.findLast(
    ({ referencedQaIds, referencedQaRating }) => referencedQaRating !== null && referencedQaIds.includes(turn.id),
  );
  const earlier = noted[SCORE_KEY];
  const implicit = words?.referencedQaRating ?? (noted[SOURCE_KEY] === 'implicit' ? earlier : null);
  const rating: Omit<Rating, 'turn'> | null =
    turn.feedbackScore !== null
      ? { score: turn.feedbackScore, source: 'explicit' }
      : typeof implicit === 'number'
        ? { score: implicit, source: 'implicit' }
        : null;
  if (rating === null) return [];
  const isApplied = noted['feedback_weights_applied'] === true;
  const isSame = noted[SOURCE_KEY] === rating.source && earlier === rating.score;
  return isApplied && (isSame || words === undefined) ? [] : [{ turn, ...rating }];
}

const SCORE_KEY = 'feedback_weights_applied_score';
const SOURCE_KEY = 'feedback_weights_applied_source';

/** Removes votes of answers that were removed or forgotten meanwhile: the removal may not have seen the vote. */
async function withdrawVotes(deps: Dependencies, pass: ImprovePass, session: Session, notes: readonly SessionNote[]) {
  const ids = notes.map(({ qaId }) => qaId);
  const left = await turnsOf(deps, pass, session, ids);
  const live = new Set(left.filter(({ question, answer }) => question !== '' || answer !== '').map(({ id }) => id));
  const gone = ids.filter((id) => !live.has(id));
  if (gone.length > 0) await deps.store.commit(scopeOf(pass.dataset), [votesOfAnswersWrite(gone)]);
}

async function rateAll(deps: Dependencies, pass: ImprovePass, session: Session, ratings: readonly Rating[]) {
  const notes: SessionNote[] = [];
  const pending: string[] = [];
  for (const rating of ratings) {
    const outcome = await rate(deps, pass, session, rating);
    notes.push({ qaId: rating.turn.id, memifyMetadata: outcome.metadata, ofFeedback: rating.turn.feedbackNumber });
    if (!outcome.isDone) pending.push(rating.turn.id);
  }
  return { notes, pending };
}

async function rate(deps: Dependencies, pass: ImprovePass, session: Session, { turn, score, source }: Rating) {
  const scope = scopeOf(pass.dataset);
  const nodes = elementIds(turn.usedGraphElements?.nodeIds);
  const edges = elementIds(turn.usedGraphElements?.edgeIds);
  if (nodes.length + edges.length === 0) return { metadata: { feedback_weights_applied: true }, isDone: true };
  const present = await presentElements(deps, scope, { nodes, edges });
  const alpha = source === 'explicit' ? pass.options.feedbackAlpha : pass.options.feedbackAlpha / 2;
  const move = (weight: number) => movedWeight(weight, score, alpha);
  const vote = await retryOnConflict(async () => {
    const known = await deps.weights.vote(scope, turn.id);
    const before = known?.score === score && known.source === source ? known : { applied: [], attempts: 0 };
    const applied = new Set(before.applied);
    const ids = [...present].filter((id) => !applied.has(id));
    const next: WeightVote = {
      score,
      source,
      attempts: before.attempts + 1,
      version: known?.version ?? null,
      applied: [...before.applied, ...ids],
    };
    const at = deps.clock.now().toISOString();
    await deps.weights.cast(scope, { session, answer: turn, vote: next, ids, move, at });
    return next;
  });
  const applied = new Set(vote.applied);
  const pruned = [...nodes, ...edges].filter((id) => !applied.has(id));
  const isDone = pruned.length === 0 || vote.attempts >= MAX_ATTEMPTS;
  const metadata = {
    feedback_weights_applied: isDone,
    feedback_weights_applied_node_ids: nodes.filter((id) => applied.has(id)),
    feedback_weights_applied_edge_ids: edges.filter((id) => applied.has(id)),
    [SCORE_KEY]: score,
    [SOURCE_KEY]: source,
    feedback_weights_attempts: vote.attempts,
    feedback_weights_pruned_ids: pruned,
  };
  return { metadata, isDone };
}

/** Returns the distinct strings that can be ids. */
function elementIds(ids: readonly string[] = []): readonly string[] {
  const fit = ids
    .slice(0, 10 * MAX_ELEMENTS)
    .filter((id) => id !== '' && id.length <= MAX_ID_LENGTH && id.isWellFormed());
  return [...new Set(fit)].slice(0, MAX_ELEMENTS);
}
